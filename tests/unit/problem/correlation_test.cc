#include "tyto/problem/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/varied.h"
#include "tyto/math/entries.h"
#include "tyto/math/weights.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

IndexSet all_columns(Index count) {
  IndexSet columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

Vector correlations(const Design& design, const Vector& r) {
  Vector out;
  design.transpose_multiply(r, out);
  return out;
}

// Exact where it says so, and else never below, up to the rounding of x_j'r itself and of the way that r
// went.
void expect_bounds(const Correlation& correlation, const Design& design, const Vector& r, double way,
                   bool nonnegative) {
  const Vector want = correlations(design, r);
  for (Index j = 0; j < want.size(); ++j) {
    const double rounding = 1e-14 * design.magnitudes()[j] * (r.norm() + way);
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
TEST(Correlation, TheLargestCountsWhereWeightsTie) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = dense_problem(random_matrix(random, 12, 5), random_vector(random, 12),
                                          Vector::Constant(5, random.uniform(0.1, 10)));
    const Vector want = correlations(problem.design, problem.y);
    for (const bool empty : {true, false}) {
      Vector beta = Vector::Zero(5);
      if (!empty) beta[random.below(5)] = 1;
      Correlation correlation(problem.design, false);
      correlation.move_to(problem.y);
      const double norm = problem.penalty.dual_norm(want);
      EXPECT_NEAR(correlation.settle(problem, beta, nonzero_entries(beta), all_columns(5)).dual_norm, norm,
                  1e-14 * norm);
    }
  }
}

// X'y that came with the problem is not read again, and its J° serves every multiple of its penalty, but no
// other one.
TEST(Correlation, AdoptsWhatIsKnownAtZero) {
  Random random(16);
  const Problem problem = dense_problem(random_matrix(random, 30, 50), random_vector(random, 30),
                                        make_weights("oscar", {30, 50, 0.1}));
  AtZero known = at_zero(problem);
  EXPECT_EQ(known.correlation, correlations(problem.design, problem.y));
  EXPECT_EQ(known.dual_norm, problem.penalty.dual_norm(known.correlation));
  known.dual_norm *= 3;  // so that it is seen who believes it
  Problem multiple = problem, other = problem;
  multiple.penalty = problem.penalty.scaled(0.25);
  other.penalty = SortedL1(make_weights("lasso", {30, 50, 0.1}));
  const auto settled_norm = [&](const Problem& at) {
    const Design counted = at.design.with_counter();
    Correlation correlation(counted, false);
    correlation.adopt(at.y, std::make_shared<const AtZero>(known));
    const Vector zero = Vector::Zero(50);
    const Settled settled = correlation.settle(at, zero, {}, all_columns(50));
    EXPECT_EQ(correlation.values(at, zero, all_columns(50)), known.correlation);
    EXPECT_EQ(counted.entries_read(), 0);
    return settled.dual_norm;
  };
  EXPECT_DOUBLE_EQ(settled_norm(problem), known.dual_norm);
  EXPECT_DOUBLE_EQ(settled_norm(multiple), 4 * known.dual_norm);
  EXPECT_DOUBLE_EQ(settled_norm(other), other.penalty.dual_norm(known.correlation));
}

// Dropping one by one, until each that is left pulls at least as hard as the last of them has to.
TEST(Contenders, AreWhatIsLeftWhenNothingMoreDrops) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = 2000;
    Vector v = random_vector(random, p).array().cube();
    const SortedL1 penalty(make_weights(random.chance(0.5) ? "oscar" : "bh", {50, p, 0.1}));
    const double level = random.uniform(0.05, 0.9) * penalty.dual_norm(v);
    const Contenders found = *contenders(penalty, v, level, p);
    if (const Index count = std::ssize(found.columns); 16 * count > p) {  // by counting alone
      EXPECT_FALSE(contenders(penalty, v, level, count - 1));
    }
    EXPECT_EQ(found.columns, entries_above(v, found.least));
    // None that is dropped could stay ...
    std::vector<double> sorted(v.data(), v.data() + p);
    for (double& entry : sorted) entry = std::abs(entry);
    std::ranges::sort(sorted, std::greater<>());
    for (Index m = std::ssize(found.columns) + 1; m <= p; ++m)
      EXPECT_LT(sorted[static_cast<std::size_t>(m - 1)], level * penalty.weight(m - 1) + 1e-12) << m;
    // ... and so J° does not depend on it.
    const SortedL1 head = penalty.head(std::ssize(found.columns));
    EXPECT_NEAR(head.dual_norm(restrict_to(v, found.columns)), penalty.dual_norm(v),
                1e-12 * penalty.dual_norm(v));
  }
}

