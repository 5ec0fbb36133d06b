// What a certificate needs to know of X'r, against a full pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/varied.h"
#include "tyto/math/entries.h"
#include "tyto/math/weights.h"
#include "tyto/problem/gradient_bounds/drift.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

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

// A point and the certificate that a full pass gives there.
// Returns whether what is screened was seen from a few columns.
bool expect_certificate_of_a_full_pass(DriftBounds& correlation, const Problem& problem, const Vector& beta,
                                       const IndexSet& columns) {
  const Iterate x = make_iterate(problem, beta);
  const Certificate want = certify(problem, x);
  correlation.move_to(problem.loss->response() - x.eta);
  const DualNormAt found = correlation.evaluate_dual_norm(problem, beta, nonzero_entries(beta), columns);
  const double dual_norm = found.dual_norm;
  EXPECT_EQ(found.support, nonzero_entries(beta));
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
    const double rounding = 1e-14 * problem.design.rounding_norms()[j] * want.residual_norm;
    EXPECT_GE(std::abs(values[j]), std::abs(exact[j]) - rounding) << j;
    if (beta[j] != 0) {
      EXPECT_NEAR(values[j], exact[j], rounding) << j;
    }
  }
  const Vector at_support = restrict_to(values, found.support);
  EXPECT_LE((found.at_support - at_support).norm(), 1e-14 * at_support.norm());
  const Certificate got = certify(problem, x, loss_at(problem, x), found);
  EXPECT_NEAR(got.gap, want.gap, want.rounding + 1e-12 * want.primal);
  EXPECT_NEAR(got.primal, want.primal, want.rounding);
  EXPECT_NEAR(got.dual, want.dual, want.rounding + 1e-12 * want.primal);
  if (few.columns.empty() || !drops(problem, got, few.level)) return false;
  for (const char* rule : {"seed", "safe"})
    EXPECT_EQ(columns_left(screening_rule(rule), restrict_to(problem, few.columns), got, few.bounds),
              columns_left(screening_rule(rule), problem, got, values));
  return true;
}

TEST(DriftBounds, GivesTheCertificateOfAFullPass) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem problem = varied_problem(random, seed % 2 == 0 ? 25 : 120, 40);  // short columns, and long ones
    const Index p = problem.design.cols();
    const Work work;
    DriftBounds correlation(problem, work);
    const double unit = problem.loss->response().norm() / (1e-300 + problem.design.norms().maxCoeff());
    Vector beta = Vector::Zero(p);
    for (int step = 0; step < 12; ++step) {
      expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, p));
      problem.penalty = problem.penalty.scaled(random.uniform(0.5, 1.1));  // the next strength of a path
      expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, p));
      const double size = unit * std::pow(10, random.uniform(-12, 0));
      if (random.chance(0.2)) beta.setZero();
      for (Index j = 0; j < p; ++j)
        if (random.chance(0.2)) beta[j] = random.chance(0.3) ? 0 : beta[j] + size * random.normal();
    }
  }
}

// The first fit on some data, which X'y came with: as long as r has gone from y to one other point, X'y
// itself bounds X'r there, and few columns are looked at.
TEST(DriftBounds, EvaluatesNearZeroFromWhatIsKnownThere) {
  Random random(7);
  int few = 0;
  for (const char* weights : {"oscar", "bh", "lasso", "linf"})
    for (const double strength : {0.99, 0.95, 0.9, 0.5})
      for (const double ridge : {0.0, 0.5}) {
        SCOPED_TRACE(testing::Message() << weights << " " << strength << " " << ridge);
        Problem problem = simulated_problem(random, 60, 2000, make_weights(weights, {60, 2000, 0.1}), 1);
        problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
        problem.ridge = ridge;
        problem.at_zero = std::make_shared<const AtZero>(at_zero(problem));
        const Vector zero = Vector::Zero(2000), beta = fit(problem, {.tolerance = 1e-12}).solution.beta;
        for (const double first : {1.0, 0.99, 0.9}) {  // at the solution, and where the ball is larger
          const Work work;
          DriftBounds correlation(problem, work);
          expect_certificate_of_a_full_pass(correlation, problem, zero, all_but({}, 2000));
          few += expect_certificate_of_a_full_pass(correlation, problem, first * beta, all_but({}, 2000)) ? 1
                                                                                                          : 0;
          for (const double factor : {1.001, 0.5, 0.0})
            expect_certificate_of_a_full_pass(correlation, problem, factor * beta, all_but({}, 2000));
        }
      }
  EXPECT_GE(few, 8);
}

