#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/loss_problems.h"
#include "tyto/base/error.h"
#include "tyto/select/score.h"
#include "tyto/solve/fit.h"

// The loss cox against code that goes through all pairs of rows.
namespace tyto {
namespace {

struct Rows {
  Vector time, events, weights, eta;
};

Rows random_rows(Random& random, Index n) {
  Rows rows{random_response(random, "cox", n), Vector(n), Vector(n), 2 * random_vector(random, n)};
  for (Index i = 0; i < n; ++i) {
    rows.events[i] = random.chance(0.6) ? 1 : 0;
    rows.weights[i] = random.chance(0.2) ? 0 : random.chance(0.5) ? 1 : random.uniform(0.1, 4);
  }
  rows.events[0] = 1;
  rows.weights[0] = 1;
  return rows;
}

std::shared_ptr<const Loss> loss_of(const Rows& rows, Eigen::MatrixXd basis = {}) {
  LossData data{rows.time, rows.weights.cwiseSqrt(), {}, std::move(basis)};
  data.events = rows.events;
  return find_loss("cox").make(std::move(data));
}

struct Naive {
  double value = 0;
  Vector gradient;  // by eta
  Eigen::MatrixXd hessian;
};

// Event by event: log of the sum over its risk set less its own eta. The least value of all, that of each
// time by itself, is taken off.
Naive naive(const Rows& rows) {
  const Index n = rows.time.size();
  Naive result{0, Vector::Zero(n), Eigen::MatrixXd::Zero(n, n)};
  for (Index i = 0; i < n; ++i) {
    const double v = rows.events[i] * rows.weights[i];
    if (v == 0) continue;
    double sum = 0;
    double tied = 0;
    Vector share = Vector::Zero(n);
    for (Index k = 0; k < n; ++k) {
      if (rows.time[k] < rows.time[i]) continue;
      share[k] = rows.weights[k] * std::exp(rows.eta[k]);
      sum += share[k];
      if (rows.time[k] == rows.time[i]) tied += rows.events[k] * rows.weights[k];
    }
    share /= sum;
    result.value += v * (std::log(sum) - rows.eta[i] - std::log(tied));
    result.gradient += v * share;
    result.gradient[i] -= v;
    result.hessian += v * (Eigen::MatrixXd(share.asDiagonal()) - share * share.transpose());
  }
  return result;
}

TEST(Cox, ValueGradientAndCurvatureAreThoseOfThePartialLikelihood) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const Index n = random.between(2, 14);
    const Rows rows = random_rows(random, n);
    const auto loss = loss_of(rows);
    const Vector roots = rows.weights.cwiseSqrt();
    const LossPoint at = loss->at(rows.eta.cwiseProduct(roots));
    const Naive expected = naive(rows);
    EXPECT_NEAR(at.value, expected.value, 1e-13 * (1 + expected.value));
    EXPECT_GE(at.value, 0);
    Eigen::MatrixXd root = roots.asDiagonal();
    loss->apply_root(at, root);  // of columns that change one eta each
    EXPECT_LE((root.transpose() * root - expected.hessian).cwiseAbs().maxCoeff(),
              1e-13 * (1 + rows.weights.sum()));
    const Vector from_model = root.transpose() * loss->working_residual(at);
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(roots[i] * at.residual[i], -expected.gradient[i], 1e-13 * (1 + rows.weights.sum()));
      EXPECT_NEAR(from_model[i], -expected.gradient[i], 1e-12 * (1 + rows.weights.sum()));
      EXPECT_GE(rows.weights[i] * at.curvature[i], expected.hessian(i, i) - 1e-13);
    }
    EXPECT_NEAR(at.residual.dot(roots), 0, 1e-13 * (1 + rows.weights.sum()));
  }
}

TEST(Cox, OnlyTheOrderOfTimesCounts) {
  Random random(12);
  Rows rows = random_rows(random, 12);
  const Vector roots = rows.weights.cwiseSqrt();
  const LossPoint days = loss_of(rows)->at(rows.eta.cwiseProduct(roots));
  rows.time = rows.time.array() / 365.25;
  const LossPoint years = loss_of(rows)->at(rows.eta.cwiseProduct(roots));
  rows.time = rows.time.array().exp();
  const LossPoint stretched = loss_of(rows)->at(rows.eta.cwiseProduct(roots));
  EXPECT_EQ(days.value, years.value);
  EXPECT_EQ(days.value, stretched.value);
  EXPECT_EQ(days.residual, stretched.residual);
}

TEST(Cox, AWeightOfTwoIsARowTwice) {
  Random random(13);
  for (int round = 0; round < 20; ++round) {
    Rows once = random_rows(random, 9);
    once.weights.setOnes();
    Rows twice = once;
    once.weights[4] = 2;
    for (Vector* part : {&twice.time, &twice.events, &twice.weights, &twice.eta}) {
      part->conservativeResize(10);
      (*part)[9] = (*part)[4];
    }
    const LossPoint a = loss_of(once)->at(once.eta.cwiseProduct(once.weights.cwiseSqrt()));
    const LossPoint b = loss_of(twice)->at(twice.eta);
    EXPECT_NEAR(a.value, b.value, 1e-14 * (1 + b.value));
    EXPECT_NEAR(a.residual[0], b.residual[0], 1e-14);
  }
}

