#include "tyto/solve/cluster_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tests/support/grouped.h"

namespace tyto {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

ClusterProblem solved(const Grouped& grouped, double target, int times = 1,
                      const Tuning::Clusters& tuning = {}) {
  std::vector<Index> order(grouped.sizes.size());
  std::iota(order.begin(), order.end(), Index{0});
  ClusterProblem problem(grouped.hessian,
                         {grouped.ascent(grouped.magnitudes), grouped.magnitudes, grouped.sizes, order},
                         grouped.penalty, tuning);
  for (; times > 0; --times) problem.solve(target);
  return problem;
}

Vector values(const ClusterProblem& problem, Index count) {
  return Vector::NullaryExpr(count, [&](Index k) { return problem.value(k); });
}

// What it says of its groups fits together.
void expect_consistent(const ClusterProblem& problem, const Grouped& grouped) {
  const Index count = grouped.pull.size();
  double last = std::numeric_limits<double>::infinity();
  for (const Index g : problem.order()) {
    EXPECT_EQ(problem.group(g), g);
    EXPECT_GT(std::abs(problem.value(g)), 0);
    EXPECT_LE(std::abs(problem.value(g)), last) << "the largest first";
    last = std::abs(problem.value(g));
  }
  std::vector<bool> ordered(at(count), false);
  for (const Index g : problem.order()) ordered[at(g)] = true;
  // H of the groups: sums over those that joined, with their signs.
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, count);
  for (Index k = 0; k < count; ++k) {
    EXPECT_EQ(std::abs(problem.sign(k)), 1);
    EXPECT_EQ(std::abs(problem.value(k)), std::abs(problem.value(problem.group(k))));
    EXPECT_EQ(problem.value(k) != 0, ordered[at(problem.group(k))]);
    for (Index l = 0; l < count; ++l)
      sums(problem.group(k), problem.group(l)) += problem.sign(k) * problem.sign(l) * grouped.hessian(k, l);
  }
  const double size = 1e-12 * (1 + grouped.hessian.cwiseAbs().sum());
  for (const Index g : problem.order())
    for (const Index h : problem.order()) EXPECT_NEAR(problem.hessian()(g, h), sums(g, h), size);
}

// No group, no two that tie and no direction of those that are not 0 goes further down; J is convex, so this
// is a minimum over the groups, but for zeros that would have to leave together.
void expect_lowest(const ClusterProblem& problem, const Grouped& grouped, Random& random, double slack) {
  const Index count = grouped.pull.size();
  const Vector c = values(problem, count);
  const double bottom = grouped.objective(c), size = 1e-3 + c.cwiseAbs().maxCoeff();
  const auto moved = [&](const Vector& by_group) {
    Vector to = c;
    for (Index k = 0; k < count; ++k) to[k] += problem.sign(k) * by_group[problem.group(k)];
    return grouped.objective(to);
  };
  for (std::size_t i = 0; i + 1 < problem.order().size(); ++i) {
    const Index g = problem.order()[i], h = problem.order()[i + 1];
    if (std::abs(c[g]) != std::abs(c[h])) continue;
    for (const double length : {-1e-2, -1e-4, 1e-4, 1e-2}) {
      Vector step = Vector::Zero(count);
      step[g] = step[h] = length * size;
      EXPECT_GE(moved(step), bottom - slack) << "two that tie, " << length;
    }
  }
  for (const double length : {1e-6, 1e-3, 0.1, 1.0})
    for (int repeat = 0; repeat < 20; ++repeat) {
      Vector step = Vector::Zero(count);
      for (const Index g : problem.order()) step[g] = length * size * random.normal();
      EXPECT_GE(moved(step), bottom - slack) << "together, " << length;
      step.setZero();
      step[problem.group(random.below(count))] = length * size * random.normal();
      EXPECT_GE(moved(step), bottom - slack) << "one alone, " << length;
    }
}

TEST(ClusterProblem, EndsWhereNoGroupGoesDown) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Grouped grouped = random_grouped(random, false);
    const double start = grouped.objective(grouped.magnitudes), scale = 1 + std::abs(start);
    const ClusterProblem problem = solved(grouped, 1e-13 * scale);
    const Vector c = values(problem, grouped.pull.size());
    ASSERT_TRUE(c.allFinite());
    EXPECT_LE(grouped.objective(c), start + 1e-12 * scale);
    expect_consistent(problem, grouped);
    expect_lowest(problem, grouped, random, 1e-9 * scale);
  }
}

