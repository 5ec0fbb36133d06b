#include "tyto/select/criteria.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};
Data simulated(Index n, Index p, std::uint64_t seed) {
  Random random(seed);
  Data data{random_matrix(random, n, p), random_vector(random, n)};
  data.y += data.x.leftCols(std::min<Index>(3, p)).rowwise().sum();
  data.y.array() += 7;
  return data;
}

// By the definitions, from the coefficients alone.
void expect_as_naive(const Data& data, bool intercept, std::optional<double> sigma) {
  RegressionOptions options;
  options.intercept = intercept;
  const Regression regression = make_regression(Design::dense(data.x), data.y, options);
  PathOptions grid;
  grid.steps = 15;
  const Path path = fit_path(regression, grid);
  const auto found = criteria(path, regression.problem, sigma);
  ASSERT_EQ(found.size(), path.steps.size());
  const auto n = static_cast<double>(data.y.size());
  std::vector<double> squares, freedom;
  for (const PathStep& step : path.steps) {
    const Vector beta = step.beta;
    const Vector prediction =
        data.x * regression.coefficients(beta) + Vector::Constant(data.y.size(), regression.intercept(beta));
    std::set<double> magnitudes;
    for (const double b : beta)
      if (b != 0) magnitudes.insert(std::abs(b));
    squares.push_back((data.y - prediction).squaredNorm());
    freedom.push_back(static_cast<double>(magnitudes.size()) + (intercept ? 1 : 0));
  }
  std::size_t last = found.size() - 1;
  while (freedom[last] >= n) --last;
  const double variance = sigma ? *sigma * *sigma : squares[last] / (n - freedom[last]);
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].freedom, freedom[k]);
    const double fit = n * std::log(squares[k] / n);
    EXPECT_NEAR(found[k].aic, fit + 2 * freedom[k], 1e-9 * std::abs(fit));
    EXPECT_NEAR(found[k].bic, fit + std::log(n) * freedom[k], 1e-9 * std::abs(fit));
    ASSERT_EQ(found[k].cp.has_value(), sigma || data.x.cols() < data.x.rows());
    EXPECT_NEAR(found[k].cp.value_or(0), found[k].cp ? squares[k] / variance - n + 2 * freedom[k] : 0,
                1e-9 * squares[k] / variance);
  }
}

TEST(Criteria, AreTheirDefinitions) {
  for (const bool intercept : {true, false})
    for (const std::optional<double> sigma : {std::optional<double>(), std::optional<double>(1.5)}) {
      expect_as_naive(simulated(40, 8, 1), intercept, sigma);
      expect_as_naive(simulated(10, 9, 2), intercept, sigma);  // no degrees of freedom are left at the end
      expect_as_naive(simulated(12, 30, 3), intercept, sigma);
    }
}

PathStep step_of(double residual_norm, Index clusters) {
  PathStep step;
  step.residual_norm = residual_norm, step.clusters = clusters, step.beta.resize(4);
  for (Index k = 0; k < clusters; ++k) step.beta.insert(k) = static_cast<double>(k + 1);
  return step;
}

TEST(Criteria, PerfectFitsAreFinite) {
  Random random(4);
  const Problem problem =
      dense_problem(random_matrix(random, 9, 4), random_vector(random, 9), Vector::Ones(4));
  Path path;
  path.steps = {step_of(problem.loss->response().norm(), 0), step_of(0, 2), step_of(0, 3)};
  const auto found = criteria(path, problem);
  for (const Criteria& one : found) {
    EXPECT_TRUE(std::isfinite(one.aic) && std::isfinite(one.bic));
    EXPECT_FALSE(one.cp);  // the weakest penalty leaves no residual to take a variance from
  }
  EXPECT_EQ(choose(found, Criterion::kAic, 9).step, 1);  // as good as the next, and smaller
  EXPECT_EQ(choose(found, Criterion::kBic, 9).freedom, 2);
  EXPECT_THROW(choose(found, Criterion::kCp, 9), InvalidArgument);
}

TEST(Criteria, OneRowAndAConstantResponse) {
  const auto of = [](const Vector& y) {
    const Regression regression =
        make_regression(Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Ones(y.size(), 2))), y, {});
    const Path path = fit_path(regression);
    const auto found = criteria(path, regression.problem);
    for (const Criteria& one : found) EXPECT_TRUE(std::isfinite(one.aic) && std::isfinite(one.bic));
    return choose(found, Criterion::kAic, static_cast<double>(y.size())).step;
  };
  EXPECT_EQ(of(Vector::Constant(1, 3)), 0);
  EXPECT_EQ(of(Vector::Constant(5, 3)), 0);
}