TEST(Correlation, BoundsHoldWhereverTheResidualGoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Design design = varied_problem(random, 30, 40).design;
    const Index n = design.rows(), p = design.cols();
    const bool nonnegative = random.chance(0.3);
    Correlation correlation(design, nonnegative);
    Vector r = random_vector(random, n);
    if (random.chance(0.5)) {
      Problem problem{design, r, SortedL1(Vector::Ones(p), nonnegative)};
      correlation.adopt(r, std::make_shared<const AtZero>(at_zero(problem)));
    } else {
      if (random.chance(0.5)) correlation.move_to(random_vector(random, n));
      correlation.move_to(r);
      correlation.read(all_columns(p));
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
      Correlation other = correlation;  // to make a vector of them changes what they are made from
      const Problem problem{design, r, SortedL1(Vector::Ones(p), nonnegative)};
      const Vector all = other.values(problem, Vector::Zero(p), all_columns(p));
      for (Index j = 0; j < p; ++j) EXPECT_DOUBLE_EQ(all[j], correlation.value(j)) << j;
    }
  }
}

// What overflows leaves nothing behind: the next point is read.
TEST(Correlation, RecoversFromNumbersThatOverflow) {
  Random random(9);
  const Problem problem = dense_problem(random_matrix(random, 30, 50), random_vector(random, 30),
                                        make_weights("oscar", {30, 50, 0.1}));
  for (const double huge : {1e200, std::numeric_limits<double>::infinity()}) {
    Correlation correlation(problem.design, false);
    correlation.adopt(problem.y, std::make_shared<const AtZero>(at_zero(problem)));
    correlation.move_to(huge * problem.y);
    for (const double factor : {0.1, 0.2}) {
      const Vector beta = factor * random_vector(random, 50);
      const Vector r = problem.y - make_iterate(problem, beta).eta;
      correlation.move_to(r);
      const Settled settled = correlation.settle(problem, beta, nonzero_entries(beta), all_columns(50));
      const double norm = problem.penalty.dual_norm(correlations(problem.design, r));
      EXPECT_NEAR(settled.dual_norm, norm, 1e-14 * norm);
    }
  }
}

TEST(Correlation, MovingNowhereKeepsWhatIsKnown) {
  Random random(1);
  const Design design = Design::dense(random_matrix(random, 8, 5)).with_counter();
  Correlation correlation(design, false);
  const Vector r = random_vector(random, 8);
  correlation.move_to(r);
  correlation.read(IndexSet{1, 3});
  EXPECT_TRUE(correlation.exact(1) && correlation.exact(3));
  EXPECT_FALSE(correlation.exact(0));
  correlation.move_to(r);
  const Index before = design.entries_read();
  correlation.read(IndexSet{1, 3});
  EXPECT_EQ(design.entries_read(), before);
  EXPECT_EQ(correlation.value(1), correlations(design, r)[1]);
}

