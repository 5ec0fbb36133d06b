#include "run.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

namespace tyto::python {

bool Watch::report(const Progress& now) {
  const std::lock_guard lock(mutex_);
  latest_ = now;
  return !stopped_;
}

Progress Watch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

namespace {

// What Python has to say: an exception, or None.
nb::object look(const Watch& watch, const nb::object& progress) {
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) {
      const Progress now = watch.latest();
      progress(now.done, now.total, now.relative_gap);
    }
  } catch (nb::python_error& error) {
    return nb::borrow(error.value());
  }
  return nb::none();
}

}  // namespace

nb::object run(const std::function<void(Watch&)>& work, const nb::object& progress) {
  using namespace std::chrono_literals;
  Watch watch;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
  nb::object raised = nb::none();
  {
    const nb::gil_scoped_release no_gil;
    std::thread worker([&] {
      try {
        work(watch);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, 100ms, [&] { return done; })) {
      lock.unlock();
      // Kept as it came first: a second Ctrl-C changes nothing.
      if (nb::object news = look(watch, progress); !news.is_none() && raised.is_none()) {
        raised = std::move(news);
        watch.stop();
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (failure) std::rethrow_exception(failure);
  return raised;
}

}  // namespace tyto::python
