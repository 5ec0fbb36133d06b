#include "tyto/solve/published.h"

#include <gtest/gtest.h>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/base/error.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Problem simulated(double strength) {
  Random random(7);
  return simulated_problem(random, 60, 40, make_weights("oscar", {60, 40, 0.1}), strength);
}

FitOptions options(std::string_view solver, std::string_view variant, std::string_view rule) {
  FitOptions result;
  result.solver = solver;
  result.variant = variant;
  result.screening = rule;
  result.tolerance = 1e-8;
  return result;
}

TEST(Published, BothAreCertifiedWithEveryRule) {
  for (const std::string_view solver : {"apgd", "spgd"})
    for (const std::string_view rule : {"none", "seed", "safe", "strong"})
      for (const double strength : {0.5, 0.1}) {
        SCOPED_TRACE(testing::Message() << solver << " " << rule << " " << strength);
        const Problem problem = simulated(strength);
        expect_certified(problem, fit(problem, options(solver, "published", rule)), 1e-8);
      }
}

TEST(Published, ApgdReadsXTwiceAnIteration) {
  const Problem problem = simulated(0.1);
  const Fit result = fit(problem, options("apgd", "published", "none"));
  const auto epochs = static_cast<double>(result.epochs);
  EXPECT_GE(result.passes, 2 * epochs);
  EXPECT_LE(result.passes, 2.3 * epochs + 20)
      << "a step bound that is doubled a few times, and X z now and then";
}

TEST(Published, TheMomentumGoesOnUnlessThePrintedResetIsAskedFor) {
  const Problem problem = simulated(0.1);
  const Index without = fit(problem, options("apgd", "published", "none")).epochs;
  EXPECT_EQ(fit(problem, options("apgd", "printed", "none")).epochs, without) << "no column leaves";
  const Fit reset = fit(problem, options("apgd", "printed", "seed"));
  expect_certified(problem, reset, 1e-8);
  EXPECT_GT(reset.screened, 0);
  EXPECT_NE(reset.epochs, fit(problem, options("apgd", "published", "seed")).epochs);
}

TEST(Published, SpgdDivergesWithALongStepAndEndsAsStalled) {
  const Problem problem = simulated(0.2);
  FitOptions wild = options("spgd", "published", "none");
  wild.stochastic = {.batch = 5, .inner_steps = 50, .step_size = 10};
  const Fit result = fit(problem, wild);
  EXPECT_EQ(result.status, Status::kStalled);
  EXPECT_LT(result.epochs, 10);
  expect_certificate_holds(problem, result.solution.beta);
}

TEST(Published, SameSeedSameRun) {
  const Problem problem = simulated(0.2);
  const FitOptions same = options("spgd", "published", "seed");
  EXPECT_EQ(fit(problem, same).solution.beta, fit(problem, same).solution.beta);
}

TEST(Published, RidgeSignsAndSparseColumns) {
  Random random(6);
  const Eigen::MatrixXd x = random_float_exact(random, 50, 20, 0.2);
  Vector y = x.col(0) - x.col(1) + random_vector(random, 50);
  y.array() -= y.mean();
  for (const Storage storage : {Storage::kDense, Storage::kSparse})
    for (const bool nonnegative : {false, true})
      for (const std::string_view solver : {"apgd", "spgd"}) {
        SCOPED_TRACE(testing::Message() << name(storage) << " " << nonnegative << " " << solver);
        Problem problem{stored(x, storage).standardized(true, true), y,
                        SortedL1(Vector::LinSpaced(20, 2, 1), nonnegative)};
        problem.ridge = 3;
        problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
        expect_certified(problem, fit(problem, options(solver, "published", "seed")), 1e-8);
      }
}

// Their rule, by hand: at b = 0 with X = I the gap of r = y itself is 0, and what it lacks is feasibility.
TEST(Published, TheirRuleWantsAGapAndFeasibility) {
  Vector y(2), w(2);
  y << 3, 2;
  w << 2, 1;
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(2, 2), y, w);
  const Vector zero = Vector::Zero(2), solution = y - w;
  EXPECT_FALSE(published_rule_stops(problem, zero, 6.5, y, 1e-6)) << "3 - 2 + 2 - 1 is too much";
  EXPECT_TRUE(published_rule_stops(problem, zero, 6.5, y, 1.1)) << "2 < 1.1 * 2";
  EXPECT_TRUE(published_rule_stops(problem, solution, 5.5, w, 1e-6));
  EXPECT_FALSE(published_rule_stops(problem, 2 * solution, 5.5, w - solution, 1e-6)) << "the gap is not 0";
  FitOptions longer = options("apgd", "published", "none");
  longer.tolerance = 1e-12;
  const Fit result = fit(simulated(0.1), longer);
  ASSERT_GT(result.published_stop, 0);
  ASSERT_LT(result.published_stop, result.epochs);
  const TracePoint& at = result.trace[static_cast<std::size_t>(result.published_stop)];
  EXPECT_LT(at.gap, 1e-3 * at.primal);
  EXPECT_EQ(fit(simulated(0.1), options("apgd", "tyto", "none")).published_stop, -1);
}

TEST(Published, Mistakes) {
  const Problem problem = simulated(0.2);
  const auto message = [&](std::string_view solver, std::string_view variant) -> std::string {
    try {
      fit(problem, options(solver, variant, "safe"));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("newton", "published"), "variant: want apgd or spgd for 'published', got newton");
  EXPECT_EQ(message("auto", "printed"), "variant: want apgd or spgd for 'printed', got newton");
  EXPECT_EQ(message("apgd", "old"), "variant: want one of tyto, published, printed, got 'old'");
}

}  // namespace
}  // namespace tyto
