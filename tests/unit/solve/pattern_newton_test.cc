#include "tyto/solve/pattern_newton.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "tests/support/grouped.h"

namespace tyto {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

PatternNewton method_for(const Grouped& grouped) {
  return {grouped.hessian, grouped.ascent(grouped.magnitudes), grouped.sizes, grouped.magnitudes,
          grouped.penalty};
}

// The point: each group has the magnitude of its leader, and 0 where that is no longer in the order.
Vector values(const PatternNewton& method, Index count) {
  std::vector<bool> ordered(at(count), false);
  for (const Index i : method.order()) ordered[at(i)] = true;
  return Vector::NullaryExpr(count, [&](Index k) {
    const Index leader = method.leader(k);
    if (!ordered[at(leader)]) return 0.0;
    return (method.turned(k) ? -1 : 1) * std::abs(method.value(leader));
  });
}

void expect_ordered(const PatternNewton& method, double slack) {
  double last = std::numeric_limits<double>::infinity();
  for (const Index i : method.order()) {
    EXPECT_EQ(method.leader(i), i);
    EXPECT_LE(std::abs(method.value(i)), last + slack);
    EXPECT_GE((method.turned(i) ? -1 : 1) * method.value(i), -slack) << "the sign it says";
    last = std::abs(method.value(i));
  }
}

// At the minimum on a pattern each group's ascent is its price.
void expect_stationary(const PatternNewton& method, const Grouped& grouped, double slack) {
  const Index count = grouped.pull.size();
  const Vector ascent = grouped.ascent(values(method, count));
  Vector force = Vector::Zero(count);
  std::vector<Index> size(at(count), 0);
  for (Index k = 0; k < count; ++k) {
    force[method.leader(k)] += (method.turned(k) ? -1 : 1) * ascent[k];
    size[at(method.leader(k))] += grouped.sizes[at(k)];
  }
  Index above = 0;
  for (const Index i : method.order()) {
    const double price = grouped.penalty.weight_sum(above + size[at(i)]) - grouped.penalty.weight_sum(above);
    EXPECT_NEAR(force[i], price, slack) << i;
    above += size[at(i)];
  }
}

TEST(PatternNewton, GoesDownAndEndsAtTheMinimumOfItsPattern) {
  int ended = 0, regular = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Grouped grouped = random_grouped(random, true);
    if (!(grouped.hessian.diagonal().minCoeff() > 0)) continue;  // a group of its own, below
    const Index count = grouped.pull.size();
    PatternNewton method = method_for(grouped);
    const bool done = method.run(100);
    const Vector c = values(method, count);
    ASSERT_TRUE(c.allFinite());
    const double start = grouped.objective(grouped.magnitudes), scale = 1 + std::abs(start);
    EXPECT_LE(grouped.objective(c), start + 1e-9 * scale);
    expect_ordered(method, 1e-9 * (1 + c.cwiseAbs().maxCoeff()));
    const Vector curvature = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(grouped.hessian).eigenvalues();
    if (!done || curvature[0] < 1e-4 * curvature[count - 1]) continue;  // singular: a step of descent
    ++regular;
    expect_stationary(method, grouped, 1e-8 * scale);
    ended += method.steps <= 3 * static_cast<int>(count) + 3 ? 1 : 0;
  }
  EXPECT_GT(regular, 500);
  EXPECT_GE(ended, regular * 99 / 100)
      << "each step ends on a tie or a zero, or is the last but for crossings";
}

// Columns that cancel, among others and without a price at times: what ties with them moves with them.
TEST(PatternNewton, TiesHoldWithGroupsWithoutCurvature) {
  int tied = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index count = random.between(3, 12), rows = count + random.between(3, 15);
    Eigen::MatrixXd z = random_matrix(random, rows, count);
    z.col(random.below(count)).setZero(), z.col(random.below(count)).setZero();
    Vector weights = random_weights(random, count), magnitudes = random_vector(random, count).cwiseAbs();
    weights.tail(count / 3).setZero();
    std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
    const Grouped grouped{z.transpose() * z, z.transpose() * random_vector(random, rows),
                          std::vector<Index>(at(count), 1), magnitudes, SortedL1(weights)};
    PatternNewton method = method_for(grouped);
    method.run(100);
    const double size = 1 + values(method, count).cwiseAbs().maxCoeff();
    for (Index i = 0; i < count; ++i) {
      ASSERT_TRUE(std::isfinite(method.value(i)));
      EXPECT_NEAR(std::abs(method.value(i)), std::abs(method.value(method.leader(i))), 1e-6 * size) << i;
      tied += method.leader(i) != i ? 1 : 0;
    }
  }
  EXPECT_GT(tied, 500);
}

