#include "tyto/base/work.h"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <vector>

namespace tyto {
namespace {

static_assert(!std::is_copy_constructible_v<Work> && !std::is_copy_assignable_v<Work>);
static_assert(!std::is_move_constructible_v<Work> && !std::is_move_assignable_v<Work>);

TEST(Work, AddsUpWhatItsThreadsRead) {
  const Work work(4);
  EXPECT_EQ(work.threads(), 4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (Index k = 1; k <= 1000; ++k) work.count(k);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(work.entries_read(), 4 * 500500);
}

}  // namespace
}  // namespace tyto
