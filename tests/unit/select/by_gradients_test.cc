#include "tyto/select/by_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/moments/packing.h"

// Models by passes with gradients: the same answers as in memory, and certificates of the data.
namespace tyto {
namespace {

constexpr double kTolerance = 1e-9;

struct Shape {
  Index rows, columns;
  double density = 1;  // below it: sparse
  double far = 0;      // means, in standard deviations, up to that
};

// By inversion.
double poisson_draw(Random& random, double mean) {
  double left = random.uniform();
  double probability = std::exp(-mean);
  double count = 0;
  while (left > probability && count < 1000) {
    left -= probability;
    probability *= mean / ++count;
  }
  return count;
}

Vector drawn(Random& random, const std::string& loss, const Vector& eta) {
  Vector y = eta + 0.7 * random_vector(random, eta.size());
  if (loss == "gaussian") return y;
  for (Index i = 0; i < y.size(); ++i) {
    const double mean = loss == "binomial" ? 1 / (1 + std::exp(-eta[i])) : std::exp(0.3 * eta[i]);
    if (loss == "binomial")
      y[i] = random.chance(mean) ? 2 : 1;  // labels
    else
      y[i] = poisson_draw(random, mean);
  }
  return y;
}

Dataset table(std::uint64_t seed, const std::string& loss, const Shape& shape) {
  Random random(seed);
  const Index n = shape.rows, p = shape.columns;
  Matrix x = random_matrix(random, n, p);
  if (shape.density < 1) {
    for (double& entry : x.reshaped())
      if (!random.chance(shape.density)) entry = 0;
    x /= std::sqrt(shape.density);
  } else {
    for (Index j = 0; j < p; ++j)
      if (j % 3 != 0) x.col(j) = 0.8 * x.col(j - j % 3) + 0.6 * x.col(j);
  }
  Vector eta = Vector::Zero(n);
  for (Index j = 0; j < std::min<Index>(6, p); ++j) eta += x.col(j) * (j % 2 == 0 ? 1.0 : -0.5);
  Vector y = drawn(random, loss, eta);
  for (Index j = 0; j < p; ++j)
    x.col(j).array() += shape.far * static_cast<double>(j + 1) / static_cast<double>(p);
  if (shape.density == 1) return {Design::dense(std::move(x)), std::move(y)};
  return {Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView())),
          std::move(y)};
}

EstimateOptions path_options(const std::string& loss, Index steps = 20) {
  EstimateOptions options;
  options.regression.weights = "bh";
  options.regression.loss = loss;
  options.fit.tolerance = kTolerance;
  options.cv.path.steps = steps;
  options.cv.path.ratio = 0.05;
  return options;
}

ColumnSet columns_of(const Dataset& data) {
  ColumnSum sum;
  sum.add(data);
  return unpack_columns(pack(sum.total()), "columns");
}

GradientSums gradients(const Dataset& data, const GradientQuery& query) {
  GradientSum sum;
  sum.add(data, unpack_gradient_query(pack(query), "query"));
  return unpack_gradients(pack(sum.total()), "sums");
}

// DBG
EstimateByGradients fitted(const Dataset& data, const EstimateOptions& options, Task task = kPathTask) {
  EstimateByGradients found(columns_of(data), options, task);
  while (const auto query = found.ask()) {
    found.tell(gradients(data, *query));
  }
  return found;
}

// The models meet the tolerance on the data in memory, by a certificate that knows nothing of sums, and what
// was stated is no smaller than that.
void expect_certified_on(const Dataset& data, const EstimateOptions& asked,
                         const EstimateByGradients& found) {
  const EstimateOptions options = completed(asked, data);
  const Regression memory = make_regression(data.design, data.response, options.regression);
  ASSERT_FALSE(found.estimate.models.empty());
  EXPECT_NEAR(found.estimate.path.alpha_max, memory.alpha_max, 1e-9 * memory.alpha_max);
  for (std::size_t k = 0; k < found.estimate.models.size(); ++k) {
    const Model& model = found.estimate.models[k];
    SCOPED_TRACE(k);
    EXPECT_EQ(model.status, "converged");
    const Problem problem = memory.at(model.alpha).problem;
    Vector beta = Vector::Zero(problem.design.cols());
    for (const Coefficient& c : model.coefficients) beta[c.column] = c.value * problem.design.scale(c.column);
    const Certificate c = certify(problem, make_iterate(problem, beta));
    EXPECT_LE(c.gap, kTolerance * c.primal + c.rounding);
    EXPECT_NEAR(model.primal, c.primal, kTolerance * c.primal);
    EXPECT_GE(model.gap + model.rounding, (c.gap - c.rounding) * 0.99);
    EXPECT_LE(model.gap + model.rounding, kTolerance * model.primal);
    const DataScale scale = memory.at(model.alpha).on_data_scale(beta);
    EXPECT_NEAR(model.intercept(), scale.intercept(), 1e-3 * (1 + std::abs(scale.intercept())));
  }
}

