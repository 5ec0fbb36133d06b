#pragma once

#include "tyto/base/stopwatch.h"
#include "tyto/solve/fit.h"

namespace tyto {

// The clock of a computation, and the observer that may end it. The observer is not asked again once it said
// stop.
class Watch {
 public:
  // Both references must outlive this object. `call_seconds`: between calls within an epoch.
  Watch(const Observer& observer, double max_seconds, double call_seconds)
      : observer_(&observer), max_seconds_(max_seconds), call_seconds_(call_seconds) {}

  double seconds() const { return clock_.seconds(); }
  double cpu_seconds() const { return clock_.cpu_seconds(); }
  double max_seconds() const { return max_seconds_; }
  bool interrupted() const { return interrupted_; }

  void show(const TracePoint& at) {
    interrupted_ = interrupted_ || (*observer_ && !(*observer_)(at));
    shown_ = at.seconds;
  }
  // Within a long step that began at this point: whether to end it.
  bool should_stop(TracePoint at) {
    at.seconds = seconds();
    if (at.seconds > shown_ + call_seconds_) show(at);
    return interrupted_ || at.seconds >= max_seconds_;
  }

 private:
  Stopwatch clock_;
  const Observer* observer_;
  double max_seconds_, call_seconds_;
  double shown_ = 0;
  bool interrupted_ = false;
};

}  // namespace tyto
