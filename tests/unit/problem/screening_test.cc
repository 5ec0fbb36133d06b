#include "tyto/problem/screening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/certified.h"
#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

Vector vec(std::initializer_list<double> entries) {
  return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

// How many bounds a rule keeps.
Index kept(std::string_view rule, const std::vector<double>& bounds, const Vector& weights) {
  std::vector<double> scratch = bounds;
  const double cut = screening_rule(rule).cut(scratch, SortedL1(weights), {});
  return std::ranges::count_if(bounds, [&](double bound) { return bound >= cut; });
}

// Multiples of 1/64: sums are exact and bounds tie with each other and with weights.
std::vector<double> coarse_bounds(Random& random, Index size) {
  std::vector<double> bounds(static_cast<std::size_t>(size));
  for (double& bound : bounds) bound = std::round(64 * std::abs(random.normal())) / 64;
  return bounds;
}

Vector coarse_weights(Random& random, Index size) {
  return (64 * random.uniform(0.5, 2) * random_weights(random, size)).array().ceil() / 64;
}

// Equal bounds stay or leave together, so a rule may keep more than its definition, down to the tie.
Index with_ties(Index count, std::vector<double> bounds) {
  std::sort(bounds.begin(), bounds.end(), std::greater<>());
  while (count > 0 && count < std::ssize(bounds) &&
         bounds[static_cast<std::size_t>(count)] == bounds[static_cast<std::size_t>(count - 1)])
    ++count;
  return count;
}

TEST(Cuts, AreTheirDefinitions) {
  for (const Index size : {1, 2, 3, 4, 5, 10, 31, 32, 33, 65, 100, 1000})
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(::testing::Message() << "size " << size << " seed " << seed);
      Random random(seed);
      const Vector w = coarse_weights(random, size);
      const std::vector<double> u = coarse_bounds(random, size);
      EXPECT_EQ(kept("none", u, w), size);
      EXPECT_EQ(kept("seed", u, w), with_ties(naive::smallest_weight_count(u, w), u));
      EXPECT_EQ(kept("safe", u, w), with_ties(naive::cumulative_count(u, w), u));
    }
}

TEST(Cuts, CumulativeKeepsNoMoreThanSmallestWeight) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index size = random.between(1, 50);
    const Vector w = random_weights(random, size);
    std::vector<double> u = coarse_bounds(random, size);
    for (double& bound : u) bound *= random.uniform();
    EXPECT_LE(kept("safe", u, w), kept("seed", u, w));
  }
}

// Bounds that are large beside the weights, as of columns in small units, must not drown the others in the
// running sum.
TEST(Cuts, HugeBoundsDoNotDrownTheOthers) {
  for (const double huge : {1e4, 1e8, 1e12, 1e16, 1e20})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << "huge " << huge << " seed " << seed);
      Random random(seed);
      const Index size = random.between(2, 80);
      const Vector w = coarse_weights(random, size);
      std::vector<double> u = coarse_bounds(random, size);
      for (double& bound : u) bound *= random.chance(0.5) ? 1.5 : 1;
      u[0] = huge;
      EXPECT_GE(kept("safe", u, w), naive::cumulative_count(u, w));
      EXPECT_GE(kept("seed", u, w), naive::smallest_weight_count(u, w));
    }
}

// Slow rounds: each drops one bound, so that the rule has to sort.
TEST(Cuts, SmallestWeightFindsALongChain) {
  const Index size = 200;
  const Vector w = Vector::LinSpaced(size, 2, 1);
  std::vector<double> u(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) u[static_cast<std::size_t>(i)] = i < 20 ? 3 : w[i] - 1e-3;
  EXPECT_EQ(kept("seed", u, w), 20);
  EXPECT_EQ(kept("safe", u, w), naive::cumulative_count(u, w));
  std::fill(u.begin(), u.end(), 0.5);
  EXPECT_EQ(kept("seed", u, w), 0);
  EXPECT_EQ(kept("safe", u, w), 0);
}

// A lasso at gap 0 has |x'theta| = w on its support: the test is strict.
TEST(Cuts, EqualityKeeps) {
  EXPECT_EQ(kept("seed", {1, 1, 0.999}, vec({1, 1, 1})), 2);
  EXPECT_EQ(kept("safe", {1, 1, 0.999}, vec({1, 1, 1})), 2);
  EXPECT_EQ(kept("seed", {0, 0}, vec({1, 0})), 2);
  EXPECT_EQ(kept("safe", {1, 0}, vec({1, 0})), 2);
}

