#include "tyto/select/relax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/least_squares.h"
#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/select/path.h"

namespace tyto {
namespace {

Eigen::MatrixXd dense_columns(const Design& design) {
  Eigen::MatrixXd x(design.rows(), design.cols());
  const auto columns = naive::columns(design);
  for (Index j = 0; j < design.cols(); ++j)
    for (Index i = 0; i < design.rows(); ++i)
      x(i, j) = static_cast<double>(columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  return x;
}

// The signed sums of the columns of equal magnitude, and where each column is among them.
struct Sums {
  Eigen::MatrixXd z;
  std::map<Index, std::pair<Index, double>> place;  // column -> sum, sign
};
Sums naive_sums(const Eigen::MatrixXd& x, const Vector& beta) {
  std::map<double, Index, std::greater<>> numbers;
  for (const double b : beta)
    if (b != 0) numbers.emplace(std::abs(b), 0);
  Index next = 0;
  for (auto& [magnitude, number] : numbers) number = next++;
  Sums result{Eigen::MatrixXd::Zero(x.rows(), next), {}};
  for (Index j = 0; j < beta.size(); ++j) {
    if (beta[j] == 0) continue;
    const Index number = numbers.at(std::abs(beta[j]));
    const double sign = beta[j] > 0 ? 1 : -1;
    result.z.col(number) += sign * x.col(j);
    result.place[j] = {number, sign};
  }
  return result;
}

void expect_as_naive(const Problem& problem, const Vector& beta, double tolerance = 1e-9) {
  const Sums sums = naive_sums(dense_columns(problem.design), beta);
  const Vector want = least_squares(sums.z, problem.loss->response());
  const LeastSquares found = relax(problem, beta.sparseView());
  ASSERT_EQ(found.beta.size(), beta.size());
  ASSERT_EQ(found.beta.nonZeros(), static_cast<Index>(sums.place.size()));
  const double largest = want.size() > 0 ? want.lpNorm<Eigen::Infinity>() : 0;
  for (const auto& [column, at] : sums.place)
    EXPECT_NEAR(found.beta.coeff(column), at.second * want[at.first], tolerance * largest) << column;
  const Vector residual = problem.loss->response() - sums.z * want;
  EXPECT_NEAR(found.residual_norm, residual.norm(), tolerance * problem.loss->response().norm());
  const Vector gradient =
      sums.z.transpose() * (problem.loss->response() - make_iterate(problem, found.beta).eta);
  const double spread = Vector(found.beta).cwiseAbs().dot(problem.design.norms());  // what Xb rounds like
  for (Index k = 0; k < gradient.size(); ++k)
    EXPECT_LE(std::abs(gradient[k]),
              sums.z.col(k).norm() * (1e-12 * problem.loss->response().norm() + 1e-15 * spread))
        << k;
}

Vector with_ties(Random& random, Index p, Index levels, double density) {
  return Vector::NullaryExpr(p, [&](Index) {
    if (!random.chance(density)) return 0.0;
    return (random.chance(0.5) ? 1 : -1) * static_cast<double>(random.between(1, levels));
  });
}

Problem problem_of(const Design& raw, const Vector& y, bool intercept, bool standardize) {
  RegressionOptions options;
  options.intercept = intercept, options.standardize = standardize;
  return make_regression(raw, y, options).problem;
}

TEST(Relax, IsLeastSquaresOnTheSumsOfClusters) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const Index n = random.between(5, 40), p = random.between(1, 30);
    Eigen::MatrixXd x = random_float_exact(random, n, p, round % 3 == 0 ? 0.3 : 1.0);
    const Vector y = random_vector(random, n);
    const Vector beta = with_ties(random, p, random.between(1, 4), 0.6);
    for (const bool intercept : {true, false})
      for (const bool standardize : {true, false}) {
        expect_as_naive(problem_of(Design::dense(x), y, intercept, standardize), beta);
        expect_as_naive(
            problem_of(Design::dense(Eigen::MatrixXf(x.cast<float>())), y, intercept, standardize), beta);
        expect_as_naive(
            problem_of(
                Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView())), y,
                intercept, standardize),
            beta);
      }
  }
}

TEST(Relax, OfNothingIsNothing) {
  Random random(2);
  const Problem problem =
      dense_problem(random_matrix(random, 6, 3), random_vector(random, 6), Vector::Ones(3));
  const LeastSquares found = relax(problem, SparseBeta(3));
  EXPECT_EQ(found.beta.nonZeros(), 0);
  EXPECT_NEAR(found.residual_norm, problem.loss->response().norm(), 1e-15);
}