TEST(ByGradients, PathsOfEveryLossAreThoseInMemory) {
  for (const char* loss : {"binomial", "poisson", "gaussian"}) {
    SCOPED_TRACE(loss);
    const Dataset data = table(1, loss, {3000, 30});
    const EstimateOptions options = path_options(loss);
    const EstimateByGradients found = fitted(data, options);
    expect_certified_on(data, options, found);
    EXPECT_LE(found.passes(), 12);
    RecordProperty("passes", static_cast<int>(found.passes()));
    const Estimate memory = estimate_path(data, options);
    ASSERT_EQ(memory.models.size(), found.estimate.models.size());
    for (std::size_t k = 0; k < memory.models.size(); ++k) {
      EXPECT_EQ(found.estimate.models[k].n, 3000);
      EXPECT_NEAR(memory.models[k].primal, found.estimate.models[k].primal, 1e-8 * memory.models[k].primal);
      EXPECT_NEAR(memory.path.steps[k].explained, found.estimate.path.steps[k].explained, 1e-4);
    }
  }
}

TEST(ByGradients, WideSparseDataByWorkingSets) {
  for (const char* loss : {"gaussian", "binomial", "poisson"}) {
    SCOPED_TRACE(loss);
    const Dataset data = table(2, loss, {3000, 800, 0.02});
    EstimateOptions options = path_options(loss, 24);
    options.cv.path.ratio = 0.4;
    const EstimateByGradients found = fitted(data, options);
    expect_certified_on(data, options, found);
    EXPECT_LE(found.passes(), std::string(loss) == "gaussian" ? 12 : 30);
    RecordProperty(loss, static_cast<int>(found.passes()));
  }
}

TEST(ByGradients, EveryOption) {
  for (const char* loss : {"gaussian", "binomial", "poisson"}) {
    const Dataset data = table(3, loss, {1200, 20});
    const auto check = [&](const char* what, const std::function<void(EstimateOptions&)>& change) {
      SCOPED_TRACE(std::string(loss) + ", " + what);
      EstimateOptions options = path_options(loss, 8);
      change(options);
      expect_certified_on(data, options, fitted(data, options));
    };
    check("ridge", [](EstimateOptions& o) { o.regression.ridge = 20; });
    check("nonnegative", [](EstimateOptions& o) { o.regression.nonnegative = true; });
    check("not standardised", [](EstimateOptions& o) { o.regression.standardize = false; });
    check("no intercept", [](EstimateOptions& o) { o.regression.intercept = false; });
    check("oscar", [](EstimateOptions& o) { o.regression.weights = "oscar"; });
  }
}

TEST(ByGradients, ColumnsAlikeConstantOrAsManyAsRows) {
  for (const char* loss : {"gaussian", "binomial", "poisson"}) {
    SCOPED_TRACE(loss);
    const Dataset plain = table(9, loss, {40, 60});
    Matrix x(40, 60);
    for (Index j = 0; j < 60; ++j) plain.design.for_each_entry(j, [&](Index i, double v) { x(i, j) = v; });
    x.col(1) = x.col(0);
    x.col(2) = -x.col(0);
    x.col(3).setZero();
    x.col(4).setConstant(7);
    const Dataset data{Design::dense(std::move(x)), plain.response};
    EstimateOptions options = path_options(loss, 6);
    options.cv.path.ratio = 0.3;
    expect_certified_on(data, options, fitted(data, options));
  }
}

TEST(ByGradients, FarMeansCostNothing) {
  for (const char* loss : {"gaussian", "binomial", "poisson"})
    for (const double far : {1e3, 1e6}) {
      SCOPED_TRACE(std::string(loss) + " " + std::to_string(far));
      const Dataset data = table(4, loss, {2000, 12, 1, far});
      EstimateOptions options = path_options(loss, 8);
      const EstimateByGradients found = fitted(data, options);
      for (const Model& model : found.estimate.models) {
        EXPECT_EQ(model.status, "converged");
        EXPECT_LE(model.gap + model.rounding, kTolerance * model.primal);
      }
    }
}