TEST(Cuts, SumsThatTieUpToRoundingKeep) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index size = random.between(2, 300);
    const Vector w = Vector::LinSpaced(size, random.uniform(1, 2), random.uniform(0, 0.9));
    // The bounds are the mean of the weights: they tie exactly at the very end, but for rounding.
    const std::vector<double> u(static_cast<std::size_t>(size), w.mean());
    EXPECT_EQ(kept("safe", u, w), size);
  }
}

// Equal weights and bounds that all pay: their many sums are all alike, but for rounding that adds up.
TEST(Cuts, ManyEqualSumsKeep) {
  for (const Index size : {16384, 16385, 60000, 1000000})
    for (const double weight : {0.1, 469.42113345, 1e-7 / 3}) {
      const Vector w = Vector::Constant(size, weight);
      const std::vector<double> above(static_cast<std::size_t>(size), 1.5 * weight);
      EXPECT_EQ(kept("safe", above, w), size) << weight;
      std::vector<double> few(static_cast<std::size_t>(size), 0.5 * weight);
      std::fill_n(few.begin() + 7, size / 2, 1.01 * weight);
      EXPECT_EQ(kept("safe", few, w), size / 2) << weight;
    }
}

IndexSet survivors_at(const Problem& problem, const Iterate& x, std::string_view rule) {
  const Vector v = correlation(problem, x);
  return survivors(screening_rule(rule), problem, sphere_of(certify(problem, x), v, problem.design.rows()));
}

// X = I_2, y = (1.5, 1.5), w = (3, 1): the solution is 0 and the gap at 0 is 0, yet 1.5 > w_2. Property 5 of
// the seed paper fails; the cumulative rule screens both.
TEST(Survivors, SeedNeverFindsSomeZeros) {
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(2, 2), vec({1.5, 1.5}), vec({3, 1}));
  const Iterate zero = make_iterate(problem, Vector::Zero(2));
  EXPECT_EQ(certify(problem, zero).gap, 0);
  EXPECT_EQ(survivors_at(problem, zero, "seed").size(), 2u);
  EXPECT_EQ(survivors_at(problem, zero, "safe").size(), 0u);
}

// The proof of Property 5 asks for |x_j'theta*| < w_k with k the size of the support. That holds here, but
// the rule compares with w_m, m being the columns that are left, and never drops the first one.
TEST(Survivors, SeedNeverFindsZerosThatTheProofCounts) {
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(3, 3), vec({10, 1.5, 1.5}), vec({3, 3, 1}));
  const Iterate solution = make_iterate(problem, vec({7, 0, 0}));
  EXPECT_EQ(certify(problem, solution).gap, 0);
  const Vector correlations = correlation(problem, solution);
  for (const Index j : {1, 2}) EXPECT_LT(std::abs(correlations[j]), problem.penalty.weight(0));
  EXPECT_EQ(survivors_at(problem, solution, "seed").size(), 3u);
  EXPECT_EQ(survivors_at(problem, solution, "safe"), IndexSet{0});
}

TEST(Survivors, SupportOfALassoStaysAtItsSolution) {
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(3, 3), vec({3, -2, 0.5}), vec({1, 1, 1}));
  const Iterate x = make_iterate(problem, vec({2, -1, 0}));
  for (const std::string_view rule : {"seed", "safe"})
    EXPECT_EQ(survivors_at(problem, x, rule), (IndexSet{0, 1})) << rule;
}

// Radius 0 at the exact dual optimum: the margin for rounding of x'theta alone must keep the support.
TEST(Survivors, MarginCoversTheRoundingOfTheCorrelation) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index n = random.between(1, 60);
    const Eigen::MatrixXd x = random_matrix(random, n, 1);
    const Vector theta = random_vector(random, n);
    const naive::Real exact = std::abs(naive::dot(naive::reals(x.col(0)), naive::reals(theta)));
    const Design design = Design::dense(x);
    const Vector correlation = Vector::Constant(1, x.col(0).dot(theta));
    const Sphere sphere{correlation, 1, theta.norm(), 0};
    EXPECT_GE(static_cast<naive::Real>(sphere_bounds({design, theta, SortedL1(Vector::Ones(1))}, sphere)[0]),
              exact);
  }
}

TEST(Survivors, ANegativeGapStillLeavesARadius) {
  Certificate c;
  c.primal = 1, c.dual = 1, c.gap = -1e-17, c.rounding = 1e-15;
  const Vector none;
  EXPECT_GE(sphere_of(c, none, 1).radius, std::sqrt(2e-15));
}

TEST(Survivors, OfNoneAreAllColumns) {
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(3, 3), vec({0, 0, 0}), vec({1, 1, 1}));
  EXPECT_EQ(survivors_at(problem, make_iterate(problem, Vector::Zero(3)), "none"), (IndexSet{0, 1, 2}));
}

