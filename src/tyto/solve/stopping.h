#pragma once

#include <optional>
#include <string_view>

#include "tyto/problem/problem.h"

namespace tyto {

enum class Status {
  kConverged,   // gap + rounding <= tolerance * primal
  kEpochLimit,  // these four: the best point so far, with its certificate
  kTimeLimit,
  kInterrupted,  // the observer said stop
  kStalled,      // rounding errors, or no progress for long: the tolerance cannot be met
};
std::string_view name(Status status);

// How far a fit may go.
struct FitLimits {
  double tolerance;
  Index max_epochs;
  double max_seconds;
  Index patience;         // epochs without progress after which it counts as stalled, but not before
  double patience_share;  // this share of all epochs so far was without progress
};

// How far it has come.
struct Progress {
  Index epoch;
  Index progress_epoch;  // the last one in which the gap or the objective was the least so far
  double seconds;
  bool interrupted;
  bool best;  // no gap so far was smaller than that of the certificate
};

// Why the fit ends here, if it does. c is the certificate at hand.
std::optional<Status> should_stop(const Certificate& c, const Progress& at, const FitLimits& limits);

}  // namespace tyto
