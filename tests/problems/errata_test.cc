// The paper's Algorithms 2 and 3 as they are printed, on the smallest problems where they fail
// (docs/paper.md).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"

namespace tyto {
namespace {

// 1/2 ||1 - b 1||^2 + w |b| with n rows: the solution is 1 - w / n.
Problem one_column(Index n, double weight) {
  return {Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Ones(n, 1))), Vector::Ones(n),
          SortedL1(Vector::Constant(1, weight))};
}

double soft(double v, double threshold) { return std::copysign(std::max(std::abs(v) - threshold, 0.0), v); }

TEST(Errata, Algorithm2WithTheMomentumSequenceAsStepSizeDiverges) {
  const double weight = 0.1;
  double beta = 0, before = 0, b = 0, t = 1;
  for (int k = 0; k < 50; ++k) {
    before = beta;
    beta = soft(b - t * (b - 1), t * weight);  // printed: the step is t_k, here with X'X = 1
    const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    b = beta + (t - 1) / next * (beta - before);
    t = next;
  }
  EXPECT_GT(std::abs(beta), 1e6);

  const Problem problem = one_column(1, weight);
  const Fit right = fit(problem, {.tolerance = 1e-12, .solver = "apgd", .screening = "none"});
  expect_certified(problem, right, 1e-12);
  EXPECT_NEAR(right.solution.beta[0], 0.9, 1e-6);
}

// All rows are alike, so that there is no chance in it: every batch of l rows gives the same direction.
double algorithm3_as_printed(int inner) {
  const double n = 3, weight = 0.1, eta = 0.1;
  double beta = 0;
  for (int k = 0; k < 50; ++k) {
    const double full = n * (beta - 1);
    double moving = beta;
    for (int t = 0; t < inner; ++t)
      moving = soft(moving - eta * ((moving - beta) + full), eta * weight);  // printed: a mean plus a sum
    beta = moving;
  }
  return beta;
}

TEST(Errata, Algorithm3WithACorrectionOnTheScaleOfTheMeanDiverges) {
  const double weight = 0.1, eta = 0.1;
  EXPECT_GT(std::abs(algorithm3_as_printed(200)), 1e6);

  const Problem problem = one_column(3, weight);
  FitOptions options{.tolerance = 1e-12, .solver = "spgd", .screening = "none"};
  options.stochastic = {.batch = 1, .inner_steps = 200, .step_size = eta};
  const Fit right = fit(problem, options);
  expect_certified(problem, right, 1e-12);
  EXPECT_NEAR(right.solution.beta[0], 1 - weight / 3, 1e-6);
}

// Whether it does depends on the step size times the number of inner steps.
TEST(Errata, Algorithm3AsPrintedConvergesWithFewInnerSteps) {
  EXPECT_NEAR(algorithm3_as_printed(5), 1 - 0.1 / 3, 1e-6);
}

// The same from the solver: `--variant printed` has the slip, `--variant published` does not.
TEST(Errata, TheVariantsHaveAlgorithm3AsPrintedAndAsPublished) {
  const Problem problem = one_column(3, 0.1);
  FitOptions options{.tolerance = 1e-9, .solver = "spgd", .screening = "none"};
  options.stochastic = {.batch = 1, .inner_steps = 200, .step_size = 0.1};
  options.variant = "published";
  expect_certified(problem, fit(problem, options), 1e-9);
  options.variant = "printed";
  EXPECT_EQ(fit(problem, options).status, Status::kStalled);
  options.stochastic.inner_steps = 5;
  expect_certified(problem, fit(problem, options), 1e-9);
}

}  // namespace
}  // namespace tyto
