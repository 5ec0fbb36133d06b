#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace tyto {

// A value that is made when it is first asked for, by whichever thread asks first.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  explicit Lazy(T value) : value_(std::move(value)), known_(true) {}

  bool known() const { return known_.load(std::memory_order_acquire); }

  template <class Make>
  const T& get(Make make) {
    if (known()) return value_;
    const std::scoped_lock lock(mutex_);
    if (!known()) {
      value_ = make();
      known_.store(true, std::memory_order_release);
    }
    return value_;
  }

 private:
  T value_;
  std::atomic<bool> known_ = false;
  std::mutex mutex_;
};

}  // namespace tyto
