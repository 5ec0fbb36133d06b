#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
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
// raises stops the work at its next report, and is returned: the work so far may be worth keeping. None: it
// was not stopped. What the work throws is thrown here.
nb::object run(const std::function<void(Watch&)>& work, const nb::object& progress);

}  // namespace tyto::python