TEST(PatternNewton, AGroupWithoutCurvatureGoesWithItsPrice) {
  Vector pull(2), start(2);
  pull << 5, 0;
  start << 2, 1;
  const Grouped grouped{Eigen::MatrixXd{{1, 0}, {0, 0}}, pull, {1, 1}, start, SortedL1(Vector::Ones(2))};
  PatternNewton method = method_for(grouped);
  method.run(20);
  const Vector c = values(method, 2);
  ASSERT_TRUE(c.allFinite());
  EXPECT_NEAR(grouped.objective(c), -8, 1e-9);
  EXPECT_EQ(c[1], 0);
}

// One step where nothing ties on the way.
TEST(PatternNewton, OneStepWhereThePatternHolds) {
  Vector pull(2), start(2);
  pull << 20, 7;
  start << 3, 1;
  const Grouped grouped{Eigen::MatrixXd{{2, 1}, {1, 1}}, pull, {1, 1}, start, SortedL1(Vector::Ones(2))};
  PatternNewton method = method_for(grouped);
  // H c = q - w = (19, 6): c = (13, -7), where c_2 has the other sign and pays -1: H c = (19, 8), (11, -3).
  ASSERT_TRUE(method.run(10));
  EXPECT_NEAR(method.value(0), 11, 1e-10);
  EXPECT_NEAR(method.value(1), -3, 1e-10);
  EXPECT_FALSE(method.turned(0));
  EXPECT_TRUE(method.turned(1));
}

TEST(PatternNewton, ATieOnTheWayJoinsTheTwo) {
  Vector pull(2), start(2);
  pull << 4, 4.5;
  start << 2, 1;
  // Alone they would come to (4 - 3, 4.5 - 1) and swap; swapped to (4 - 1, 4.5 - 3): so they tie at 4.5 / 2.
  Vector weights(2);
  weights << 3, 1;
  const Grouped grouped{Eigen::MatrixXd::Identity(2, 2), pull, {1, 1}, start, SortedL1(weights)};
  PatternNewton method = method_for(grouped);
  ASSERT_TRUE(method.run(10));
  EXPECT_EQ(method.order().size(), 1U);
  EXPECT_EQ(method.leader(0), method.leader(1));
  EXPECT_NEAR(method.value(method.leader(0)), 2.25, 1e-12);
}

TEST(PatternNewton, AGroupThatStopsAtZeroLeaves) {
  Vector pull(2), start(2);
  pull << 10, 0.5;
  start << 3, 1;
  const Grouped grouped{Eigen::MatrixXd::Identity(2, 2), pull, {1, 1}, start, SortedL1(Vector::Ones(2))};
  PatternNewton method = method_for(grouped);
  ASSERT_TRUE(method.run(10));
  EXPECT_EQ(method.order(), (std::vector<Index>{0}));
  EXPECT_NEAR(method.value(0), 9, 1e-12);
  EXPECT_EQ(method.value(1), 0);
}

TEST(PatternNewton, OneGroup) {
  for (const double pull : {9.0, 2.5, 1.0, 0.0, -1.0, -9.0}) {
    SCOPED_TRACE(pull);
    const Grouped grouped{Eigen::MatrixXd::Constant(1, 1, 4),
                          Vector::Constant(1, pull),
                          {2},
                          Vector::Constant(1, 3),
                          SortedL1(Vector::Ones(2))};
    PatternNewton method = method_for(grouped);
    ASSERT_TRUE(method.run(10));
    EXPECT_NEAR(values(method, 1)[0], std::copysign(std::max(std::abs(pull) - 2, 0.0) / 4, pull), 1e-12);
  }
}

TEST(PatternNewton, StopsAfterSoManySteps) {
  Random random(1);
  const Grouped grouped = random_grouped(random, true);
  PatternNewton method = method_for(grouped);
  EXPECT_FALSE(method.run(0));
  EXPECT_EQ(values(method, grouped.pull.size()), grouped.magnitudes);
}

}  // namespace
}  // namespace tyto
