// Weights of the rows, unpenalised columns, a ridge and non-negative coefficients are what they say: each is
// another plain problem in disguise, and both have the same minimum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/least_squares.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/base/error.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"

namespace tyto {
namespace {

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};

Data correlated(std::uint64_t seed, Index n, Index p) {
  Random random(seed);
  Eigen::MatrixXd x = random_float_exact(random, n, p, 0.7);
  for (Index j = 1; j < p; j += 3) x.col(j) += x.col(j - 1);
  Vector y = x.col(0) - 2 * x.col(p / 2) + 3 * random_vector(random, n);
  return {x, y.array() + 5};
}

Data rows_repeated(const Data& data, const std::vector<int>& times) {
  IndexSet rows;
  for (std::size_t i = 0; i < times.size(); ++i) rows.insert(rows.end(), times[i], static_cast<Index>(i));
  return {data.x(rows, Eigen::all), data.y(rows)};
}

class Extension : public ::testing::TestWithParam<std::tuple<std::string_view, Storage>> {
 protected:
  Fit solve(const Problem& problem) const {
    FitOptions options;
    options.solver = std::get<0>(GetParam()), options.tolerance = 1e-12;
    const Fit result = fit(problem, options);
    expect_certified(problem, result, 1e-12);
    return result;
  }
  Regression regression(const Data& data, const RegressionOptions& options) const {
    return make_regression(stored(data.x, std::get<1>(GetParam())), data.y, options);
  }
  // Both have the same minimum, and the same coefficients on the data's own scale.
  void expect_same(const Regression& a, const Regression& b) const {
    const Fit one = solve(a.problem), other = solve(b.problem);
    EXPECT_NEAR(one.certificate.primal, other.certificate.primal, 1e-9 * other.certificate.primal);
    EXPECT_NEAR(a.alpha, b.alpha, 1e-12 * b.alpha);
    const DataScale first = a.on_data_scale(one.solution.beta), second = b.on_data_scale(other.solution.beta);
    EXPECT_LE((first.coefficients - second.coefficients).norm(), 1e-4 * (1 + second.coefficients.norm()));
    EXPECT_NEAR(first.intercept(), second.intercept(), 1e-4 * (1 + std::abs(second.intercept())));
  }
};

std::vector<RegressionOptions> every_setting() {
  std::vector<RegressionOptions> all;
  for (const bool intercept : {true, false})
    for (const bool standardize : {true, false})
      for (const char* weights : {"oscar", "bh", "gaussian"}) {
        RegressionOptions options;
        options.intercept = intercept, options.standardize = standardize, options.weights = weights;
        options.strength = 0.2;
        all.push_back(options);
      }
  return all;
}

TEST_P(Extension, AWeightOfTwoIsARowTwiceAndOfZeroNone) {
  const Data data = correlated(1, 18, 9);
  const std::vector<int> times{1, 2, 0, 1, 3, 1, 1, 0, 2, 1, 1, 1, 2, 1, 1, 0, 1, 1};
  for (RegressionOptions options : every_setting()) {
    const Regression repeated = regression(rows_repeated(data, times), options);
    options.observation_weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 18).cast<double>();
    expect_same(regression(data, options), repeated);
  }
}

TEST_P(Extension, WeightsOfOneAreNone) {
  const Data data = correlated(2, 15, 20);
  for (RegressionOptions options : every_setting()) {
    const Regression plain = regression(data, options);
    options.observation_weights = Vector::Ones(15);
    expect_same(regression(data, options), plain);
  }
}

// sqrt(ridge) I below X and 0 below y.
TEST_P(Extension, ARidgeIsMoreRows) {
  for (const Index p : {8, 25}) {
    const Data data = correlated(3, 14, p);
    RegressionOptions options;
    options.intercept = options.standardize = false;
    for (const double ridge : {1e-3, 4.0, 900.0}) {  // squares of floats
      Data more{Eigen::MatrixXd::Zero(14 + p, p), Vector::Zero(14 + p)};
      more.x.topRows(14) = data.x, more.y.head(14) = data.y;
      more.x.bottomRows(p).diagonal().setConstant(static_cast<float>(std::sqrt(ridge)));
      options.ridge = 0;
      const Regression augmented = regression(more, options);
      options.ridge = std::pow(static_cast<double>(static_cast<float>(std::sqrt(ridge))), 2);
      expect_same(regression(data, options), augmented);
    }
  }
}

