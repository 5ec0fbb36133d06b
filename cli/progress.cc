#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

std::atomic<bool> was_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  was_interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

std::string described(const TracePoint& at) {
  return fmt::format("epoch {}   relative gap {:.1e}   columns left {}", at.epoch,
                     at.primal > 0 ? at.gap / at.primal : 0.0, at.active);
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), show_(!quiet && isatty(STDERR_FILENO) != 0) {
  was_interrupted = false;
  std::signal(SIGINT, on_interrupt);
}

Progress::~Progress() {
  std::signal(SIGINT, SIG_DFL);
  if (dirty_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(const std::string& text, double seconds) {
  if (!show_ || seconds < shown_ + 0.1) return;
  fmt::print(stderr, "\r\x1b[K{}   {:.1f} s", text, seconds);
  shown_ = seconds;
  dirty_ = true;
}

bool Progress::operator()(const TracePoint& at) {
  show(described(at), at.seconds);
  return !was_interrupted;
}

bool Progress::operator()(const PathProgress& at) {
  show(fmt::format("strength {} of {}   ", at.step + 1, at.steps) + described(at.point), at.seconds);
  return !was_interrupted;
}

bool Progress::operator()(const CvProgress& at) {
  const std::string left = at.seconds_left < 0 ? "" : "   about " + duration(at.seconds_left) + " left";
  show(fmt::format("{} of {} folds done{}", at.done, at.folds, left), at.seconds);
  return !was_interrupted;
}

bool Progress::operator()(const std::string& where, const TracePoint& at) {
  if (at.epoch == 0) shown_ = 0;
  show(where + described(at), at.seconds);
  return !was_interrupted;
}

bool Progress::interrupted() const { return was_interrupted; }

void Progress::status(const std::string& text) {
  if (!show_) return;
  fmt::print(stderr, "\r\x1b[K{}", printable(text));
  dirty_ = true;
}

void Progress::note(const std::string& text) {
  if (quiet_) return;
  fmt::print(stderr, "{}{}\n", dirty_ ? "\r\x1b[K" : "", printable(text));
  dirty_ = false;
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace tyto::cli
