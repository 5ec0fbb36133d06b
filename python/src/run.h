#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "tyto/base/types.h"

namespace tyto::python {

namespace nb = nanobind;

// How far a computation is, for a progress bar: `done` of `total` strengths or folds, and the last relative
// gap.
struct Progress {
  Index done = 0, total = 1;
  double relative_gap = 0;
};

// Between the computation and the thread that waits for it.
class Watch {
 public:
  Watch() = default;
  // For a computation on one thread, which calls `look` itself, ten times a second at most.
  explicit Watch(std::function<void()> look) : look_(std::move(look)) {}

  bool report(const Progress& now);  // called by the computation, from any thread; false: stop
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  Progress latest() const;

 private:
  std::function<void()> look_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  Progress latest_;
  std::atomic<bool> stopped_ = false;
};

// Where to run.
enum class On {
  kOwnThread,  // however long it is silent, this thread hears Python's signals
  kThisThread  // for what reports on this thread, and often: does without a thread's start
};

// Runs `work` without the GIL. Meanwhile this thread lets Python handle signals and
// calls `progress` (a callable of done, total and relative gap, or None), ten times a second. What either
// raises is thrown here: the work is asked to stop, and where it does not within half a second, on its own
// thread, it is left to itself. So it must own all that it uses. What the work throws is thrown here.
void run_work(std::function<void(Watch&)> work, const nb::object& progress, On where);

// The same for work that returns something.
template <class Work>
auto run(Work work, const nb::object& progress, On where = On::kOwnThread) {
  auto result = std::make_shared<decltype(work(std::declval<Watch&>()))>();
  run_work([result, work = std::move(work)](Watch& watch) { *result = work(watch); }, progress, where);
  return std::move(*result);
}

void add_exit(nb::module_& module);  // what is to be done about work left to itself when Python ends or forks

}  // namespace tyto::python