TEST(Relax, MoreClustersThanRowsGetTheShortestSolution) {
  Random random(3);
  for (const auto& [n, p] : std::vector<std::pair<Index, Index>>{{5, 9}, {1, 4}, {8, 8}, {20, 60}}) {
    const Problem problem =
        dense_problem(random_matrix(random, n, p), random_vector(random, n), Vector::Ones(p));
    const Vector beta = Vector::LinSpaced(p, 1, 2);
    expect_as_naive(problem, beta);
    const LeastSquares found = relax(problem, beta.sparseView());
    EXPECT_EQ(found.rank, n);
    EXPECT_LE(found.residual_norm, 1e-9 * problem.loss->response().norm());
  }
}

TEST(Relax, DependentColumnsShareTheirPart) {
  Random random(4);
  Eigen::MatrixXd x = random_matrix(random, 12, 3);
  x.col(1) = 3 * x.col(0);
  const Problem problem = dense_problem(x, random_vector(random, 12), Vector::Ones(3));
  Vector beta(3);
  beta << 1, 2, 3;
  expect_as_naive(problem, beta);
  const LeastSquares found = relax(problem, beta.sparseView());
  EXPECT_EQ(found.rank, 2);
  EXPECT_NEAR(found.beta.coeff(0), 3 * found.beta.coeff(1), 1e-10);  // equal in units of their lengths
  // A cluster whose columns cancel has no part.
  x.col(1) = x.col(0);
  beta << 1, -1, 3;
  const LeastSquares cancelled =
      relax(dense_problem(x, problem.loss->response(), Vector::Ones(3)), beta.sparseView());
  EXPECT_EQ(cancelled.beta.coeff(0), 0);
  EXPECT_EQ(cancelled.rank, 1);
}

TEST(Relax, NearlyDependentColumnsAreSolvedToRounding) {
  Random random(5);
  for (const double distance : {1e-3, 1e-5, 1e-7, 1e-9}) {
    SCOPED_TRACE(distance);
    Eigen::MatrixXd x = random_matrix(random, 30, 4);
    x.col(1) = x.col(0) + distance * x.col(1);
    const Problem problem = dense_problem(x, random_vector(random, 30), Vector::Ones(4));
    expect_as_naive(problem, Vector::LinSpaced(4, 1, 2), 1e-15 / distance / distance + 1e-9);
  }
}

TEST(Relax, ScalesOfColumnsDoNotMatter) {
  Random random(6);
  const Eigen::MatrixXd x = random_matrix(random, 20, 3);
  const Vector y = random_vector(random, 20), scales = Vector({{1e-8, 1, 1e9}}), beta = Vector({{1, 2, 3}});
  const LeastSquares plain = relax(dense_problem(x, y, Vector::Ones(3)), beta.sparseView());
  const LeastSquares scaled =
      relax(dense_problem(x * scales.asDiagonal(), y, Vector::Ones(3)), beta.sparseView());
  EXPECT_EQ(scaled.rank, 3);
  for (Index j = 0; j < 3; ++j)
    EXPECT_NEAR(scaled.beta.coeff(j) * scales[j], plain.beta.coeff(j), 1e-12) << j;
}

// A ridge is a row sqrt(ridge) for each coefficient.
TEST(Relax, ARidgeStays) {
  Random random(10);
  for (const Index n : {20, 4}) {
    Problem problem = dense_problem(random_matrix(random, n, 7), random_vector(random, n), Vector::Ones(7));
    const Vector beta = Vector({{2, -2, 0, 1, 3, 1, 4}});
    problem.ridge = 0.7;
    const Eigen::MatrixXd x = dense_columns(problem.design);
    Eigen::MatrixXd more(n + 7, 7);
    more << x, std::sqrt(0.7) * Eigen::MatrixXd::Identity(7, 7);
    Vector y = Vector::Zero(n + 7);
    y.head(n) = problem.loss->response();
    const Sums sums = naive_sums(more, beta);
    const Vector want = least_squares(sums.z, y);
    const LeastSquares found = relax(problem, beta.sparseView());
    for (const auto& [column, at] : sums.place)
      EXPECT_NEAR(found.beta.coeff(column), at.second * want[at.first], 1e-11) << column;
    EXPECT_NEAR(found.residual_norm, (problem.loss->response() - x * Vector(found.beta)).norm(), 1e-12);
    const Eigen::MatrixXd fitted = sums.z * least_squares(sums.z, Eigen::MatrixXd::Identity(n + 7, n + 7));
    EXPECT_NEAR(pattern_freedom(problem, beta.sparseView()), fitted.topLeftCorner(n, n).trace(), 1e-10);
    problem.ridge = 0;
    EXPECT_EQ(pattern_freedom(problem, beta.sparseView()), 4);
  }
}

