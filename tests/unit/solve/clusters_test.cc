#include "tyto/solve/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/random.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Vector vec(std::initializer_list<double> entries) {
  return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

TEST(PatternOf, TiesSignsZerosAndOrder) {
  const Pattern pattern = pattern_of(vec({0, -2, 1, 3, 2, -0.0, -1, 2}));
  ASSERT_EQ(pattern.size(), 3U);
  EXPECT_EQ(pattern[0].magnitude, 3);
  EXPECT_EQ(pattern[0].columns, (std::vector<Index>{3}));
  EXPECT_EQ(pattern[1].magnitude, 2);
  EXPECT_EQ(pattern[1].columns, (std::vector<Index>{1, 4, 7}));
  EXPECT_EQ(pattern[1].signs, (std::vector<double>{-1, 1, 1}));
  EXPECT_EQ(pattern[2].columns, (std::vector<Index>{2, 6}));
  EXPECT_EQ(pattern[2].signs, (std::vector<double>{1, -1}));
  EXPECT_TRUE(pattern_of(Vector::Zero(4)).empty());
  EXPECT_TRUE(pattern_of(Vector()).empty());
}

TEST(PatternOf, MagnitudesTieOnlyWhereTheyAreEqual) {
  const Pattern pattern = pattern_of(vec({1, -std::nextafter(1.0, 2.0), 5e-324, -5e-324}));
  ASSERT_EQ(pattern.size(), 3U);
  EXPECT_EQ(pattern[0].columns, (std::vector<Index>{1}));
  EXPECT_EQ(pattern[2].columns, (std::vector<Index>{2, 3}));
}

double price(const SortedL1& penalty, Index first, Index count) {
  return penalty.weight_sum(first + count) - penalty.weight_sum(first);
}

// max over subsets A of sum_A (force - shift) - price(|A|): what can be won, per unit of way, by moving A
// out.
double best_gain(const Vector& force, const SortedL1& penalty, Index first, double shift) {
  const auto count = static_cast<unsigned>(force.size());
  double best = 0;
  for (unsigned subset = 1; subset < 1U << count; ++subset) {
    double sum = 0;
    Index size = 0;
    for (unsigned k = 0; k < count; ++k)
      if ((subset >> k & 1U) != 0) sum += force[k] - shift, ++size;
    best = std::max(best, sum - price(penalty, first, size));
  }
  return best;
}

// The same for the first parts of a pattern, and the best of these.
double best_prefix_gain(const Pattern& parts, const Vector& ascent, const SortedL1& penalty, Index first,
                        double shift) {
  double sum = 0, best = 0;
  Index count = 0;
  for (const Cluster& part : parts) {
    for (std::size_t k = 0; k < part.columns.size(); ++k)
      sum += part.signs[k] * ascent[part.columns[k]] - shift;
    count += part.size();
    best = std::max(best, sum - price(penalty, first, count));
  }
  return best;
}

struct Tie {
  Cluster cluster;
  Vector ascent, force;
  SortedL1 penalty;
  Index first;
};

// Some of twelve columns tie; forces are whole numbers at times, so that they tie, too.
Tie random_tie(Random& random) {
  const std::vector<std::string> names = weight_names();
  const Index p = 12, size = random.between(1, 8), first = random.between(0, p - size);
  const Vector shape =
      random.chance(0.5)
          ? random_weights(random, p)
          : make_weights(names[static_cast<std::size_t>(random.below(std::ssize(names)))], {20, p, 0.2});
  Tie tie{{}, random_vector(random, p), Vector(size), SortedL1(shape), first};
  if (random.chance(0.4)) tie.ascent = (2 * tie.ascent).array().round() / 2;
  if (random.chance(0.3)) tie.ascent *= 0.3;
  std::vector<Index> columns(static_cast<std::size_t>(p));
  std::iota(columns.begin(), columns.end(), Index{0});
  for (Index k = p - 1; k > 0; --k)
    std::swap(columns[static_cast<std::size_t>(k)], columns[static_cast<std::size_t>(random.below(k + 1))]);
  tie.cluster.magnitude = 1.5;
  for (Index k = 0; k < size; ++k) {
    const double sign = random.chance(0.5) ? 1 : -1;
    const Index column = columns[static_cast<std::size_t>(k)];
    tie.cluster.add(column, sign);
    tie.force[k] = sign * tie.ascent[column];
  }
  return tie;
}

// The columns of the parts are those of the whole, with their signs.
void expect_same_columns(const Pattern& parts, const Cluster& whole) {
  std::vector<std::pair<Index, double>> got, want;
  for (const Cluster& part : parts) {
    EXPECT_EQ(part.magnitude, whole.magnitude);
    EXPECT_EQ(part.columns.size(), part.signs.size());
    EXPECT_FALSE(part.columns.empty());
    for (std::size_t k = 0; k < part.columns.size(); ++k) got.emplace_back(part.columns[k], part.signs[k]);
  }
  for (std::size_t k = 0; k < whole.columns.size(); ++k) want.emplace_back(whole.columns[k], whole.signs[k]);
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}

