#include "tyto/select/noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/least_squares.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

RegressionOptions words(const std::string& weights = "bh", double q = 0.1) {
  RegressionOptions options;
  options.weights = weights, options.q = q;
  return options;
}

// sqrt(RSS / degrees of freedom) of ordinary least squares on the support, with the intercept where there is
// one.
double naive_sigma(const Eigen::MatrixXd& x, const Vector& y, const IndexSet& support, bool intercept) {
  Eigen::MatrixXd columns(x.rows(), std::ssize(support) + (intercept ? 1 : 0));
  if (intercept) columns.rightCols(1).setOnes();
  columns.leftCols(std::ssize(support)) = x(Eigen::all, support);
  const Vector residual = y - columns * least_squares(columns, y);
  return residual.norm() / std::sqrt(static_cast<double>(x.rows() - columns.cols()));
}

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};
Data simulated(Index n, Index p, Index signals, double sigma, std::uint64_t seed) {
  Random random(seed);
  Data data{random_matrix(random, n, p), sigma * random_vector(random, n)};
  data.y += 5 * sigma * data.x.leftCols(signals).rowwise().sum();
  data.y.array() += 3;
  return data;
}

TEST(Noise, IsCloseToTheTruthAndAFixedPoint) {
  for (const bool intercept : {true, false})
    for (const double sigma : {0.01, 3.0}) {
      Data data = simulated(400, 100, 5, sigma, 1);
      if (!intercept) data.y.array() -= 3;
      RegressionOptions options = words("gaussian", 0.05);
      options.intercept = intercept;
      const Regression regression = make_regression(Design::dense(data.x), data.y, options);
      const NoiseFit found = fit_estimating_noise(regression, {.tolerance = 1e-9});
      EXPECT_EQ(found.noise.status, NoiseStatus::kConverged);
      EXPECT_NEAR(found.noise.sigma, sigma, 0.15 * sigma);
      expect_certified(found.regression.problem, found.fit, 1e-9);
      const IndexSet support = nonzero_entries(found.fit.solution.beta);
      EXPECT_GE(support.size(), 5U);
      EXPECT_NEAR(found.noise.sigma, naive_sigma(data.x, data.y, support, intercept), 1e-9 * sigma);
      EXPECT_NEAR(found.regression.alpha, found.noise.sigma * 20,
                  1e-9 * found.regression.alpha);  // sqrt(400)
      EXPECT_GE(found.noise.iterations, 2);
    }
}

TEST(Noise, UnitIsTheLengthOfColumns) {
  Random random(2);
  Eigen::MatrixXd x = random_matrix(random, 16, 4);
  x.col(2).setConstant(5);
  const Design raw = Design::dense(x);
  EXPECT_NEAR(noise_unit(raw.standardized(true, true)), 4, 1e-12);
  EXPECT_NEAR(noise_unit(raw.standardized(false, true)), 4, 1e-12);
  EXPECT_NEAR(noise_unit(raw), x.norm() / 2, 1e-12);
  EXPECT_EQ(noise_unit(Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Zero(9, 2)))), 3);
  const Regression regression = make_regression(raw, random_vector(random, 16), words());
  EXPECT_NEAR(at_noise(regression, 2.5).alpha, 10, 1e-11);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(at_noise(regression, bad), InvalidArgument);
}

// Selecting a column that explains less than its degree of freedom raises sigma, which drops it again.
TEST(Noise, CyclesAreSeen) {
  Random random(3);
  const Index n = 10;
  Eigen::MatrixXd q = random_matrix(random, n, 4);  // made orthonormal
  q.col(0).setOnes();
  for (Index k = 0; k < 4; ++k) {
    q.col(k) -= q.leftCols(k) * least_squares(q.leftCols(k), q.col(k));
    q.col(k).normalize();
  }
  const Eigen::MatrixXd x = q.middleCols(1, 2);
  // bh weights for q = 1 and p = 2 are (0.6745, 0). A share r^2 of y along the first column is selected at
  // ||y|| / 3 if 3 r > 0.6745, and explains less than its degree of freedom if 9 r^2 < 1.
  const double r = 0.68 / 3;
  const Vector y = r * q.col(1) + std::sqrt(1 - r * r) * q.col(3);
  const Regression regression = make_regression(Design::dense(x), y, words("bh", 1));
  const NoiseFit found = fit_estimating_noise(regression, {.tolerance = 1e-10});
  EXPECT_EQ(found.noise.status, NoiseStatus::kCycle);
  EXPECT_EQ(found.noise.iterations, 2);
  EXPECT_NEAR(found.noise.sigma, naive_sigma(x, y, {0}, true), 1e-10);
  EXPECT_GT(found.noise.sigma, naive_sigma(x, y, {}, true));
  EXPECT_EQ(found.fit.solution.beta[0], 0);
  expect_certified(found.regression.problem, found.fit, 1e-10);
}