// Clusters that tie pull as hard together as their ranks cost; a group at zero no harder than the next ranks
// do.
void expect_stationary(const ClusterProblem& problem, const Grouped& grouped, double slack) {
  const Index count = grouped.pull.size();
  const Vector c = values(problem, count), ascent = grouped.ascent(c);
  Vector force = Vector::Zero(count);  // by group
  std::vector<Index> size(at(count), 0);
  for (Index k = 0; k < count; ++k) {
    force[problem.group(k)] += problem.sign(k) * ascent[k];
    size[at(problem.group(k))] += grouped.sizes[at(k)];
  }
  const auto price = [&](Index above, Index below) {
    return grouped.penalty.weight_sum(below) - grouped.penalty.weight_sum(above);
  };
  const std::vector<Index>& order = problem.order();
  Index above = 0;
  for (std::size_t i = 0; i < order.size();) {
    const double magnitude = std::abs(c[order[i]]);
    Index below = above;
    double sum = 0;
    for (; i < order.size() && std::abs(c[order[i]]) == magnitude; ++i)
      sum += force[order[i]], below += size[at(order[i])];
    EXPECT_NEAR(sum, price(above, below), slack);
    above = below;
  }
  for (Index k = 0; k < count; ++k) {
    if (c[k] != 0 || problem.group(k) != k) continue;
    EXPECT_LE(std::abs(force[k]), price(above, above + size[at(k)]) + slack);
  }
}

TEST(ClusterProblem, ManyGroupsEndThereToo) {
  Index tied = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Grouped grouped = random_grouped(random, seed % 2 == 0, 280 + random.below(40));
    const double start = grouped.objective(grouped.magnitudes), scale = 1 + std::abs(start);
    const ClusterProblem problem = solved(grouped, 1e-13 * scale, 2);
    const Index count = grouped.pull.size();
    EXPECT_LE(grouped.objective(values(problem, count)), start + 1e-12 * scale);
    expect_consistent(problem, grouped);
    expect_lowest(problem, grouped, random, 1e-9 * scale);
    expect_stationary(problem, grouped, 1e-4 * (1 + grouped.pull.cwiseAbs().maxCoeff()));
    for (Index k = 0; k < count; ++k) tied += problem.value(k) != 0 && problem.group(k) != k ? 1 : 0;
  }
  EXPECT_GT(tied, 20) << "some do merge";
}

// Many groups that stay where they are, and two that move.
Grouped two_of_many(double first_pull, double first_start, double second_pull, double second_start,
                    Index count = 300) {
  Vector weights = Vector::Ones(count), pull(count), start(count);
  weights[0] = 3;
  for (Index k = 2; k < count; ++k) start[k] = 0.5 - 1e-3 * static_cast<double>(k), pull[k] = start[k] + 1;
  pull[0] = first_pull, pull[1] = second_pull;
  start[0] = first_start, start[1] = second_start;
  return {Eigen::MatrixXd::Identity(count, count), pull, std::vector<Index>(at(count), 1), start,
          SortedL1(weights)};
}

// The first one comes down to the second one, which then goes on: they only met on their way.
TEST(ClusterProblem, ManyGroupsMayPassOneAnother) {
  const Grouped grouped = two_of_many(7, 10, 2, 5);
  const ClusterProblem problem = solved(grouped, 1e-14);
  EXPECT_NEAR(problem.value(0), 4, 1e-12);
  EXPECT_NEAR(problem.value(1), 1, 1e-12);
  EXPECT_EQ(std::ssize(problem.order()), 300);
  expect_consistent(problem, grouped);
}

// The same with few groups: what counts as many is a threshold. Below it, the two merge where they meet, and
// do not part again.
TEST(ClusterProblem, FewGroupsMayPassOneAnotherToo) {
  const Grouped grouped = two_of_many(7, 10, 2, 5, 4);
  Tuning::Clusters tuning;
  tuning.newton_first = 0;
  const ClusterProblem merged = solved(grouped, 1e-14, 1, tuning);
  EXPECT_EQ(merged.group(0), merged.group(1));
  tuning.late_ties = 4;
  const ClusterProblem problem = solved(grouped, 1e-14, 1, tuning);
  EXPECT_NEAR(problem.value(0), 4, 1e-12);
  EXPECT_NEAR(problem.value(1), 1, 1e-12);
  EXPECT_EQ(std::ssize(problem.order()), 4);
  expect_consistent(problem, grouped);
}

// It is a short way to where they meet; the long one that they have to go together comes the next time.
TEST(ClusterProblem, TwoOfManyThatMeetGoOnTogether) {
  const Grouped grouped = two_of_many(8, 5, 8, 5 - 1e-9);
  const ClusterProblem problem = solved(grouped, 1e-14, 2);
  EXPECT_NEAR(problem.value(0), 6, 1e-12);
  EXPECT_EQ(problem.value(1), problem.value(0));
  expect_consistent(problem, grouped);
}

