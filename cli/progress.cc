#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace tyto::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Progress::Progress(bool quiet) : show_(!quiet && isatty(STDERR_FILENO) != 0) {
  interrupted = false;
  std::signal(SIGINT, on_interrupt);
}

Progress::~Progress() {
  std::signal(SIGINT, SIG_DFL);
  if (dirty_) fmt::print(stderr, "\r\x1b[K");
}

bool Progress::operator()(const TracePoint& at) {
  if (show_ && at.seconds >= shown_ + 0.1) {
    fmt::print(stderr, "\r\x1b[Kepoch {}   relative gap {:.1e}   columns left {}   {:.1f} s", at.epoch,
               at.primal > 0 ? at.gap / at.primal : 0.0, at.active, at.seconds);
    shown_ = at.seconds, dirty_ = true;
  }
  return !interrupted;
}

}  // namespace tyto::cli