// Of many columns a sample says whether most have to be read. Then they are, once, and nothing is asked
// twice; else only those that matter.
TEST(DriftBounds, EvaluatesManyColumnsByReadingFewOrAll) {
  constexpr Index kRows = 60, kColumns = 12000;
  Random random(11);
  for (const char* weights : {"oscar", "bh", "linf"})
    for (const bool nonnegative : {false, true}) {
      SCOPED_TRACE(testing::Message() << weights << " " << nonnegative);
      Problem problem =
          simulated_problem(random, kRows, kColumns, make_weights(weights, {kRows, kColumns, 0.1}), 1);
      problem.penalty = SortedL1(problem.penalty.weights(), nonnegative);
      problem.penalty = problem.penalty.scaled(0.5 * alpha_max(problem));
      const Vector beta = fit(problem, {.tolerance = 1e-10}).solution.beta;
      const Work work;
      problem.at_zero = std::make_shared<const AtZero>(at_zero(problem));
      DriftBounds correlation(problem, work);
      const auto read = [&](const Vector& at) {
        const Iterate x = make_iterate(problem, at);
        const Index before = work.entries_read();
        correlation.move_to(problem.loss->response() - x.eta);
        const DualNormAt found =
            correlation.evaluate_dual_norm(problem, at, nonzero_entries(at), Selection::first(kColumns));
        const double want = problem.penalty.dual_norm(tyto::correlation(problem, x));
        EXPECT_NEAR(found.dual_norm, want, 1e-12 * want);
        return static_cast<double>(work.entries_read() - before) /
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
TEST(DriftBounds, ASampleOfColumnsMisleadsNobody) {
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
    const Vector beta = fit(problem, {.tolerance = 1e-10}).solution.beta;
    const Work work;
    DriftBounds correlation(problem, work);
    correlation.move_to(y);
    correlation.evaluate_dual_norm(problem, Vector::Zero(kColumns), {}, Selection::first(kColumns));
    const auto read = [&](const Problem& at, const Vector& b, const Selection& columns) {
      correlation.move_to(y - make_iterate(at, b).eta);
      const Index before = work.entries_read();
      correlation.evaluate_dual_norm(at, b, nonzero_entries(b), columns);
      return work.entries_read() - before;
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

// The residual is the same, but not the columns that make it: what was found for the one must not stand
// for the other.
TEST(DriftBounds, EvaluatesTwinsEachForItself) {
  Random random(5);
  Eigen::MatrixXd x = random_matrix(random, 100, 30);
  x.col(1) = x.col(0);
  const Problem problem = dense_problem(x, random_vector(random, 100), Vector::LinSpaced(30, 3, 1));
  const Work work;
  DriftBounds correlation(problem, work);
  Vector beta = Vector::Zero(30);
  beta[0] = 0.5, beta[2] = -0.25;
  for (int step = 0; step < 20; ++step) {
    expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, 30));
    std::swap(beta[0], beta[1]);
    expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, 30));
    beta *= 1.01;
  }
}

// Columns leave a fit and are back in the next: the numbers of the whole design stand for them.
TEST(DriftBounds, EvaluatesPartsOfTheDesign) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem full = varied_problem(random, 25, 40);
    const Work work;
    DriftBounds correlation(full, work);
    Vector beta = Vector::Zero(full.design.cols());
    for (int step = 0; step < 8; ++step) {
      const IndexSet kept = random_columns(random, full.design.cols());
      if (kept.empty()) continue;
      const Problem part = restrict_to(full, kept);
      const double unit = full.loss->response().norm() / (1e-300 + full.design.norms().maxCoeff());
      for (double& entry : beta)
        if (random.chance(0.2)) entry = random.chance(0.5) ? 0 : unit * random.normal();
      expect_certificate_of_a_full_pass(correlation, part, restrict_to(beta, kept), kept);
    }
  }
}

