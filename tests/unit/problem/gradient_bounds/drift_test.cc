#include "tyto/problem/gradient_bounds/drift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/varied.h"
#include "tyto/math/entries.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Vector correlations(const Design& design, const Vector& r) {
  Vector out;
  design.transpose_multiply(r, out);
  return out;
}

// Exact where it says so, and else never below, up to the rounding of x_j'r itself and of the way that r
// went.
void expect_bounds(const DriftBounds& correlation, const Design& design, const Vector& r, double way,
                   bool nonnegative) {
  const Vector want = correlations(design, r);
  for (Index j = 0; j < want.size(); ++j) {
    const double rounding = 1e-14 * design.rounding_norms()[j] * (r.norm() + way);
    if (correlation.exact(j)) {
      EXPECT_NEAR(correlation.value(j), want[j], rounding) << j;
    } else if (nonnegative) {
      EXPECT_GE(correlation.value(j), want[j] - rounding) << j;
    } else {
      EXPECT_GE(std::abs(correlation.value(j)), std::abs(want[j]) - rounding) << j;
    }
  }
}

// With equal weights J° is one quotient of the largest correlation, and rounding decides whether the product
// comes back to it.
TEST(DriftBounds, TheLargestCountsWhereWeightsTie) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = dense_problem(random_matrix(random, 12, 5), random_vector(random, 12),
                                          Vector::Constant(5, random.uniform(0.1, 10)));
    const Vector want = correlations(problem.design, problem.loss->response());
    for (const bool empty : {true, false}) {
      Vector beta = Vector::Zero(5);
      if (!empty) beta[random.below(5)] = 1;
      const Work work;
      DriftBounds correlation(problem, work);
      correlation.move_to(problem.loss->response());
      const double norm = problem.penalty.dual_norm(want);
      EXPECT_NEAR(
          correlation.evaluate_dual_norm(problem, beta, nonzero_entries(beta), all_but({}, 5)).dual_norm,
          norm, 1e-14 * norm);
    }
  }
}

// X'y that came with the problem is not read again, and its J° serves every multiple of its penalty, but no
// other one.
TEST(DriftBounds, AdoptsWhatIsKnownAtZero) {
  Random random(16);
  const Problem problem = dense_problem(random_matrix(random, 30, 50), random_vector(random, 30),
                                        make_weights("oscar", {30, 50, 0.1}));
  AtZero known = at_zero(problem);
  EXPECT_EQ(known.correlation, correlations(problem.design, problem.loss->response()));
  EXPECT_EQ(known.dual_norm, problem.penalty.dual_norm(known.correlation));
  known.dual_norm *= 3;  // so that it is seen who believes it
  Problem multiple = problem, other = problem;
  multiple.penalty = problem.penalty.scaled(0.25);
  other.penalty = SortedL1(make_weights("lasso", {30, 50, 0.1}));
  const auto dual_norm_of = [&](const Problem& at) {
    const Work work;
    Problem told = at;
    told.at_zero = std::make_shared<const AtZero>(known);
    DriftBounds correlation(told, work);
    const Vector zero = Vector::Zero(50);
    const DualNormAt found = correlation.evaluate_dual_norm(at, zero, {}, all_but({}, 50));
    EXPECT_EQ(correlation.values(at, zero, all_but({}, 50)), known.correlation);
    EXPECT_EQ(work.entries_read(), 0);
    return found.dual_norm;
  };
  EXPECT_DOUBLE_EQ(dual_norm_of(problem), known.dual_norm);
  EXPECT_DOUBLE_EQ(dual_norm_of(multiple), 4 * known.dual_norm);
  EXPECT_DOUBLE_EQ(dual_norm_of(other), other.penalty.dual_norm(known.correlation));
}

