#include "tyto/select/summed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"

// Models from sums over rows: the same answers as in memory, and certificates of the data.
namespace tyto {
namespace {

constexpr double kTolerance = 1e-10;

// Groups of correlated columns; `far`: means, in standard deviations, up to that.
Dataset table(std::uint64_t seed, Index n, Index p, double far = 10) {
  Random random(seed);
  Matrix x = random_matrix(random, n, p);
  for (Index j = 0; j < p; ++j)
    if (j % 3 != 0) x.col(j) = 0.8 * x.col(j - j % 3) + 0.6 * x.col(j);
  Vector y = 0.7 * random_vector(random, n);
  for (Index j = 0; j < std::min<Index>(6, p); ++j) y += x.col(j) * (j % 2 == 0 ? 1.0 : -0.5);
  for (Index j = 0; j < p; ++j) x.col(j).array() += far * static_cast<double>(j + 1) / static_cast<double>(p);
  y.array() += far;
  return {Design::dense(std::move(x)), std::move(y)};
}

EstimateOptions path_options(const std::string& weights = "bh", Index steps = 20) {
  EstimateOptions options;
  options.regression.weights = weights;
  options.fit.tolerance = kTolerance;
  options.cv.path.steps = steps;
  return options;
}

MomentSet moments(const Dataset& data, const RowPlace& place = {}) {
  MomentSum sum;
  sum.add(data, place);
  return sum.total();
}

EvidenceSums evidence(const Dataset& data, const EvidenceQuery& query) {
  EvidenceSum sum;
  sum.add(data, query);
  return sum.total();
}

SummedEstimate fitted(const Dataset& data, const EstimateOptions& options, Task task = kPathTask) {
  SummedEstimate found(moments(data), options, task);
  while (const auto query = found.ask()) found.tell(evidence(data, *query));
  return found;
}

// The models meet the tolerance on the data in memory, by a certificate that knows nothing of sums; and what
// was stated from sums is that certificate, but for the rounding that both admit.
void expect_certified_on(const Dataset& data, const EstimateOptions& asked, const SummedEstimate& found) {
  const EstimateOptions options = completed(asked, data);
  const Regression memory = make_regression(data.design, data.response, options.regression);
  const std::vector<Model>& models = found.cv.models.empty() ? found.estimate.models : found.cv.models;
  ASSERT_FALSE(models.empty());
  for (const Model& model : models) {
    SCOPED_TRACE(model.alpha);
    EXPECT_EQ(model.status, "converged");
    const Problem problem = memory.at(model.alpha).problem;
    Vector beta = Vector::Zero(problem.design.cols());
    for (const auto& [column, value] : penalized(model).coefficients)
      if (const Index k = memory.penalized.find(column); k >= 0) beta[k] = value * problem.design.scale(k);
    const Certificate c = certify(problem, make_iterate(problem, beta));
    EXPECT_LE(c.gap, kTolerance * c.primal + c.rounding);
    EXPECT_NEAR(model.primal, c.primal, 1e-9 * c.primal);
    EXPECT_LE(std::abs(model.gap - c.gap), 2 * (model.rounding + c.rounding) + 1e-12 * c.primal);
    EXPECT_LE(model.gap + model.rounding, kTolerance * model.primal);
  }
}

TEST(Summed, PathsAreThoseInMemoryInTwoPasses) {
  for (const char* weights : {"oscar", "bh", "lasso"}) {
    SCOPED_TRACE(weights);
    const Dataset data = table(1, 5000, 30);
    const EstimateOptions options = path_options(weights);
    const SummedEstimate found = fitted(data, options);
    expect_certified_on(data, options, found);
    EXPECT_EQ(found.passes(), 2);
    const Estimate memory = estimate_path(data, options);
    ASSERT_EQ(memory.models.size(), found.estimate.models.size());
    for (std::size_t k = 0; k < memory.models.size(); ++k) {
      const Model& a = memory.models[k];
      const Model& b = found.estimate.models[k];
      EXPECT_EQ(b.n, 5000);
      EXPECT_NEAR(a.alpha, b.alpha, 1e-12 * a.alpha);
      EXPECT_NEAR(a.primal, b.primal, 1e-9 * a.primal);
      EXPECT_NEAR(a.intercept(), b.intercept(), 1e-4 * (1 + std::abs(a.intercept())));
      EXPECT_NEAR(memory.criteria[k].bic, found.estimate.criteria[k].bic, 1e-3);
    }
  }
}

TEST(Summed, EveryOptionOfSquaredErrorIsCertifiedFromTheData) {
  const Dataset data = table(2, 1500, 18);
  const auto check = [&](const char* what, const std::function<void(EstimateOptions&)>& change) {
    SCOPED_TRACE(what);
    EstimateOptions options = path_options();
    change(options);
    expect_certified_on(data, options, fitted(data, options));
  };
  check("plain", [](EstimateOptions&) {});
  check("ridge", [](EstimateOptions& o) { o.regression.ridge = 20; });
  check("nonnegative", [](EstimateOptions& o) { o.regression.nonnegative = true; });
  check("unpenalised", [](EstimateOptions& o) { o.regression.unpenalized = {1, 7}; });
  check("not standardised", [](EstimateOptions& o) { o.regression.standardize = false; });
  check("not standardised, unpenalised", [](EstimateOptions& o) {
    o.regression.standardize = false;
    o.regression.unpenalized = {2};
    o.regression.ridge = 5;
  });
  check("relaxed", [](EstimateOptions& o) { o.gamma = 0.5; });
  check("no intercept", [](EstimateOptions& o) { o.regression.intercept = false; });
  check("no intercept, unpenalised", [](EstimateOptions& o) {
    o.regression.intercept = false;
    o.regression.unpenalized = {3};
  });
}

TEST(Summed, OneFitAndItsNoiseLevel) {
  const Dataset data = table(3, 2000, 20);
  EstimateOptions options = path_options();
  options.regression.strength = 0.2;
  expect_certified_on(data, options, fitted(data, options, kFitTask));
  options.noise.estimate = true;
  const SummedEstimate found = fitted(data, options, kFitTask);
  expect_certified_on(data, options, found);
  const Estimate memory = estimate(data, options);
  EXPECT_NEAR(found.estimate.models[0].noise->sigma, memory.models[0].noise->sigma, 1e-9);
}

TEST(Summed, RowWeightsAndOffsets) {
  Dataset data = table(4, 1200, 12);
  Random random(4);
  data.row_weights = random_vector(random, 1200).cwiseAbs();
  data.row_weights.head(50).setZero();
  data.offset = random_vector(random, 1200);
  expect_certified_on(data, path_options(), fitted(data, path_options()));
}

TEST(Summed, FarMeansCostNothing) {
  for (const double far : {1e3, 1e5, 1e7}) {
    SCOPED_TRACE(far);
    const Dataset data = table(5, 6000, 15, far);
    const SummedEstimate found = fitted(data, path_options());
    EXPECT_EQ(found.passes(), 2);
    for (const Model& model : found.estimate.models) {
      EXPECT_EQ(model.status, "converged");
      EXPECT_LE(model.gap + model.rounding, 1e-11 * model.primal);
    }
  }
}

TEST(Summed, AwkwardColumns) {
  Random random(6);
  Matrix x = random_matrix(random, 700, 10);
  x.col(2).setConstant(0.1);              // constant, and no double is its mean times 700
  x.col(3) = x.col(4);                    // twice
  x.col(5) = x.col(6) + 1e-6 * x.col(5);  // nearly so
  x.col(7) *= 1e-9;                       // another unit
  x.col(8).head(699).setZero();           // one row alone
  const Vector y = x.col(4) - 1e9 * x.col(7) + random_vector(random, 700);
  const Dataset data{Design::dense(x), y};
  const SummedEstimate found = fitted(data, path_options());
  expect_certified_on(data, path_options(), found);
  for (const Model& model : found.estimate.models)
    for (const Coefficient& c : model.coefficients) EXPECT_NE(c.column, 2);
}

TEST(Summed, FewerRowsThanColumns) {
  const Dataset data = table(7, 25, 60);
  expect_certified_on(data, path_options(), fitted(data, path_options()));
}

TEST(Summed, WrongMomentsAreFoundOutAndCorrected) {
  const Dataset data = table(8, 3000, 20);
  MomentSet rough = moments(data);
  Matrix& m = rough.folds[0].comoment;
  for (Index j = 0; j + 1 < m.cols(); ++j)
    for (Index i = j + 1; i < m.cols(); ++i) m(i, j) = m(j, i) = static_cast<float>(m(i, j));
  SummedEstimate found(rough, path_options(), kPathTask);
  found.tell(evidence(data, *found.ask()));
  ASSERT_TRUE(found.ask().has_value());  // single precision is not enough at first
  while (const auto query = found.ask()) found.tell(evidence(data, *query));
  EXPECT_LE(found.passes(), 4);
  expect_certified_on(data, path_options(), found);
}

TEST(Summed, DataThatChangedIsRefused) {
  const Dataset data = table(9, 900, 8);
  const SummedEstimate found(moments(data), path_options(), kPathTask);
  const EvidenceQuery query = *found.ask();
  const auto told = [&](const Dataset& other) {
    SummedEstimate again(moments(data), path_options(), kPathTask);
    again.tell(evidence(other, query));
  };
  EXPECT_NO_THROW(told(data));
  Dataset other = data;
  other.response[17] += 1e-9;
  EXPECT_THROW(told(other), DataError);
  other = {data.design.take_rows(IndexSet{0, 1, 2}), data.response.head(3)};
  EXPECT_THROW(told(other), DataError);
  Matrix x(900, 8);
  for (Index j = 0; j < 8; ++j) data.design.pack({&j, 1}, 0, 900, x.col(j).data());
  x(5, 3) += 1e-3;
  EXPECT_THROW(told({Design::dense(x), data.response}), DataError);
}

TEST(Summed, CrossValidationFromMomentsByFold) {
  const Dataset data = table(10, 2000, 16);
  EstimateOptions options = path_options();
  options.cv.folds = 5;
  for (Index i = 0; i < 2000; ++i)
    options.cv.given.push_back(fold_of_row(static_cast<std::uint64_t>(i), 3, 5));
  const CvEstimate memory = estimate_cv(data, options);
  options.cv.given = {};
  SummedEstimate found(moments(data, {.folds = 5, .seed = 3}), options, kCvTask);
  while (const auto query = found.ask()) found.tell(evidence(data, *query));
  EXPECT_EQ(found.passes(), 2);
  expect_certified_on(data, options, found);
  ASSERT_TRUE(found.cv.cv.complete());
  EXPECT_EQ(found.cv.cv.best, memory.cv.best);
  EXPECT_EQ(found.cv.cv.one_se, memory.cv.one_se);
  const CvCurve& a = memory.cv.chosen();
  const CvCurve& b = found.cv.cv.chosen();
  for (std::size_t k = 0; k < a.error.size(); ++k) {
    EXPECT_NEAR(a.error[k], b.error[k], 1e-5 * a.error[k]);  // as far as the tolerance fixes the fits
    EXPECT_NEAR(a.standard_error[k], b.standard_error[k], 1e-4 * a.standard_error[k]);
  }
  EXPECT_EQ(found.cv.cv.scores[0].rows, memory.cv.scores[0].rows);
}

TEST(Summed, SaysWhatItCannotDo) {
  const MomentSet set = moments(table(11, 50, 4));
  const auto message = [&](Task task, const std::function<void(EstimateOptions&)>& change) -> std::string {
    EstimateOptions options = path_options();
    change(options);
    try {
      SummedEstimate(set, options, task);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(kPathTask, [](EstimateOptions& o) { o.regression.loss = "poisson"; }),
            "loss: want gaussian where rows are summed, got poisson");
  EXPECT_EQ(message(kCvTask, [](EstimateOptions& o) { o.cv.error = ErrorMeasure::kMae; }),
            "error: want mse or r2 where rows are summed, got mae");
  EXPECT_EQ(message(kCvTask, [](EstimateOptions&) {}),
            "folds: want moments by fold for cross-validation, got those of all rows");
}

}  // namespace
}  // namespace tyto