TEST(Split, PartsWhereSomeSubsetPullsAwayFromTheRest) {
  int stayed = 0, parted = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Tie tie = random_tie(random);
    const Pattern parts = split(tie.cluster, tie.ascent, tie.penalty, tie.first, 1e-12);
    expect_same_columns(parts, tie.cluster);
    const double mean = (tie.force.sum() - price(tie.penalty, tie.first, tie.cluster.size())) /
                        static_cast<double>(tie.cluster.size());
    const double gain = best_gain(tie.force, tie.penalty, tie.first, mean);
    if (parts.size() == 1) {
      EXPECT_LE(gain, 1e-10);
      EXPECT_EQ(parts[0].columns, tie.cluster.columns);
      ++stayed;
    } else {
      EXPECT_GT(gain, 0);
      EXPECT_NEAR(best_prefix_gain(parts, tie.ascent, tie.penalty, tie.first, mean), gain, 1e-10);
      ++parted;
    }
  }
  EXPECT_GT(stayed, 300);
  EXPECT_GT(parted, 300);
}

// Cut into all its parts, a cluster falls apart into the same two halves and further, each part slower than
// the one before.
TEST(Split, IntoAllPartsBySpeed) {
  int more = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Tie tie = random_tie(random);
    const Pattern two = split(tie.cluster, tie.ascent, tie.penalty, tie.first, 1e-12);
    const Pattern all = split(tie.cluster, tie.ascent, tie.penalty, tie.first, 1e-12, Parts::kAll);
    expect_same_columns(all, tie.cluster);
    EXPECT_EQ(all.size() > 1, two.size() > 1);
    Index first = tie.first;
    double last = std::numeric_limits<double>::infinity();
    bool half = two.size() == 1;
    for (const Cluster& part : all) {
      const double speed = (signed_sum(part, tie.ascent) - price(tie.penalty, first, part.size())) /
                           static_cast<double>(part.size());
      EXPECT_LT(speed, last);
      EXPECT_EQ(split(part, tie.ascent, tie.penalty, first, 1e-12).size(), 1U);
      first += part.size(), last = speed;
      half = half || first == tie.first + two[0].size();
    }
    EXPECT_TRUE(half);
    more += all.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(more, 300);
}

TEST(Split, EqualForcesStayTogetherUnderFallingWeights) {
  const Cluster cluster{{0, 1, 2}, {1, -1, 1}, 2};
  const SortedL1 oscar(vec({3, 2, 1}));
  EXPECT_EQ(split(cluster, vec({2, -2, 2}), oscar, 0, 1e-12).size(), 1U);
  EXPECT_EQ(split(cluster, vec({9, -9, 9}), oscar, 0, 1e-12).size(), 1U) << "moves as one";
}

TEST(Split, UnderEqualWeightsEveryDifferenceParts) {
  const Cluster cluster{{0, 1, 2}, {1, 1, -1}, 2};
  const SortedL1 lasso(Vector::Ones(3));
  const Pattern parts = split(cluster, vec({1, 1.5, -1}), lasso, 0, 1e-12);
  ASSERT_GE(parts.size(), 2U);
  EXPECT_EQ(parts[0].columns, (std::vector<Index>{1}));
  EXPECT_EQ(split(cluster, vec({1, 1, -1}), lasso, 0, 1e-12).size(), 1U);
  EXPECT_EQ(split(cluster, vec({1, 1 + 1e-9, -1}), lasso, 0, 1e-6).size(), 1U) << "within the tolerance";
}

// Speeds so close that their mean rounds to one of them.
TEST(Split, NoPartIsEmpty) {
  const Cluster cluster{{0, 1}, {1, 1}, 2};
  const SortedL1 lasso(Vector::Ones(2));
  for (double force = 1e4; force < 1.1e4; force += 7.3) {
    const double next = std::nextafter(force, 1e9);
    for (const Pattern& parts : {split(cluster, vec({force, next}), lasso, 0, 1e-13),
                                 split(cluster, vec({next, force}), lasso, 0, 1e-13)}) {
      ASSERT_EQ(parts.size(), 2U) << force;
      EXPECT_EQ(parts[0].size(), 1) << force;
      EXPECT_EQ(parts[1].size(), 1) << force;
    }
  }
}

