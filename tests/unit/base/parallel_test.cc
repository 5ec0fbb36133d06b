#include "tyto/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tyto {
namespace {

TEST(ParallelFor, RunsEveryTaskOnceForAnyNumberOfThreads) {
  for (const int threads : {-1, 0, 1, 2, 3, 8, 33})
    for (const Index count : {0, 1, 2, 7, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& times : runs) EXPECT_EQ(times, 1) << threads << " threads, " << count << " tasks";
    }
}

TEST(ParallelFor, RethrowsWhatATaskThrows) {
  for (const int threads : {1, 2, 8})
    for (const Index bad : {0, 5, 99}) {
      const auto run = [&] {
        parallel_for(100, threads, [&](Index i) {
          if (i == bad) throw std::runtime_error("task " + std::to_string(i));
        });
      };
      try {
        run();
        FAIL() << "nothing thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "task " + std::to_string(bad));
      }
    }
}

TEST(ParallelFor, RethrowsOneOfManyAndEndsAllThreads) {
  std::atomic<int> running = 0;
  EXPECT_THROW(parallel_for(1000, 4,
                            [&](Index) {
                              ++running;
                              throw std::logic_error("every task");
                            }),
               std::logic_error);
  EXPECT_LE(running, 4);
}

TEST(ParallelFor, NestsWithoutDeadlock) {
  std::atomic<int> runs = 0;
  parallel_for(4, 4, [&](Index) { parallel_for(4, 4, [&](Index) { ++runs; }); });
  EXPECT_EQ(runs, 16);
}

TEST(HardwareThreads, IsAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

}  // namespace
}  // namespace tyto
