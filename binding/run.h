#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "tyto/base/types.h"

// How a language's binding starts a computation, and what that language sees and says meanwhile. Python and R
// share it; it knows neither.
namespace tyto::binding {

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
  kOwnThread,  // however long it is silent, this thread hears the language's signals
  kThisThread  // for what reports on this thread, and often: does without a thread's start
};

// What the language has to say meanwhile: an exception to throw here, or null. Called on the thread that
// called run_work, ten times a second.
using Look = std::function<std::exception_ptr(const Progress&)>;

// Runs `work`, and calls `look` meanwhile. Where that returns an exception, the work is asked to stop; where
// it does not within half a second, on its own thread, it is left to itself. So it must own all that it uses.
// What the work throws is thrown here.
void run_work(std::function<void(Watch&)> work, const Look& look, On where);

// Work that was left holds objects of the language, which only some threads may let go: it is kept until such
// a thread calls this.
void release_finished();
// Until no work that was left computes any more; calls `meanwhile` ten times a second.
void wait_for_left(const std::function<void()>& meanwhile);
// For a child made by fork: the threads that work, and may hold a lock, are its parent's.
void forget_left();

}  // namespace tyto::binding