// Rows that count several times are as good as so many rows; unpenalised columns take a degree of freedom.
TEST(Criteria, WeightsAndUnpenalizedColumns) {
  const Data data = simulated(20, 6, 5);
  RegressionOptions weighted, repeated;
  weighted.unpenalized = repeated.unpenalized = {4};
  weighted.observation_weights = Vector::NullaryExpr(20, [](Index i) { return static_cast<double>(i % 3); });
  IndexSet rows;
  for (Index i = 0; i < 20; ++i) rows.insert(rows.end(), static_cast<std::size_t>(i % 3), i);
  const auto of = [](const Eigen::MatrixXd& x, const Vector& y, const RegressionOptions& options) {
    const Regression regression = make_regression(Design::dense(x), y, options);
    PathOptions grid;
    grid.steps = 6, grid.ratio = 0.1;
    return criteria(fit_path(regression, grid, {.tolerance = 1e-11}), regression.problem);
  };
  const auto by_weight = of(data.x, data.y, weighted),
             by_row = of(data.x(rows, Eigen::all), data.y(rows), repeated);
  EXPECT_EQ(by_weight[0].freedom, 2);
  for (std::size_t k = 0; k < by_row.size(); ++k) {
    EXPECT_EQ(by_weight[k].freedom, by_row[k].freedom);
    EXPECT_NEAR(by_weight[k].aic, by_row[k].aic, 1e-5);
    EXPECT_NEAR(by_weight[k].bic, by_row[k].bic, 1e-5);
    EXPECT_NEAR(by_weight[k].cp.value(), by_row[k].cp.value(), 1e-4);
  }
}

TEST(Criteria, TheStrongestOfEqualsAndNoSaturatedOne) {
  std::vector<Criteria> all{{1, 5, 9, {}}, {2, 3, 8, {}}, {3, 3, 8, {}}, {10, -100, -100, {}}};
  EXPECT_EQ(choose(all, Criterion::kAic, 10).step, 1);
  EXPECT_EQ(choose(all, Criterion::kAic, 11).step, 3);
  EXPECT_EQ(choose(all, Criterion::kBic, 10).value, 8);
  EXPECT_EQ(choose(all, Criterion::kAic, 1).step, 0);  // all of them saturated
  EXPECT_THROW(choose({}, Criterion::kAic, 10), InvalidArgument);
}

TEST(Criteria, Names) {
  for (const std::string& text : criterion_names()) EXPECT_EQ(name(parse_criterion(text)), text);
  EXPECT_THROW(parse_criterion("hq"), InvalidArgument);
  EXPECT_THROW(
      criteria({}, dense_problem(Eigen::MatrixXd::Ones(2, 1), Vector::Ones(2), Vector::Ones(1)), -1.0),
      InvalidArgument);
}

// Degrees of freedom are sum_i cov(fitted_i, y_i) / sigma^2 (Efron), and their estimate is the number of
// clusters.
TEST(Criteria, ClustersAreDegreesOfFreedom) {
  Random random(6);
  const Index n = 30, p = 12;
  const Eigen::MatrixXd x = random_matrix(random, n, p);
  const Vector mean = x.leftCols(4).rowwise().sum();
  const SortedL1 penalty(12 * make_weights("linear", {n, p, 0.1}));
  double clusters = 0, covariance = 0, squares = 0;
  const int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    const Vector noise = random_vector(random, n);
    const Problem problem{Design::dense(x), mean + noise, penalty};
    const Fit one = fit(problem, {.tolerance = 1e-10});
    std::set<double> magnitudes;
    for (const double b : one.solution.beta)
      if (b != 0) magnitudes.insert(std::abs(b));
    clusters += static_cast<double>(magnitudes.size());
    const double product = (one.solution.eta - mean).dot(noise);
    covariance += product, squares += product * product;
  }
  const double average = covariance / rounds,
               standard_error = std::sqrt((squares / rounds - average * average) / rounds);
  EXPECT_GT(clusters / rounds, 3);
  EXPECT_LT(standard_error, 0.2);
  EXPECT_NEAR(clusters / rounds, average, 4 * standard_error);
}

}  // namespace
}  // namespace tyto
