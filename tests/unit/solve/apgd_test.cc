#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tyto/math/entries.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Problem simulated(double strength) {
  Random random(7);
  return simulated_problem(random, 50, 100, make_weights("oscar", {50, 100, 0.1}), strength);
}

FitOptions options(std::string_view rule, double tolerance) {
  FitOptions result;
  result.solver = "apgd", result.screening = rule, result.tolerance = tolerance;
  return result;
}

// A wrong gradient at the momentum point (a combination of two that are known) would not converge so far.
TEST(Apgd, ConvergesToTheLimitsOfRounding) {
  const Problem problem = simulated(0.1);
  expect_certified(problem, fit(problem, options("none", 1e-13)), 1e-13);
}

// One step by hand: from 0 the momentum is 0 and the step is 1 / L with backtracking.
TEST(Apgd, FirstStepIsAProximalGradientStep) {
  const Problem problem = simulated(0.3);
  const auto solver = find_solver("apgd").make({});
  Iterate x = make_iterate(problem, Vector::Zero(100));
  const Certificate c = certify(problem, x);
  const Vector ascent = correlation(problem, x);
  const Work work;
  solver->attach(problem, x, work);
  const IndexSet support = solver->advance(problem, x, c, ascent, {});
  EXPECT_EQ(support, nonzero_entries(x.beta));
  Vector eta;
  problem.design.multiply(x.beta, eta);
  EXPECT_LE((eta - x.eta).norm(), 1e-12 * eta.norm());
  // b = prox(g / L) gives g - L b in the subdifferential of J at b, for the L that was used.
  const double lipschitz = (ascent.dot(x.beta) - problem.penalty.value(x.beta)) / x.beta.squaredNorm();
  EXPECT_GE(lipschitz * x.beta.squaredNorm() * (1 + 1e-9), x.eta.squaredNorm()) << "the step is too long";
  EXPECT_NEAR(problem.penalty.dual_norm(ascent - lipschitz * x.beta), 1, 1e-9);
}

// The epochs measured here, with a third more: a step size or a momentum that has gone bad costs far more.
TEST(Apgd, TakesFewEpochs) {
  EXPECT_LE(fit(simulated(0.5), options("safe", 1e-9)).epochs, 60);
  EXPECT_LE(fit(simulated(0.1), options("safe", 1e-9)).epochs, 200);
  EXPECT_LE(fit(simulated(0.01), options("safe", 1e-9)).epochs, 1000);
}

// Momentum goes on when zeros leave, and L falls: screening may not cost epochs beyond a few.
TEST(Apgd, ScreeningCostsNoEpochs) {
  for (const double strength : {0.5, 0.1, 0.01}) {
    SCOPED_TRACE(strength);
    const Problem problem = simulated(strength);
    const Index without = fit(problem, options("none", 1e-9)).epochs;
    for (const std::string_view rule : {"seed", "safe"}) {
      const Fit with = fit(problem, options(rule, 1e-9));
      EXPECT_GT(with.screened, 0);
      EXPECT_LE(with.epochs, without + without / 4 + 10) << rule;
    }
  }
}

TEST(Apgd, ObjectiveNeverRisesForLong) {
  const Fit result = fit(simulated(0.01), options("none", 1e-10));
  Index rises = 0;
  for (std::size_t k = 1; k < result.trace.size(); ++k)
    rises += result.trace[k].primal > result.trace[k - 1].primal * (1 + 1e-14) ? 1 : 0;
  EXPECT_LE(rises, result.epochs / 10 + 2) << "each rise restarts the momentum";
}

TEST(Apgd, SolvesZeroAndDuplicateColumns) {
  Random random(3);
  Eigen::MatrixXd x = random_matrix(random, 20, 12);
  x.col(4).setZero();
  x.col(5) = x.col(1), x.col(6) = -x.col(1);
  Problem problem = dense_problem(x, random_vector(random, 20), Vector::LinSpaced(12, 2, 1));
  problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
  for (const std::string_view rule : {"none", "seed", "safe"}) {
    const Fit result = fit(problem, options(rule, 1e-12));
    expect_certified(problem, result, 1e-12);
    EXPECT_EQ(result.solution.beta[4], 0);
  }
}

TEST(Apgd, AllZeroDesignIsSolvedAtOnce) {
  Random random(4);
  const Problem problem =
      dense_problem(Eigen::MatrixXd::Zero(5, 3), random_vector(random, 5), Vector::Ones(3));
  const Vector start = Vector::Ones(3);
  for (const std::string_view rule : {"none", "safe"}) {
    const Fit result = fit(problem, options(rule, 1e-9), &start);
    expect_certified(problem, result, 1e-9);
    EXPECT_EQ(result.solution.beta, Vector::Zero(3)) << rule;
  }
}

}  // namespace
}  // namespace tyto
