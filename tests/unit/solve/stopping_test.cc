#include "tyto/solve/stopping.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace tyto {
namespace {

constexpr FitLimits kLimits{
    .tolerance = 1e-3, .max_epochs = 1000, .max_seconds = 60, .patience = 20, .patience_share = 0.5};
constexpr Progress kUnderWay{
    .epoch = 10, .progress_epoch = 10, .seconds = 1, .interrupted = false, .best = true};

Certificate with_gap(double gap, double rounding = 1e-12) {
  Certificate c;
  c.primal = 1;
  c.gap = gap;
  c.rounding = rounding;
  return c;
}

TEST(ShouldStop, GoesOnWhileThereIsProgress) {
  EXPECT_EQ(should_stop(with_gap(0.1), kUnderWay, kLimits), std::nullopt);
}

TEST(ShouldStop, EndsAtTheToleranceWithItsRounding) {
  EXPECT_EQ(should_stop(with_gap(0.9e-3), kUnderWay, kLimits), Status::kConverged);
  EXPECT_EQ(should_stop(with_gap(0.9e-3, 0.2e-3), kUnderWay, kLimits), std::nullopt);
}

// A solution counts as one, whatever else has happened; an observer's word before every limit.
TEST(ShouldStop, TheFirstReasonCounts) {
  Progress at = kUnderWay;
  at.interrupted = true;
  at.epoch = 2000;
  at.seconds = 100;
  EXPECT_EQ(should_stop(with_gap(1e-4), at, kLimits), Status::kConverged);
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), Status::kInterrupted);
  at.interrupted = false;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), Status::kEpochLimit);
  at.epoch = 999;
  at.progress_epoch = 999;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), Status::kTimeLimit);
}

// No smaller gap can be told from 0. Where there was a better point, its gap may still be worth more epochs.
TEST(ShouldStop, AGapWithinItsRoundingIsTheLeast) {
  Progress at = kUnderWay;
  EXPECT_EQ(should_stop(with_gap(0.1, 0.1), at, kLimits), Status::kStalled);
  at.best = false;
  EXPECT_EQ(should_stop(with_gap(0.1, 0.1), at, kLimits), std::nullopt);
}

TEST(ShouldStop, PatienceGrowsWithTheEpochs) {
  Progress at = kUnderWay;
  at.epoch = 30;
  at.progress_epoch = 10;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), std::nullopt) << "20 epochs";
  at.progress_epoch = 9;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), Status::kStalled) << "21 epochs";
  at.epoch = 900;
  at.progress_epoch = 450;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), std::nullopt) << "half of all epochs";
  at.progress_epoch = 449;
  EXPECT_EQ(should_stop(with_gap(0.1), at, kLimits), Status::kStalled);
}

TEST(ShouldStop, NumbersThatOverflowAreNoSolution) {
  Certificate c = with_gap(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(should_stop(c, kUnderWay, kLimits), std::nullopt);
  c.primal = std::numeric_limits<double>::infinity();
  EXPECT_EQ(should_stop(c, kUnderWay, kLimits), std::nullopt);
}

}  // namespace
}  // namespace tyto