// By hand: least squares on the intercept, the unpenalised column and the sums, rows repeated by weight.
TEST(Relax, WithWeightsAndUnpenalizedColumns) {
  Random random(11);
  const Index n = 25;
  const Eigen::MatrixXd x = random_matrix(random, n, 5);
  const Vector y = random_vector(random, n);
  RegressionOptions options;
  options.unpenalized = {1}, options.standardize = false;
  options.observation_weights = Vector::NullaryExpr(n, [](Index i) { return static_cast<double>(i % 3); });
  const Regression regression = make_regression(Design::dense(x), y, options);
  const Vector beta = Vector({{2, -2, 0, 1}});  // of columns 0, 2, 3, 4
  const auto [coefficients, intercepts] =
      regression.on_data_scale(relax(regression.problem, beta.sparseView()).beta);
  Eigen::MatrixXd z(n, 4);
  z << Vector::Ones(n), x.col(1), x.col(0) - x.col(2), x.col(4);
  const Vector roots = options.observation_weights.cwiseSqrt();
  const Vector want = least_squares(roots.asDiagonal() * z, roots.cwiseProduct(y));
  EXPECT_NEAR(intercepts[0], want[0], 1e-11);
  const std::vector<double> all{want[2], want[1], -want[2], 0, want[3]};
  for (Index j = 0; j < 5; ++j)
    EXPECT_NEAR(coefficients.coeff(j), all[static_cast<std::size_t>(j)], 1e-11) << j;
}

TEST(Relax, LeastSquaresOnColumns) {
  Random random(7);
  const Eigen::MatrixXd x = random_matrix(random, 15, 6);
  const Vector y = random_vector(random, 15);
  const IndexSet columns{1, 2, 5};
  const LeastSquares found = least_squares(dense_problem(x, y, Vector::Ones(6)), columns);
  const Vector want = least_squares(x(Eigen::all, columns), y);
  for (std::size_t k = 0; k < columns.size(); ++k)
    EXPECT_NEAR(found.beta.coeff(columns[k]), want[static_cast<Index>(k)], 1e-12);
  EXPECT_NEAR(found.residual_norm, (y - x(Eigen::all, columns) * want).norm(), 1e-12);
}

TEST(Relax, GammaMixes) {
  Random random(8);
  SparseBeta penalized(5), relaxed(5);
  for (const Index j : {0, 2, 4}) penalized.insert(j) = random.normal(), relaxed.insert(j) = random.normal();
  EXPECT_EQ(Vector(mixed(penalized, relaxed, 1)), Vector(penalized));
  EXPECT_EQ(Vector(mixed(penalized, relaxed, 0)), Vector(relaxed));
  const Vector quarter = mixed(penalized, relaxed, 0.25);
  EXPECT_LE((quarter - 0.75 * Vector(relaxed) - 0.25 * Vector(penalized)).norm(), 1e-15);
  for (const double bad : {-0.1, 1.1, std::nan("")})
    EXPECT_THROW(validate_gamma(bad, false), InvalidArgument);
  EXPECT_THROW(validate_gamma(0.5, true), InvalidArgument);
}

// Residuals of least squares are orthogonal to the pattern, so that ||r||^2 grows with gamma^2 from there.
TEST(Relax, ResidualsAlongGamma) {
  Random random(9);
  const Eigen::MatrixXd x = random_matrix(random, 40, 15);
  const Vector y = x.leftCols(3).rowwise().sum() + random_vector(random, 40);
  const Regression regression = make_regression(Design::dense(x), y, {});
  PathOptions few;
  few.steps = 8, few.ratio = 0.05;
  const Path penalized = fit_path(regression, few);
  Path relaxed = penalized;
  relax(regression, 0, relaxed);
  for (const double gamma : {0.3, 0.7, 1.0}) {
    Path path = penalized;
    relax(regression, gamma, path);
    for (std::size_t k = 0; k < path.steps.size(); ++k) {
      const double least = std::pow(relaxed.steps[k].residual_norm, 2),
                   most = std::pow(penalized.steps[k].residual_norm, 2);
      EXPECT_LE(least, most * (1 + 1e-12));
      EXPECT_NEAR(std::pow(path.steps[k].residual_norm, 2), least + gamma * gamma * (most - least),
                  1e-9 * most);
      EXPECT_NEAR(
          path.steps[k].explained,
          1 - std::pow(path.steps[k].residual_norm, 2) / regression.problem.loss->response().squaredNorm(),
          1e-12);
      EXPECT_EQ(Vector(path.steps[k].beta), Vector(penalized.steps[k].beta));
    }
  }
}

}  // namespace
}  // namespace tyto