// With W the intercept and the unpenalised columns, X and y may be replaced by their residuals on W.
TEST_P(Extension, UnpenalizedColumnsAreProjectedOut) {
  const Data data = correlated(4, 20, 9);
  for (const bool weighted : {false, true})
    for (const bool intercept : {false, true}) {
      RegressionOptions options;
      options.intercept = intercept, options.standardize = false;
      options.unpenalized = {2, 7};
      Vector root = Vector::Ones(20);
      if (weighted) {
        for (Index i = 0; i < 20; ++i) root[i] = i % 5 == 0 ? 0 : 0.5 + 0.1 * static_cast<double>(i);
        options.observation_weights = root.cwiseAbs2();
      }
      const Regression left_alone = regression(data, options);
      const Fit result = solve(left_alone.problem);

      Eigen::MatrixXd w(20, 2 + intercept);
      w << data.x.col(2), data.x.col(7), Eigen::MatrixXd::Ones(20, intercept);
      w = root.asDiagonal() * w;
      const auto residual = [&](const Eigen::MatrixXd& v) {
        return Eigen::MatrixXd(v - w * least_squares(w, v));
      };
      const Eigen::MatrixXd x =
          residual(root.asDiagonal() * data.x(Eigen::all, IndexSet{0, 1, 3, 4, 5, 6, 8}));
      const Vector y = residual(root.cwiseProduct(data.y));
      const Problem projected{Design::dense(x), gaussian_loss(y), left_alone.problem.penalty};
      EXPECT_NEAR(alpha_max({projected.design, y, left_alone.shape}), left_alone.alpha_max,
                  1e-10 * left_alone.alpha_max);
      EXPECT_NEAR(solve(projected).certificate.primal, result.certificate.primal,
                  1e-9 * result.certificate.primal);

      // On the data's own scale nothing is left along W.
      const DataScale model = left_alone.on_data_scale(result.solution.beta);
      const Vector miss =
          root.cwiseProduct(data.y - data.x * model.coefficients - Vector::Constant(20, model.intercept()));
      EXPECT_LE((w.transpose() * miss).norm(), 1e-9 * w.norm() * data.y.norm());
      EXPECT_EQ(model.intercept() != 0, intercept);
    }
}

TEST_P(Extension, UnpenalizedColumnsThatDependOnOthersCountOnce) {
  Data data = correlated(5, 20, 9);
  data.x.col(7) = 2 * data.x.col(2).array() - 1;
  RegressionOptions options;
  options.unpenalized = {2};
  const Regression one = make_regression(Design::dense(data.x), data.y, options);
  options.unpenalized = {2, 7};
  const Regression both = make_regression(Design::dense(data.x), data.y, options);
  EXPECT_EQ(both.free, IndexSet{2});
  EXPECT_EQ(both.problem.design.cols(), 7);
  options.unpenalized = {2};
  const Fit result = solve(both.problem);
  EXPECT_EQ(both.on_data_scale(result.solution.beta).coefficients.coeff(7), 0);
  // A penalised column in the span of the others has nothing left, and no coefficient.
  const Fit with_it = solve(one.problem);
  EXPECT_EQ(with_it.solution.beta[6], 0);
}

// Against many plain steps of projected proximal gradient.
TEST_P(Extension, NonnegativeCoefficientsAreTheBestThere) {
  for (std::uint64_t seed = 10; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Data data = correlated(seed, 12, 5);
    RegressionOptions options;
    options.nonnegative = true, options.standardize = seed % 2 == 0, options.strength = 0.05;
    options.ridge = seed % 3 == 0 ? 0.5 : 0;
    const Regression regression = this->regression(data, options);
    const Fit result = solve(regression.problem);
    EXPECT_GE(result.solution.beta.minCoeff(), 0);

    Eigen::MatrixXd x(12, 5);
    for (Index j = 0; j < 5; ++j) {
      Vector one = Vector::Zero(5), eta;
      one[j] = 1;
      regression.problem.design.multiply(one, eta);
      x.col(j) = eta;
    }
    const SortedL1 penalty(regression.problem.penalty.weights());
    const double step = 1 / (x.squaredNorm() + options.ridge);
    Vector b = Vector::Zero(5);
    Vector before = Vector::Ones(5);
    for (int i = 0; i < 200'000 && (b - before).norm() > 1e-16 * b.norm(); ++i) {
      before = b;
      b += step * (x.transpose() * (regression.problem.loss->response() - x * b) - options.ridge * b);
      b = b.cwiseMax(0);
      penalty.prox(b, step);
    }
    const double objective = 0.5 * (regression.problem.loss->response() - x * b).squaredNorm() +
                             0.5 * options.ridge * b.squaredNorm() + penalty.value(b);
    EXPECT_NEAR(result.certificate.primal, objective, 1e-9 * objective);
    EXPECT_LE(result.certificate.primal, objective * (1 + 1e-12));
  }
}

TEST_P(Extension, NothingThatMayBePositiveLeavesZero) {
  Data data = correlated(6, 12, 3);
  for (Index j = 0; j < 3; ++j)
    if (data.x.col(j).dot(data.y) > 0) data.x.col(j) *= -1;
  RegressionOptions options;
  options.nonnegative = true, options.intercept = options.standardize = false;
  const Regression regression = this->regression(data, options);
  EXPECT_EQ(regression.alpha_max, 0);
  const Fit result = solve(regression.problem);
  EXPECT_EQ(result.solution.beta, Vector::Zero(3));
  EXPECT_LE(result.certificate.gap, 1e-12 * result.certificate.primal);
}