TEST(Cox, FarFromZeroNothingOverflows) {
  Rows rows{(Vector(4) << 1, 2, 3, 3).finished(), (Vector(4) << 1, 1, 0, 1).finished(), Vector::Ones(4),
            (Vector(4) << -800, 900, 100, -900).finished()};
  const LossPoint at = loss_of(rows)->at(rows.eta);
  EXPECT_TRUE(at.residual.allFinite());
  EXPECT_NEAR(at.value, 1700 + 0 + 1000, 1e-9);
  // Where an event is all but certain, what is missing keeps its digits.
  const Rows sure{(Vector(2) << 1, 2).finished(), Vector::Ones(2), Vector::Ones(2),
                  (Vector(2) << 40, 0).finished()};
  EXPECT_NEAR(loss_of(sure)->at(sure.eta).residual[0] / std::exp(-40.0), 1, 1e-12);
  EXPECT_NEAR(loss_of(sure)->at(sure.eta).value / std::exp(-40.0), 1, 1e-12);
}

TEST(Cox, ColumnNormsAreTheRangesOverRiskSets) {
  Random random(14);
  for (int round = 0; round < 200; ++round) {
    const Index n = random.between(2, 14);
    const Rows rows = random_rows(random, n);
    const auto loss = loss_of(rows);
    Vector x = random_vector(random, n);
    std::vector<Index> all;
    std::vector<Index> some;
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) {
      if (random.chance(0.5)) x[i] = 0;
      all.push_back(i);
      if (x[i] == 0 && random.chance(0.9)) continue;
      some.push_back(i);
      values.push_back(x[i]);
    }
    double squares = 0;
    for (Index i = 0; i < n; ++i) {
      double least = std::numeric_limits<double>::infinity();
      double most = -least;
      for (Index k = 0; k < n; ++k) {
        if (rows.weights[k] == 0 || rows.time[k] < rows.time[i]) continue;
        least = std::min(least, x[k]);
        most = std::max(most, x[k]);
      }
      const double v = rows.events[i] * rows.weights[i];
      if (v > 0) squares += v * (most - least) * (most - least);
    }
    EXPECT_NEAR(loss->column_norm(all, {x.data(), static_cast<std::size_t>(n)}), std::sqrt(squares), 1e-13);
    EXPECT_NEAR(loss->column_norm(some, values), std::sqrt(squares), 1e-13);
  }
}

TEST(Cox, ResponsesItIsNotDefinedForAreRefused) {
  const Vector time = (Vector(3) << 1, 2, 3).finished();
  const auto refused = [&](const Vector& events, const char* word) {
    LossData data{time};
    data.events = events;
    try {
      find_loss("cox").make(std::move(data));
      FAIL() << "accepted " << events.transpose();
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused(Vector::Zero(3), "at least one row with an event");
  refused((Vector(3) << 0, 1, 2).finished(), "row 2: want 1 (event) or 0 (censored), got 2");
  refused(Vector::Ones(2), "want 3 numbers");
  EXPECT_THROW(find_loss("cox").make({(Vector(2) << 1, std::nan("")).finished()}), InvalidArgument);
  // An unpenalised column that orders the times has no best coefficient.
  LossData ordered{time};
  ordered.basis = time;
  EXPECT_THROW(find_loss("cox").make(std::move(ordered)), InvalidArgument);
}

TEST(Cox, SparseAndDenseDataGiveTheSameFit) {
  Random random(15);
  const Index n = 40;
  Eigen::MatrixXd x = random_matrix(random, n, 60);
  x = (x.array().abs() > 1.2).select(x, 0.0);
  RegressionOptions options;
  options.loss = "cox";
  options.weights = "bh";
  options.strength = 0.3;
  options.events = Vector::NullaryExpr(n, [&](Index) { return random.chance(0.6) ? 1 : 0; });
  const Vector time = random_response(random, "cox", n);
  const auto dense = make_regression(Design::dense(x), time, options);
  const auto sparse =
      make_regression(Design::sparse(Eigen::SparseMatrix<double>(x.sparseView())), time, options);
  const Fit a = fit(dense.problem, {.tolerance = 1e-12});
  const Fit b = fit(sparse.problem, {.tolerance = 1e-12});
  EXPECT_EQ(a.status, Status::kConverged);
  EXPECT_EQ(b.status, Status::kConverged);
  EXPECT_GT(std::ssize(a.certificate.support), 2);
  EXPECT_EQ(a.certificate.support, b.certificate.support);
  EXPECT_LE((a.solution.beta - b.solution.beta).norm(), 1e-9 * a.solution.beta.norm());
  EXPECT_EQ(dense.on_data_scale(a.solution.beta).intercept(), 0);
}

// Pairs of an event and a row that was there longer, or as long and censored.
TEST(Concordance, CountsPairs) {
  Random random(16);
  for (int round = 0; round < 50; ++round) {
    Rows rows = random_rows(random, random.between(1, 12));
    rows.eta = rows.eta.array().round();
    double pairs = 0;
    double right = 0;
    for (Index i = 0; i < rows.time.size(); ++i)
      for (Index k = 0; k < rows.time.size(); ++k) {
        const bool longer =
            rows.time[k] > rows.time[i] || (rows.time[k] == rows.time[i] && rows.events[k] == 0);
        if (rows.events[i] == 0 || !longer) continue;
        const double v = rows.weights[i] * rows.weights[k];
        pairs += v;
        right += v * (rows.eta[i] > rows.eta[k] ? 1 : rows.eta[i] == rows.eta[k] ? 0.5 : 0);
      }
    EXPECT_NEAR(concordance({rows.time, rows.events, rows.weights}, rows.eta),
                pairs > 0 ? right / pairs : 0.5, 1e-13);
    EXPECT_NEAR(partial_deviance({rows.time, rows.events, rows.weights}, rows.eta), 2 * naive(rows).value,
                1e-12 * (1 + naive(rows).value));
  }
}

}  // namespace
}  // namespace tyto