TEST(ByGradients, OneFitWeightsOfRowsAndCriteria) {
  for (const char* loss : {"gaussian", "binomial", "poisson"}) {
    SCOPED_TRACE(loss);
    Dataset data = table(5, loss, {1500, 25});
    Random random(5);
    data.row_weights = random_vector(random, 1500).cwiseAbs();
    data.row_weights.head(40).setZero();
    EstimateOptions options = path_options(loss, 15);
    options.regression.strength = 0.1;
    expect_certified_on(data, options, fitted(data, options, kFitTask));
    options.choose = {Criterion::kBic};
    const EstimateByGradients found = fitted(data, options);
    expect_certified_on(data, options, found);
    const Estimate memory = estimate_path(data, options);
    for (std::size_t k = 0; k < memory.criteria.size(); ++k) {
      EXPECT_NEAR(memory.criteria[k].bic, found.estimate.criteria[k].bic,
                  0.05 * std::abs(memory.criteria[k].bic));
      EXPECT_EQ(memory.models[k].chosen_by.size(), found.estimate.models[k].chosen_by.size());
    }
  }
}

TEST(ByGradients, TheSameBitsForAnyThreadsAndBlocks) {
  const Dataset data = table(6, "binomial", {40'000, 10, 0.3});
  const EstimateOptions options = path_options("binomial", 5);
  const EstimateByGradients one = fitted(data, options);
  EstimateByGradients other(columns_of(data), options, kPathTask);
  while (const auto query = other.ask()) {
    GradientSum sum;
    sum.add(data, *query, 3);
    other.tell(sum.total());
  }
  ASSERT_EQ(one.estimate.models.size(), other.estimate.models.size());
  for (std::size_t k = 0; k < one.estimate.models.size(); ++k) {
    EXPECT_EQ(one.estimate.models[k].primal, other.estimate.models[k].primal);
    EXPECT_EQ(one.estimate.models[k].intercepts, other.estimate.models[k].intercepts);
  }
}

TEST(ByGradients, DataThatChangedIsRefused) {
  for (const char* what : {"response", "column"}) {
    SCOPED_TRACE(what);
    const Dataset data = table(7, "poisson", {500, 6});
    EstimateByGradients found(columns_of(data), path_options("poisson"), kPathTask);
    Dataset other = data;
    if (std::string(what) == "response") {
      other.response[3] += 1;
    } else {
      Matrix x(500, 6);
      for (Index j = 0; j < 6; ++j) data.design.for_each_entry(j, [&](Index i, double v) { x(i, j) = v; });
      x(77, 2) += 0.1;
      other.design = Design::dense(std::move(x));
    }
    EXPECT_THROW(found.tell(gradients(other, *found.ask())), DataError);
  }
}

TEST(ByGradients, WhatTheyCannotServeIsRefused) {
  const Dataset data = table(8, "binomial", {300, 5});
  const auto message = [&](const std::function<void(EstimateOptions&)>& change, Task task = kPathTask) {
    EstimateOptions options = path_options("binomial");
    change(options);
    try {
      const EstimateByGradients found(columns_of(data), options, task);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](EstimateOptions& o) { o.regression.loss = "huber"; }),
            "loss: want gaussian, binomial, poisson where rows are read in passes, got huber");
  EXPECT_EQ(message([](EstimateOptions& o) { o.regression.unpenalized = {1}; }),
            "unpenalized: want none where rows are read in passes with gradients, got some");
  EXPECT_EQ(message([](EstimateOptions& o) {
              o.regression.loss = "gaussian";
              o.gamma = 0.5;
            }),
            "gamma: want none where rows are read in passes with gradients, got a number");
  EXPECT_NE(message([](EstimateOptions&) {}, kCvTask), "");
  Dataset odd = data;
  odd.response[0] = 7;
  EXPECT_THROW(EstimateByGradients(columns_of(odd), path_options("binomial"), kPathTask), InvalidArgument);
  odd.response.setConstant(1);
  EXPECT_THROW(EstimateByGradients(columns_of(odd), path_options("binomial"), kPathTask), InvalidArgument);
  odd.response[0] = -1;
  EXPECT_THROW(EstimateByGradients(columns_of(odd), path_options("poisson"), kPathTask), InvalidArgument);
}

}  // namespace
}  // namespace tyto