// All of it together along a path, each answer judged on its own.
TEST_P(Extension, APathOfEverythingIsCertified) {
  const Data data = correlated(7, 30, 40);
  RegressionOptions options;
  options.nonnegative = true, options.ridge = 2, options.unpenalized = {3, 11};
  options.observation_weights = Vector::LinSpaced(30, 0, 3);
  const Regression regression = this->regression(data, options);
  PathOptions grid;
  grid.steps = 20;
  FitOptions fitting;
  fitting.solver = std::get<0>(GetParam()), fitting.tolerance = 1e-9;
  const Path path = fit_path(regression, grid, fitting);
  ASSERT_EQ(path.steps.size(), 20U);
  EXPECT_GT(path.steps.back().nonzeros(), 3);
  for (const PathStep& step : path.steps) {
    Fit whole = step.expanded();
    expect_certified(regression.at(step.alpha).problem, whole, 1e-9);
    Vector eta;
    regression.problem.design.multiply(whole.solution.beta, eta);
    const double left = (regression.problem.loss->response() - eta).squaredNorm() /
                        regression.problem.loss->response().squaredNorm();
    EXPECT_NEAR(step.explained, 1 - left, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Extension,
                         ::testing::Combine(::testing::Values("newton", "apgd", "spgd"),
                                            ::testing::Values(Storage::kDense, Storage::kFloat,
                                                              Storage::kSparse)),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param)) + "_" +
                                  name(std::get<1>(shown.param));
                         });

// A response that unpenalised columns explain, but for rounding, leaves nothing to fit; nor do penalised
// columns that they span.
TEST(Extensions, NothingIsLeftInTheSpanOfUnpenalizedColumns) {
  Data data = correlated(9, 20, 5);
  data.y = 2 + 3 * data.x.col(1).array();
  data.x.col(3) = 1 - 4 * data.x.col(1).array() + 0.5 * data.x.col(2).array();
  RegressionOptions options;
  options.unpenalized = {1, 2};
  for (const Storage storage : {Storage::kDense, Storage::kSparse})
    for (const bool standardize : {true, false}) {
      options.standardize = standardize;
      const Regression regression = make_regression(stored(data.x, storage), data.y, options);
      EXPECT_EQ(regression.problem.loss->response(), Vector::Zero(20));
      EXPECT_EQ(regression.alpha_max, 0);
      EXPECT_EQ(regression.problem.design.norms()[1], 0);
      Vector correlation;
      Random random(1);
      regression.problem.design.transpose_multiply(random_vector(random, 20), correlation);
      EXPECT_EQ(correlation[1], 0);
      EXPECT_NE(correlation[0], 0);
      const DataScale model = regression.on_data_scale(Vector::Zero(3));
      EXPECT_NEAR(model.coefficients.coeff(1), 3, 1e-12);
      EXPECT_NEAR(model.intercept(), 2, 1e-11);
      EXPECT_NEAR(model.coefficients.coeff(2), 0, 1e-12);
      EXPECT_EQ(model.coefficients.coeff(3), 0);
    }
}

TEST(Extensions, MistakesAreNamed) {
  const Data data = correlated(8, 6, 4);
  const auto message = [&](const RegressionOptions& options) -> std::string {
    try {
      make_regression(Design::dense(data.x), data.y, options);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  RegressionOptions options;
  options.observation_weights = Vector::Ones(5);
  EXPECT_EQ(message(options), "observation-weights: want 6 finite numbers >= 0 that are not all 0");
  options.observation_weights = Vector::Zero(6);
  EXPECT_EQ(message(options), "observation-weights: want 6 finite numbers >= 0 that are not all 0");
  options.observation_weights = Vector::LinSpaced(6, 2, -3);
  EXPECT_EQ(message(options), "observation-weights: row 3: want a finite number >= 0, got -1");
  options.observation_weights = {};
  options.unpenalized = {4};
  EXPECT_EQ(message(options), "unpenalized: want columns from 0 to 3, each once, got 4");
  options.unpenalized = {1, 1};
  EXPECT_EQ(message(options), "unpenalized: want columns from 0 to 3, each once, got 1");
  options.unpenalized = {0, 1, 2, 3};
  EXPECT_EQ(message(options), "unpenalized: want at least one column that is penalised, got none");
  options.unpenalized = {2};
  Data huge = data;
  huge.x.col(2) *= 1e200;
  try {
    make_regression(Design::dense(huge.x), huge.y, options);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "design: column 2: want finite numbers whose squares can be added");
  }
  options.unpenalized = {};
  options.ridge = -1;
  EXPECT_EQ(message(options), "ridge: want a finite number >= 0, got -1");
}

}  // namespace
}  // namespace tyto