TEST(Noise, LimitsEndIt) {
  const Data data = simulated(50, 20, 3, 1, 4);
  const Regression regression = make_regression(Design::dense(data.x), data.y, words());
  const NoiseFit one = fit_estimating_noise(regression, {}, {}, 1);
  EXPECT_EQ(one.noise.status, NoiseStatus::kLimit);
  EXPECT_EQ(one.noise.iterations, 1);
  EXPECT_NEAR(one.noise.sigma, naive_sigma(data.x, data.y, {}, true), 1e-12 * one.noise.sigma);
  const NoiseFit stopped = fit_estimating_noise(regression, {.tolerance = 1e-12, .solver = "apgd"},
                                                [](const auto&) { return false; });
  EXPECT_EQ(stopped.fit.status, Status::kInterrupted);
  EXPECT_EQ(stopped.noise.status, NoiseStatus::kLimit);
  EXPECT_THROW(fit_estimating_noise(regression, {}, {}, 0), InvalidArgument);
}

TEST(Noise, NoNoise) {
  Data data = simulated(50, 20, 0, 0, 5);
  data.y = 2 * data.x.col(3);
  const Regression regression = make_regression(Design::dense(data.x), data.y, words());
  const NoiseFit found = fit_estimating_noise(regression);
  EXPECT_EQ(found.noise.status, NoiseStatus::kNoNoise);
  EXPECT_GT(found.noise.sigma, 0);
  EXPECT_NE(found.fit.solution.beta[3], 0);
  expect_certified(found.regression.problem, found.fit, 1e-6);
  const Regression constant = make_regression(Design::dense(data.x), Vector::Constant(50, 4), words());
  const NoiseFit nothing = fit_estimating_noise(constant);
  EXPECT_EQ(nothing.noise.status, NoiseStatus::kNoNoise);
  EXPECT_EQ(nothing.noise.sigma, 0);
  EXPECT_TRUE(nothing.fit.solution.beta.isZero(0));
}

// Whatever the data, it ends, with an answer that is certified and says how it ended.
TEST(Noise, AlwaysEnds) {
  Random random(6);
  std::array<int, 5> seen{};
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Index n = random.between(1, 12), p = random.between(1, 40),
                signals = random.below(std::min<Index>(p, 5) + 1);
    Data data = simulated(n, p, signals, random.uniform(0.01, 3), static_cast<std::uint64_t>(round));
    RegressionOptions options = words(round % 2 == 0 ? "bh" : "gaussian", random.uniform(0.05, 1));
    options.intercept = random.chance(0.5), options.standardize = random.chance(0.5);
    const Regression regression = make_regression(Design::dense(data.x), data.y, options);
    const NoiseFit found = fit_estimating_noise(regression, {}, {}, 50);
    expect_certified(found.regression.problem, found.fit, 1e-6);
    ASSERT_TRUE(found.noise.status);
    EXPECT_LE(found.noise.iterations, 50);
    ++seen[static_cast<std::size_t>(*found.noise.status)];
    const Index selected = (found.fit.solution.beta.array() != 0).count(),
                left = n - (options.intercept ? 1 : 0);
    EXPECT_FALSE(found.noise.status == NoiseStatus::kConverged && selected >= left);
    EXPECT_FALSE(found.noise.status == NoiseStatus::kTooManySelected && selected < left);
  }
  for (const NoiseStatus status :
       {NoiseStatus::kConverged, NoiseStatus::kCycle, NoiseStatus::kTooManySelected})
    EXPECT_GT(seen[static_cast<std::size_t>(status)], 0) << name(status);
}

TEST(Noise, Names) {
  for (const char* text : {"converged", "cycle", "limit", "too_many_selected", "no_noise"})
    EXPECT_EQ(name(parse_noise_status(text)), text);
  EXPECT_THROW(parse_noise_status("fine"), DataError);
  EXPECT_NO_THROW(validate_noise_weights(words("gaussian")));
  EXPECT_THROW(validate_noise_weights(words("oscar")), InvalidArgument);
  RegressionOptions given = words();
  given.weight_values = Vector::Ones(3);
  EXPECT_THROW(validate_noise_weights(given), InvalidArgument);
}

}  // namespace
}  // namespace tyto
