#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/certified.h"
#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/select/regression.h"

namespace tyto {
namespace {

struct Data {
  Eigen::MatrixXd x;
  Vector y, rows;  // rows: their weights
};

Data random_data(Random& random, Index n, Index p) {
  Data data{random_float_exact(random, n, p, 0.6), random_vector(random, n), Vector::Ones(n)};
  data.y += data.x * random_vector(random, p);
  return data;
}

Fit solve(const Problem& problem, double tolerance = 1e-9) {
  FitOptions options;
  options.tolerance = tolerance;
  return fit(problem, options);
}

Design as_sparse(const Eigen::MatrixXd& x) { return Design::sparse(Sparse32(x.sparseView())); }

// Row weights of any range: some rows have next to all of the weight.
TEST(RegressionLaws, SparseIsDenseUnderAnyRowWeights) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Data data = random_data(random, random.between(3, 9), random.between(1, 4));
    const double decades = random.uniform(0, 12);
    for (double& weight : data.rows) weight = std::pow(10, random.uniform(-decades, decades));
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " decades " << decades);
    RegressionOptions options;
    options.observation_weights = data.rows;
    options.standardize = random.chance(0.7);
    options.strength = random.uniform(0.01, 0.5);
    const Regression dense = make_regression(Design::dense(data.x), data.y, options);
    const Regression sparse = make_regression(as_sparse(data.x), data.y, options);
    for (Index j = 0; j < data.x.cols(); ++j)
      EXPECT_NEAR(sparse.problem.design.scale(j), dense.problem.design.scale(j),
                  1e-12 * dense.problem.design.scale(j));
    const Fit a = solve(dense.problem), b = solve(sparse.problem);
    EXPECT_EQ(a.status, b.status);
    EXPECT_NEAR(b.certificate.primal, a.certificate.primal,
                1e-8 * a.certificate.primal + a.certificate.rounding + b.certificate.rounding);
    expect_certificate_holds(dense.problem, b.solution.beta);
  }
}

// (c w, alpha / c) is the same problem.
TEST(RegressionLaws, TheUnitOfTheWeightsDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const double c : {1e-300, 1e-200, 1e-30, 1e30, 1e200, seed % 2 == 0 ? 1e300 : 1e270}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " c " << c);
      Random random(seed);
      Data data = random_data(random, 12, 5);
      const double unit = seed % 2 == 0 ? 1 : 1e-30;
      RegressionOptions options;
      options.relative_to = RelativeTo::kAbsolute;
      options.weight_values = Vector::LinSpaced(5, 2, 0.5);
      options.strength = 3 * unit;
      const Vector y = unit * data.y;
      const Regression plain = make_regression(Design::dense(data.x), y, options);
      options.weight_values *= c;
      options.strength /= c;
      const Regression other = make_regression(Design::dense(data.x), y, options);
      const Fit want = solve(plain.problem), got = solve(other.problem);
      EXPECT_EQ(got.status, Status::kConverged);
      EXPECT_NEAR(got.certificate.primal, want.certificate.primal, 1e-12 * want.certificate.primal);
      EXPECT_LE((got.solution.beta - want.solution.beta).norm(), 1e-9 * want.solution.beta.norm());
      EXPECT_NEAR(other.alpha_max * c, plain.alpha_max, 1e-12 * plain.alpha_max);
      expect_certified(other.problem, got, 1e-9);
    }
}

// Such a strength was read as one of data where nothing is correlated: any multiplier will do there.
TEST(RegressionLaws, AMultiplierBelowAllDoublesIsRefused) {
  Random random(1);
  const Data data = random_data(random, 12, 5);
  const Vector y = 1e-30 * data.y;
  RegressionOptions options;
  options.weight_values = 1e300 * Vector::LinSpaced(5, 2, 0.5);
  EXPECT_THROW(make_regression(Design::dense(data.x), y, options), InvalidArgument);
  options.relative_to = RelativeTo::kCorrelation;
  options.strength = 1e-300;
  EXPECT_THROW(make_regression(Design::dense(data.x), y, options), InvalidArgument);
  options.strength = 0.1;
  EXPECT_GT(make_regression(Design::dense(data.x), y, options).alpha, 0);
  options.relative_to = RelativeTo::kAlphaMax;
  EXPECT_EQ(make_regression(Design::dense(data.x), Vector::Zero(12), options).alpha, 0.1);
}

// The objective of the coefficients as they are reported, from the data alone, and what extended precision
// may leave out of it.
struct Objective {
  naive::Real value = 0, error = 0;
};
Objective reported_objective(const Data& data, const Regression& regression, const Vector& beta) {
  using naive::Real;
  const DataScale model = regression.on_data_scale(beta);
  Objective result;
  for (Index i = 0; i < data.y.size(); ++i) {
    Real r = static_cast<Real>(data.y[i]) - static_cast<Real>(model.intercept());
    Real size = std::abs(data.y[i]) + std::abs(model.intercept());
    for (SparseBeta::InnerIterator it(model.coefficients); it; ++it) {
      const Real part = static_cast<Real>(it.value()) * static_cast<Real>(data.x(i, it.index()));
      r -= part;
      size += std::abs(part);
    }
    result.value += static_cast<Real>(data.rows[i]) * r * r / 2;
    result.error += 4 * std::numeric_limits<Real>::epsilon() * size * std::abs(r);
  }
  result.value += naive::value(regression.problem.penalty.weights(), beta);
  return result;
}

// Means that are large beside deviations, and columns that are not penalised.
TEST(RegressionLaws, TheObjectiveIsThatOfTheReportedCoefficients) {
  Index converged = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Data data = random_data(random, 12, 5);
    data.y.array() += std::pow(10, random.uniform(0, 12.5));
    data.x.col(1).array() += std::pow(10, random.uniform(0, 8));
    if (random.chance(0.5)) data.y += 1e6 * data.x.col(1);
    RegressionOptions options;
    options.strength = random.uniform(0.01, 0.5);
    options.standardize = false;
    if (random.chance(0.6)) options.unpenalized = {1};
    for (const bool sparse : {false, true}) {
      const Design design = sparse ? as_sparse(data.x) : Design::dense(data.x);
      const Regression regression = make_regression(design, data.y, options);
      const Fit result = solve(regression.problem, 1e-6);
      const Objective exact = reported_objective(data, regression, result.solution.beta);
      EXPECT_NEAR(result.certificate.primal, real(exact.value),
                  result.certificate.rounding + 1e-15 * result.certificate.primal + real(exact.error));
      converged += result.status == Status::kConverged ? 1 : 0;
    }
  }
  EXPECT_GT(converged, 200) << "the tolerance must not be out of reach for rounding that is made up";
}

}  // namespace
}  // namespace tyto