TEST(DriftBounds, BoundsHoldWhereverTheResidualGoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Design design = varied_problem(random, 30, 40).design;
    const Index n = design.rows(), p = design.cols();
    const bool nonnegative = random.chance(0.3);
    const Work work;
    Vector r = random_vector(random, n);
    Problem start{design, r, SortedL1(Vector::Ones(p), nonnegative)};
    const bool told = random.chance(0.5);
    if (told) start.at_zero = std::make_shared<const AtZero>(at_zero(start));
    DriftBounds correlation(start, work);
    if (!told) {
      if (random.chance(0.5)) correlation.move_to(random_vector(random, n));
      correlation.move_to(r);
      correlation.read(all_but({}, p));
    }
    const double shrink = random.chance(0.3) ? random.uniform(0.2, 3) : 1;  // far, in one direction
    double way = 0;
    for (int step = 0; step < 60; ++step) {
      const Vector before = r;
      const double size = std::pow(10, random.uniform(-16, 1));
      if (random.chance(0.05)) r.setZero();
      r *= shrink;
      if (random.chance(0.9)) r += size * random_vector(random, n);
      way += (r - before).norm();
      correlation.move_to(r);
      const IndexSet some = random_columns(random, p);
      if (random.chance(0.3)) correlation.read(some);
      if (random.chance(0.1)) {  // known near by, and some of it here
        const double distance = random.chance(0.5) ? std::pow(10, random.uniform(-8, 0)) : 0;
        const Vector near = r + distance * random_vector(random, n).normalized();
        Vector values = correlations(design, near);
        for (const Index j : some) values[j] = correlations(design, r)[j];
        correlation.adopt(r, values, some, 1.0001 * distance);
      }
      expect_bounds(correlation, design, r, way, nonnegative);
      DriftBounds other = correlation;  // to make a vector of them changes what they are made from
      const Problem problem{design, r, SortedL1(Vector::Ones(p), nonnegative)};
      const Vector all = other.values(problem, Vector::Zero(p), all_but({}, p));
      for (Index j = 0; j < p; ++j) EXPECT_DOUBLE_EQ(all[j], correlation.value(j)) << j;
    }
  }
}

// What overflows leaves nothing behind: the next point is read.
TEST(DriftBounds, RecoversFromNumbersThatOverflow) {
  Random random(9);
  Problem problem = dense_problem(random_matrix(random, 30, 50), random_vector(random, 30),
                                  make_weights("oscar", {30, 50, 0.1}));
  problem.at_zero = std::make_shared<const AtZero>(at_zero(problem));
  for (const double huge : {1e200, std::numeric_limits<double>::infinity()}) {
    const Work work;
    DriftBounds correlation(problem, work);
    correlation.move_to(huge * problem.loss->response());
    for (const double factor : {0.1, 0.2}) {
      const Vector beta = factor * random_vector(random, 50);
      const Vector r = problem.loss->response() - make_iterate(problem, beta).eta;
      correlation.move_to(r);
      const DualNormAt found =
          correlation.evaluate_dual_norm(problem, beta, nonzero_entries(beta), all_but({}, 50));
      const double norm = problem.penalty.dual_norm(correlations(problem.design, r));
      EXPECT_NEAR(found.dual_norm, norm, 1e-14 * norm);
    }
  }
}

TEST(DriftBounds, MovingNowhereKeepsWhatIsKnown) {
  Random random(1);
  const Vector y = random_vector(random, 8);
  const Problem problem = dense_problem(random_matrix(random, 8, 5), y, Vector::Ones(5));
  const Design& design = problem.design;
  const Work work;
  DriftBounds correlation(problem, work);
  correlation.move_to(y);
  correlation.read(IndexSet{1, 3});
  EXPECT_EQ(work.entries_read(), 8 * 5) << "the first time, all columns are read";
  const Vector r = random_vector(random, 8);
  correlation.move_to(r);
  correlation.read(IndexSet{1, 3});
  EXPECT_TRUE(correlation.exact(1) && correlation.exact(3));
  EXPECT_FALSE(correlation.exact(0));
  correlation.move_to(r);
  const Index before = work.entries_read();
  correlation.read(IndexSet{1, 3});
  EXPECT_EQ(work.entries_read(), before);
  EXPECT_EQ(correlation.value(1), correlations(design, r)[1]);
}

}  // namespace
}  // namespace tyto
