#include "tyto/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tyto {

void parallel_for(Index count, int threads, const std::function<void(Index)>& task) {
  if (threads <= 1 || count <= 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  std::atomic<Index> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (Index i = next++; i < count; i = next++) task(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (Index i = 1; i < std::min<Index>(threads, count); ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads to be had: fewer do the same
  }
  work();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

int useful_threads(int threads, Index numbers) {
  constexpr Index kEach = 1 << 19;  // below about twice this, a second thread costs more than it saves
  return static_cast<int>(std::clamp<Index>(numbers / kEach, 1, std::max(threads, 1)));
}

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace tyto