// A point and the certificate that a full pass gives there.
// Returns whether what is screened was seen from a few columns.
bool expect_settled(Correlation& correlation, const Problem& problem, const Vector& beta,
                    const IndexSet& columns) {
  const Iterate x = make_iterate(problem, beta);
  const Certificate want = certify(problem, x);
  correlation.move_to(problem.y - x.eta);
  const Settled settled = correlation.settle(problem, beta, nonzero_entries(beta), columns);
  const double dual_norm = settled.dual_norm;
  EXPECT_EQ(settled.support, nonzero_entries(beta));
  const Contenders few = correlation.contenders();
  const Vector exact = tyto::correlation(problem, x), values = correlation.values(problem, beta, columns);
  EXPECT_EQ(values.size(), problem.design.cols());
  if (values.size() != problem.design.cols()) return false;
  for (Index k = 0; k < values.size(); ++k)
    EXPECT_DOUBLE_EQ(values[k],
                     correlation.value(columns[static_cast<std::size_t>(k)]) - problem.ridge * beta[k]);
  const double norm = problem.penalty.dual_norm(exact);
  EXPECT_NEAR(dual_norm, norm, 1e-12 * norm);
  EXPECT_NEAR(problem.penalty.dual_norm(values), norm, 1e-12 * norm);
  for (Index j = 0; j < values.size(); ++j) {
    const double rounding = 1e-14 * problem.design.magnitudes()[j] * want.residual_norm;
    EXPECT_GE(std::abs(values[j]), std::abs(exact[j]) - rounding) << j;
    if (beta[j] != 0) {
      EXPECT_NEAR(values[j], exact[j], rounding) << j;
    }
  }
  const Vector at_support = restrict_to(values, settled.support);
  EXPECT_LE((settled.at_support - at_support).norm(), 1e-14 * at_support.norm());
  const Certificate got = certify(problem, x, settled);
  EXPECT_NEAR(got.gap, want.gap, want.rounding + 1e-12 * want.primal);
  EXPECT_NEAR(got.primal, want.primal, want.rounding);
  EXPECT_NEAR(got.dual, want.dual, want.rounding + 1e-12 * want.primal);
  if (few.columns.empty() || !drops(problem, got, few.level)) return false;
  for (const char* rule : {"seed", "safe"})
    EXPECT_EQ(columns_left(screening_rule(rule), restrict_to(problem, few.columns), got, few.bounds),
              columns_left(screening_rule(rule), problem, got, values));
  return true;
}

TEST(Correlation, SettleGivesTheCertificateOfAFullPass) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem problem = varied_problem(random, seed % 2 == 0 ? 25 : 120, 40);  // short columns, and long ones
    const Index p = problem.design.cols();
    Correlation correlation(problem.design, false);
    const double unit = problem.y.norm() / (1e-300 + problem.design.norms().maxCoeff());
    Vector beta = Vector::Zero(p);
    for (int step = 0; step < 12; ++step) {
      expect_settled(correlation, problem, beta, all_columns(p));
      problem.penalty = problem.penalty.scaled(random.uniform(0.5, 1.1));  // the next strength of a path
      expect_settled(correlation, problem, beta, all_columns(p));
      const double size = unit * std::pow(10, random.uniform(-12, 0));
      if (random.chance(0.2)) beta.setZero();
      for (Index j = 0; j < p; ++j)
        if (random.chance(0.2)) beta[j] = random.chance(0.3) ? 0 : beta[j] + size * random.normal();
    }
  }
}