// A fit that solved the columns left, but not the full problem, goes on with the former: their X'r takes the
// place of that of all columns again, and columns that the check has read stay exact. Newton's method itself
// does not get there: as long as working sets are solved and the objective falls, r stays within the ball
// that dropped the columns, up to rounding.
TEST(DriftBounds, GoBackFromAFullCheckToTheColumnsLeft) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem full = varied_problem(random, seed % 2 == 0 ? 25 : 120, 40);
    const Index p = full.design.cols();
    if (random.chance(0.5)) full.at_zero = std::make_shared<const AtZero>(at_zero(full));
    const Work work;
    DriftBounds correlation(full, work);
    const IndexSet kept = random_columns(random, p);
    if (kept.empty()) continue;
    const Problem left = restrict_to(full, kept);
    const double unit = full.loss->response().norm() / (1e-300 + full.design.norms().maxCoeff());
    Vector beta = Vector::Zero(std::ssize(kept));
    for (int step = 0; step < 4; ++step) {
      for (double& entry : beta)
        if (random.chance(0.2)) entry = random.chance(0.5) ? 0 : unit * random.normal();
      expect_certificate_of_a_full_pass(correlation, left, beta, kept);
      expect_certificate_of_a_full_pass(correlation, full, expand(beta, kept, p), all_but({}, p));
      const Index before = work.entries_read();
      expect_certificate_of_a_full_pass(correlation, left, beta, kept);
      EXPECT_LE(work.entries_read() - before, left.design.stored_entries());
      for (const Index k : nonzero_entries(beta))
        EXPECT_TRUE(correlation.exact(kept[static_cast<std::size_t>(k)]));
    }
  }
}

// Around a solution, where J°(X'r) is that of the support.
TEST(DriftBounds, ReadsLittleWhereTheResidualMovesLittle) {
  Random random(2);
  for (const char* weights : {"oscar", "bh", "lasso"}) {
    SCOPED_TRACE(weights);
    Problem problem = simulated_problem(random, 50, 2000, make_weights(weights, {50, 2000, 0.1}), 0.5);
    Vector beta = fit(problem, {.solver = "apgd"}).solution.beta;
    const Work work;
    DriftBounds correlation(problem, work);
    expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, 2000));
    for (int step = 0; step < 5; ++step) {
      beta *= 1 - 1e-4;
      const Vector r = problem.loss->response() - make_iterate(problem, beta).eta;
      const Index before = work.entries_read();
      correlation.move_to(r);
      correlation.evaluate_dual_norm(problem, beta, nonzero_entries(beta), all_but({}, 2000));
      EXPECT_LE(work.entries_read() - before, 50 * 2000 / 10);
      expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, 2000));
    }
  }
}

// Where a sample says that most columns have to be read, all are, without a ranking. With a share of 0 it
// always says so.
TEST(DriftBounds, ASampleMayAskForAllColumns) {
  Random random(3);
  const Index p = 64;
  Problem problem = simulated_problem(random, 200, p, make_weights("bh", {200, p, 0.1}), 0.5);
  const Vector solution = fit(problem, {.solver = "apgd"}).solution.beta;
  const auto read_near_solution = [&](const Tuning::Reading& tuning) {
    const Work work;
    DriftBounds correlation(problem, work, tuning);
    Vector beta = solution;
    expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, p));
    beta *= 1 - 1e-4;
    correlation.move_to(problem.loss->response() - make_iterate(problem, beta).eta);
    const Index before = work.entries_read();
    correlation.evaluate_dual_norm(problem, beta, nonzero_entries(beta), all_but({}, p));
    const Index read = work.entries_read() - before;
    expect_certificate_of_a_full_pass(correlation, problem, beta, all_but({}, p));
    return read;
  };
  Tuning::Reading tuning;
  tuning.short_column_in_cache = 0;
  EXPECT_LT(read_near_solution(tuning), 200 * p / 2);
  tuning.sample = 8;
  EXPECT_LT(read_near_solution(tuning), 200 * p / 2) << "most columns do not matter";
  tuning.sample_share = -1;
  EXPECT_GE(read_near_solution(tuning), 200 * p);
}

}  // namespace
}  // namespace tyto
