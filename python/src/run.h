#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
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
  bool report(const Progress& now);  // called by the computation, from any thread; false: stop
  void stop() { stopped_ = true; }
  Progress latest() const;

 private:
  mutable std::mutex mutex_;
  Progress latest_;
  std::atomic<bool> stopped_ = false;
};

// Runs `work` on a thread of its own, without the GIL. Meanwhile this thread lets Python handle signals and
// calls `progress` (a callable of done, total and relative gap, or None), ten times a second. What either
// raises is thrown here within half a second: the work is asked to stop, and where its epoch takes longer
// than that, it is left to itself. So it must own all that it uses. What the work throws is thrown here.
void run_work(std::function<void(Watch&)> work, const nb::object& progress);

// The same for work that returns something.
template <class Work>
auto run(Work work, const nb::object& progress) {
  auto result = std::make_shared<decltype(work(std::declval<Watch&>()))>();
  run_work([result, work = std::move(work)](Watch& watch) { *result = work(watch); }, progress);
  return std::move(*result);
}

void add_exit(nb::module_& module);  // what is to be done about work left to itself when Python ends or forks

}  // namespace tyto::python