// Coordinates that do not interact, far apart: each ends where its own price puts it.
TEST(ClusterProblem, SeparateGroupsPayTheirOwnPrice) {
  const Vector weights = Vector::LinSpaced(4, 4, 1);
  Vector pull(3), start(3), want(3);
  pull << 40, -20, 2;
  start << 3, 2, 1;
  want << 40 - (4 + 3), -20 + 2, 1;
  const Grouped grouped{Eigen::MatrixXd::Identity(3, 3), pull, {2, 1, 1}, start, SortedL1(weights)};
  const ClusterProblem problem = solved(grouped, 1e-14);
  EXPECT_LE((values(problem, 3) - want).norm(), 1e-12);
  EXPECT_EQ(problem.sign(1), -1);
  EXPECT_EQ(problem.order(), (std::vector<Index>{0, 1, 2}));
}

TEST(ClusterProblem, OneGroup) {
  for (const double pull : {5.0, 2.0, 0.5, 0.0, -0.5, -5.0})
    for (const double start : {0.0, 1e-3, 1.0, 100.0}) {
      SCOPED_TRACE(::testing::Message() << pull << " from " << start);
      const Grouped grouped{Eigen::MatrixXd::Constant(1, 1, 2),
                            Vector::Constant(1, pull),
                            {1},
                            Vector::Constant(1, start),
                            SortedL1(Vector::Ones(1))};
      const double want = std::copysign(std::max(std::abs(pull) - 1, 0.0) / 2, pull);
      EXPECT_NEAR(solved(grouped, 1e-14).value(0), want, 1e-12);
    }
}

// The same problem with its clusters elsewhere in H, between rows and columns that are nobody's.
TEST(ClusterProblem, ClustersMayHaveAnyRows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Grouped grouped = random_grouped(random, false);
    const Index count = grouped.pull.size(), size = count + 3;
    std::vector<Index> rows(at(size));
    std::iota(rows.begin(), rows.end(), Index{0});
    for (Index k = size - 1; k > 0; --k) std::swap(rows[at(k)], rows[at(random.below(k + 1))]);
    rows.resize(at(count));
    Matrix hessian = Matrix::Constant(size, size, 1e30);
    ClusterProblem::Start start{Vector::Constant(size, 7), Vector::Zero(size),
                                std::vector<Index>(at(size), 0), rows};
    const Vector ascent = grouped.ascent(grouped.magnitudes);
    for (Index k = 0; k < count; ++k) {
      const Index row = rows[at(k)];
      start.ascent[row] = ascent[k], start.magnitudes[row] = grouped.magnitudes[k];
      start.sizes[at(row)] = grouped.sizes[at(k)];
      for (Index l = 0; l < count; ++l) hessian(row, rows[at(l)]) = grouped.hessian(k, l);
    }
    ClusterProblem moved(hessian, start, grouped.penalty);
    moved.solve(1e-13);
    const ClusterProblem problem = solved(grouped, 1e-13);
    const Vector c = Vector::NullaryExpr(count, [&](Index k) { return moved.value(rows[at(k)]); });
    const double want = grouped.objective(values(problem, count));
    EXPECT_NEAR(grouped.objective(c), want, 1e-10 * (1 + std::abs(want)));
  }
}

TEST(ClusterProblem, NothingToSolve) {
  ClusterProblem problem(Matrix(0, 0), {}, SortedL1(Vector::Ones(3)));
  problem.solve(1e-10);
  EXPECT_TRUE(problem.order().empty());
}

// Columns that cancel: no curvature and no pull, but a price, so it goes to 0; without a price it stays
// finite.
TEST(ClusterProblem, NoCurvature) {
  Vector pull(2), start(2);
  pull << 4, 0;
  start << 2, 1;
  Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(2, 2);
  hessian(0, 0) = 1;
  const Grouped paid{hessian, pull, {1, 2}, start, SortedL1(Vector::Ones(3))};
  const ClusterProblem problem = solved(paid, 1e-14);
  EXPECT_NEAR(problem.value(0), 3, 1e-12);
  EXPECT_EQ(problem.value(1), 0);
  const Grouped free{hessian, pull, {1, 2}, start, SortedL1(Vector::Unit(3, 0))};
  const ClusterProblem other = solved(free, 1e-14);
  EXPECT_TRUE(std::isfinite(other.value(1)));
  EXPECT_NEAR(free.objective(values(other, 2)), -4.5, 1e-12);
}

}  // namespace
}  // namespace tyto
