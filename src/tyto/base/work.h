#pragma once

#include <atomic>

#include "tyto/base/types.h"

namespace tyto {

// What a computation may use, and what it has used so far. Whoever starts a computation makes one and hands
// it down by reference. It cannot be copied, so that two computations add to one counter only if both were
// handed the same. Several threads of a computation may add to it.
class Work {
 public:
  explicit Work(int threads = 1) : threads_(threads) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  int threads() const { return threads_; }  // that passes over X may use
  void count(Index entries) const { entries_read_.fetch_add(entries, std::memory_order_relaxed); }
  Index entries_read() const { return entries_read_.load(std::memory_order_relaxed); }  // of X

 private:
  int threads_;
  mutable std::atomic<Index> entries_read_ = 0;
};

}  // namespace tyto
