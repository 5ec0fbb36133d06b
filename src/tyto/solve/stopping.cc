#include "tyto/solve/stopping.h"

#include <algorithm>
#include <utility>

#include "tyto/base/names.h"
#include "tyto/base/tuning.h"

namespace tyto {

std::optional<Status> should_stop(const Certificate& c, const Progress& at, const FitLimits& limits) {
  if (c.meets(limits.tolerance)) return Status::kConverged;
  if (at.interrupted) return Status::kInterrupted;
  if (at.best && c.gap <= c.rounding) return Status::kStalled;
  if (at.epoch >= limits.max_epochs) return Status::kEpochLimit;
  if (at.seconds >= limits.max_seconds) return Status::kTimeLimit;
  const Index patience = std::max(limits.patience, share_of(limits.patience_share, at.epoch));
  if (at.epoch - at.progress_epoch > patience) return Status::kStalled;
  return std::nullopt;
}

std::string_view name(Status status) {
  static constexpr Names kStatuses({
      std::pair<std::string_view, Status>{"converged", Status::kConverged},
      {"epoch_limit", Status::kEpochLimit},
      {"time_limit", Status::kTimeLimit},
      {"interrupted", Status::kInterrupted},
      {"stalled", Status::kStalled},
  });
  return kStatuses.name(status);
}

}  // namespace tyto