// The first fit on some data, which X'y came with: as long as r has gone from y to one other point, X'y
// itself bounds X'r there, and few columns are looked at.
TEST(Correlation, SettlesNearZeroFromWhatIsKnownThere) {
  Random random(7);
  int few = 0;
  for (const char* weights : {"oscar", "bh", "lasso", "linf"})
    for (const double strength : {0.99, 0.95, 0.9, 0.5})
      for (const double ridge : {0.0, 0.5}) {
        SCOPED_TRACE(testing::Message() << weights << " " << strength << " " << ridge);
        Problem problem = simulated_problem(random, 60, 2000, make_weights(weights, {60, 2000, 0.1}), 1);
        problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
        problem.ridge = ridge;
        const auto known = std::make_shared<const AtZero>(at_zero(problem));
        const Vector zero = Vector::Zero(2000), beta = fit(problem, {.tolerance = 1e-12}).solution.beta;
        for (const double first : {1.0, 0.99, 0.9}) {  // at the solution, and where the ball is larger
          Correlation correlation(problem.design, false);
          correlation.adopt(problem.y, known);
          expect_settled(correlation, problem, zero, all_columns(2000));
          few += expect_settled(correlation, problem, first * beta, all_columns(2000)) ? 1 : 0;
          for (const double factor : {1.001, 0.5, 0.0})
            expect_settled(correlation, problem, factor * beta, all_columns(2000));
        }
      }
  EXPECT_GE(few, 8);
}

// Of many columns a sample says whether most have to be read. Then they are, once, and nothing is asked
// twice; else only those that matter.
TEST(Correlation, SettlesManyColumnsByReadingFewOrAll) {
  constexpr Index kRows = 60, kColumns = 12000;
  Random random(11);
  for (const char* weights : {"oscar", "bh", "linf"})
    for (const bool nonnegative : {false, true}) {
      SCOPED_TRACE(testing::Message() << weights << " " << nonnegative);
      Problem problem =
          simulated_problem(random, kRows, kColumns, make_weights(weights, {kRows, kColumns, 0.1}), 1);
      problem.penalty = SortedL1(problem.penalty.weights(), nonnegative);
      problem.penalty = problem.penalty.scaled(0.5 * alpha_max(problem));
      problem.design = problem.design.with_counter();
      const Vector beta = fit(problem, {.tolerance = 1e-10}).solution.beta;
      Correlation correlation(problem.design, nonnegative);
      correlation.adopt(problem.y, std::make_shared<const AtZero>(at_zero(problem)));
      const auto read = [&](const Vector& at) {
        const Iterate x = make_iterate(problem, at);
        const Index before = problem.design.entries_read();
        correlation.move_to(problem.y - x.eta);
        const Settled settled =
            correlation.settle(problem, at, nonzero_entries(at), Selection::first(kColumns));
        const double want = problem.penalty.dual_norm(tyto::correlation(problem, x));
        EXPECT_NEAR(settled.dual_norm, want, 1e-12 * want);
        return static_cast<double>(problem.design.entries_read() - before - problem.design.stored_entries()) /
               static_cast<double>(problem.design.stored_entries());
      };
      const bool all_matter = weights == std::string("linf");  // always: J° is their sum
      const double first = read(beta);
      if (!nonnegative) {
        EXPECT_NEAR(first, 1, 0.1);
      }
      read(beta);
      const double near = read((1 - 1e-6) * beta);
      EXPECT_EQ(near < 0.1, !all_matter) << near;
    }
}