// Few of them, or none if there are more; and their number.
TEST(Survivors, AreFoundIfTheyAreFew) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 3000);  // more than a block of bounds
    Eigen::MatrixXd x = random_matrix(random, 5, p);
    if (random.chance(0.3))  // long columns and short ones
      for (Index j = 0; j < p; ++j) x.col(j) *= std::pow(10, random.uniform(-2, 2));
    if (random.chance(0.2)) x.array() += 1e4;  // far from 0
    Problem problem =
        dense_problem(x, random_vector(random, 5), random.uniform(0.5, 6) * random_weights(random, p));
    if (random.chance(0.3)) problem.design = problem.design.standardized(true, random.chance(0.5));
    if (random.chance(0.3)) problem.design = problem.design.without(0);
    if (random.chance(0.3)) problem.ridge = random.uniform(0, 2);
    if (random.chance(0.3)) problem.penalty = SortedL1(problem.penalty.weights(), true);
    const Iterate zero = make_iterate(problem, Vector::Zero(p));
    const Certificate c = certify(problem, zero);
    const Vector v = correlation(problem, zero);
    const double radius = random.chance(0.5) ? random.uniform(0, 1) : random.chance(0.5) ? 1e-8 : 0;
    const double scale = random.chance(0.1) ? 0 : random.chance(0.2) ? -c.scale : c.scale;
    const Sphere sphere{v, scale, std::abs(scale) * c.residual_norm, radius, radius};
    const Vector bounds = sphere_bounds(problem, sphere);
    for (const ScreeningRule& rule : screening_rules()) {
      const IndexSet all = survivors(rule, problem, sphere);
      const Index count = std::ssize(all);
      std::vector<double> scratch(bounds.begin(), bounds.end());
      const double cut = rule.cut(scratch, problem.penalty, {});
      EXPECT_EQ(all, entries_above(bounds, cut)) << rule.name;
      EXPECT_EQ(count_survivors(rule, problem, sphere), count) << rule.name;
      EXPECT_EQ(few_survivors(rule, problem, sphere, count), all) << rule.name;
      EXPECT_EQ(few_survivors(rule, problem, sphere, p), all) << rule.name;
      if (count > 0) {
        EXPECT_EQ(few_survivors(rule, problem, sphere, count - 1), std::nullopt) << rule.name;
      }
    }
  }
}

TEST(SphereBounds, HoldForEveryPointOfTheBall) {
  Random random(9);
  const Design design = Design::dense(random_matrix(random, 12, 8)).standardized(true, true);
  const Vector theta = random_vector(random, 12);
  Vector center;
  design.transpose_multiply(theta / -2, center);
  const Sphere sphere{center, -2, theta.norm(), 0.7};
  const Vector bound = sphere_bounds({design, theta, SortedL1(Vector::Ones(8))}, sphere);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Vector correlation;
    design.transpose_multiply(theta + 0.7 * random_vector(random, 12).normalized(), correlation);
    EXPECT_TRUE((correlation.cwiseAbs().array() <= bound.array()).all());
  }
}

TEST(ScreeningRules, AreFoundByName) {
  for (const ScreeningRule& rule : screening_rules()) EXPECT_EQ(screening_rule(rule.name).name, rule.name);
  try {
    screening_rule("strong-ish");
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "screening: unknown rule 'strong-ish'; known: none, seed, safe, strong");
  }
}

// A rule drops in rounds, and sorts what is left when rounds are slow. When it sorts does not matter.
TEST(ScreeningRule, WhenItSortsDoesNotMatter) {
  Index less = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index size = random.between(1, 300);
    const std::vector<double> bounds = coarse_bounds(random, size);
    const SortedL1 penalty(coarse_weights(random, size));
    for (const std::string_view rule : {"seed", "safe"}) {
      const auto count = [&](const Tuning::Screening& tuning) {
        std::vector<double> scratch = bounds;
        const double cut = screening_rule(rule).cut(scratch, penalty, tuning);
        return std::ranges::count_if(bounds, [&](double bound) { return bound >= cut; });
      };
      const Index want = count({});
      less += want < size ? 1 : 0;
      for (const double slow_round : {0.0, 0.9, 1.0})
        for (const int slow_rounds : {0, 2, 1000})
          for (const Index sort_at : {0, 10, 1000})
            EXPECT_EQ(count({.slow_round = slow_round, .slow_rounds = slow_rounds, .sort_at = sort_at}), want)
                << rule << " " << slow_round << " " << slow_rounds << " " << sort_at;
    }
  }
  EXPECT_GT(less, 100) << "most rules drop some";
}

}  // namespace
}  // namespace tyto