// Only the first rank costs anything: columns part where one of them pulls back.
TEST(Split, UnderTheLargestMagnitudeAloneOnlyThoseThatPullBackLeave) {
  const Cluster cluster{{0, 1, 2}, {1, 1, 1}, 1};
  const SortedL1 linf(vec({3, 0, 0}));
  EXPECT_EQ(split(cluster, vec({1, 1, 1}), linf, 0, 1e-12).size(), 1U);
  EXPECT_EQ(split(cluster, vec({2.9, 0.1, 0}), linf, 0, 1e-12).size(), 1U);
  const Pattern parts = split(cluster, vec({2, -0.5, 2}), linf, 0, 1e-12);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].columns, (std::vector<Index>{1}));
}

TEST(LeaveZero, TakesTheSubsetThatWinsMost) {
  int left = 0, stayed = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Tie tie = random_tie(random);
    const double tolerance = 1e-12;
    const Pattern parts = leave_zero(tie.cluster.columns, tie.ascent, tie.penalty, tie.first, tolerance);
    std::vector<Index> seen;
    for (const Cluster& part : parts) {
      EXPECT_EQ(part.magnitude, 0);
      for (std::size_t k = 0; k < part.columns.size(); ++k) {
        seen.push_back(part.columns[k]);
        EXPECT_EQ(part.signs[k], tie.ascent[part.columns[k]] > 0 ? 1 : -1) << "downhill";
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
    std::sort(tie.cluster.columns.begin(), tie.cluster.columns.end());
    EXPECT_TRUE(std::ranges::includes(tie.cluster.columns, seen));
    const double gain = best_gain(tie.force.cwiseAbs(), tie.penalty, tie.first, 0);
    EXPECT_NEAR(best_prefix_gain(parts, tie.ascent, tie.penalty, tie.first, 0), gain, 1e-10);
    ++(parts.empty() ? stayed : left);
  }
  EXPECT_GT(left, 300);
  EXPECT_GT(stayed, 300);
}

TEST(LeaveZero, FastestFirst) {
  const std::vector<Index> zeros{0, 1, 2, 3};
  const Pattern parts = leave_zero(zeros, vec({2, -4, 0.5, 3}), SortedL1(Vector::Ones(4)), 0, 1e-12);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].columns, (std::vector<Index>{1}));
  EXPECT_EQ(parts[1].columns, (std::vector<Index>{3}));
  EXPECT_EQ(parts[2].columns, (std::vector<Index>{0}));
}

TEST(LeaveZero, NoMoreThanAreWanted) {
  const std::vector<Index> zeros{0, 1, 2, 3};
  const SortedL1 penalty(Vector::Ones(4));
  const Pattern parts = leave_zero(zeros, vec({2, -4, 0.5, 3}), penalty, 0, 1e-12, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].columns, (std::vector<Index>{1}));
  EXPECT_EQ(parts[1].columns, (std::vector<Index>{3}));
  EXPECT_TRUE(leave_zero(zeros, vec({2, -4, 0.5, 3}), penalty, 0, 1e-12, 0).empty());
}

TEST(Refined, NoMoreClustersLeaveZeroThanAreAllowed) {
  const Index count = 100;
  const SortedL1 penalty(Vector::Ones(count));
  std::vector<Index> columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), Index{0});
  const Vector ascent = Vector::LinSpaced(count, 3, 2);  // all pull, each at its own speed
  for (const Index leaving : {Tuning::Pattern().leaving, Index{40}, Index{1000}}) {
    const Refinement next = refined({}, columns, ascent, penalty, {.leaving = leaving});
    ASSERT_EQ(std::ssize(next.pattern), std::min(leaving, count));
    EXPECT_EQ(next.left_zero, std::ssize(next.pattern));
    EXPECT_TRUE(next.changed);
    EXPECT_EQ(next.pattern.front().columns, std::vector<Index>{0}) << "the hardest first";
  }
  // Half as many as there are clusters may leave in any case.
  Pattern there;
  for (Index k = 0; k < 60; ++k)
    there.emplace_back().magnitude = 100 - static_cast<double>(k), there.back().add(k, 1);
  EXPECT_EQ(refined(there, columns, ascent, penalty, {}).pattern.size(), 60U + 30U);
}

TEST(LeaveZero, NothingLeavesAtTheBorder) {
  const SortedL1 penalty(vec({2, 1}));
  EXPECT_TRUE(leave_zero(std::vector<Index>{0, 1}, vec({1.5, -1.5}), penalty, 0, 1e-12).empty());
  EXPECT_TRUE(leave_zero(std::vector<Index>{0, 1}, vec({2, 1}), penalty, 0, 1e-12).empty());
  EXPECT_TRUE(leave_zero({}, vec({9, 9}), penalty, 2, 1e-12).empty());
  const Pattern both = leave_zero(std::vector<Index>{0, 1}, vec({1.75, -1.5}), penalty, 0, 1e-12);
  ASSERT_EQ(both.size(), 1U) << "neither pays alone, both do";
  EXPECT_EQ(both[0].size(), 2);
}

}  // namespace
}  // namespace tyto