// What a sample says does not depend on a period in the order of columns, and where some have left, they are
// not read because most of the others are.
TEST(Correlation, ASampleOfColumnsMisleadsNobody) {
  constexpr Index kRows = 100, kColumns = 16384;
  Random random(3);
  for (const Index large : {0, 1, 5}) {
    SCOPED_TRACE(large);
    Eigen::MatrixXd x = random_matrix(random, kRows, kColumns);
    for (Index j = 0; j < kColumns; ++j)
      if (j % 16 != large) x.col(j) *= 0.1;
    Vector y = random_vector(random, kRows);
    for (Index k = 0; k < 10; ++k) y += x.col(160 * k + large);
    Problem problem = dense_problem(x, y, make_weights("linear", {kRows, kColumns, 0.1}));
    problem.penalty = problem.penalty.scaled(0.3 * alpha_max(problem));
    problem.design = problem.design.with_counter();
    const Vector beta = fit(problem, {.tolerance = 1e-10}).solution.beta;
    Correlation correlation(problem.design, false);
    correlation.move_to(y);
    correlation.settle(problem, Vector::Zero(kColumns), {}, Selection::first(kColumns));
    const auto read = [&](const Problem& at, const Vector& b, const Selection& columns) {
      correlation.move_to(y - make_iterate(at, b).eta);
      const Index before = problem.design.entries_read();
      correlation.settle(at, b, nonzero_entries(b), columns);
      return problem.design.entries_read() - before;
    };
    EXPECT_LT(read(problem, beta, Selection::first(kColumns)), kRows * kColumns / 4);
    IndexSet few = nonzero_entries(beta);
    for (Index j = 0; j < kColumns; j += 2)
      if (beta[j] == 0) few.push_back(j);
    std::ranges::sort(few);
    Problem part = restrict_to(problem, few);
    part.penalty = SortedL1(make_weights("linf", {kRows, std::ssize(few), 0.1}));  // all of these matter
    EXPECT_LE(read(part, 0.5 * restrict_to(beta, few), few), kRows * std::ssize(few));
  }
}

// The residual is the same, but not the columns that make it: what was settled for the one must not stand
// for the other.
TEST(Correlation, SettlesTwinsEachForItself) {
  Random random(5);
  Eigen::MatrixXd x = random_matrix(random, 100, 30);
  x.col(1) = x.col(0);
  const Problem problem = dense_problem(x, random_vector(random, 100), Vector::LinSpaced(30, 3, 1));
  Correlation correlation(problem.design, false);
  Vector beta = Vector::Zero(30);
  beta[0] = 0.5, beta[2] = -0.25;
  for (int step = 0; step < 20; ++step) {
    expect_settled(correlation, problem, beta, all_columns(30));
    std::swap(beta[0], beta[1]);
    expect_settled(correlation, problem, beta, all_columns(30));
    beta *= 1.01;
  }
}

// Columns leave a fit and are back in the next: the numbers of the whole design stand for them.
TEST(Correlation, SettlesPartsOfTheDesign) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem full = varied_problem(random, 25, 40);
    Correlation correlation(full.design, false);
    Vector beta = Vector::Zero(full.design.cols());
    for (int step = 0; step < 8; ++step) {
      const IndexSet kept = random_columns(random, full.design.cols());
      if (kept.empty()) continue;
      const Problem part = restrict_to(full, kept);
      const double unit = full.y.norm() / (1e-300 + full.design.norms().maxCoeff());
      for (double& entry : beta)
        if (random.chance(0.2)) entry = random.chance(0.5) ? 0 : unit * random.normal();
      expect_settled(correlation, part, restrict_to(beta, kept), kept);
    }
  }
}

// Around a solution, where J°(X'r) is that of the support.
TEST(Correlation, ReadsLittleWhereTheResidualMovesLittle) {
  Random random(2);
  for (const char* weights : {"oscar", "bh", "lasso"}) {
    SCOPED_TRACE(weights);
    Problem problem = simulated_problem(random, 50, 2000, make_weights(weights, {50, 2000, 0.1}), 0.5);
    problem.design = problem.design.with_counter();
    Vector beta = fit(problem, {.solver = "apgd"}).solution.beta;
    Correlation correlation(problem.design, false);
    expect_settled(correlation, problem, beta, all_columns(2000));
    for (int step = 0; step < 5; ++step) {
      beta *= 1 - 1e-4;
      const Vector r = problem.y - make_iterate(problem, beta).eta;
      const Index before = problem.design.entries_read();
      correlation.move_to(r);
      correlation.settle(problem, beta, nonzero_entries(beta), all_columns(2000));
      EXPECT_LE(problem.design.entries_read() - before, 50 * 2000 / 10);
      expect_settled(correlation, problem, beta, all_columns(2000));
    }
  }
}

}  // namespace
}  // namespace tyto
