#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/select/estimate.h"
#include "tyto/verify/verify.h"

// Regressions on several classes.
namespace tyto {
namespace {

constexpr double kTight = 1e-11;

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};

Data random_data(Random& random, Index n, Index p, Index classes) {
  Data data{random_float_exact(random, n, p, 0.7), Vector(n)};
  const Eigen::MatrixXd eta = data.x * random_matrix(random, p, classes);
  for (Index i = 0; i < n; ++i) {
    Index own = i;  // each class has a row
    if (i >= classes) eta.row(i).maxCoeff(&own);
    data.y[i] = static_cast<double>(random.chance(0.2) ? i % classes : own % classes);
  }
  data.y.head(classes) = Vector::LinSpaced(classes, 0, static_cast<double>(classes - 1));
  return data;
}

RegressionOptions random_options(Random& random, Index cols) {
  RegressionOptions options;
  options.loss = "multinomial";
  options.weights = random.chance(0.5) ? "bh" : random.chance(0.5) ? "oscar" : "lasso";
  options.strength = std::pow(10, random.uniform(-2, -0.3));
  options.intercept = random.chance(0.7);
  options.standardize = random.chance(0.7);
  if (random.chance(0.3)) options.ridge = random.uniform(0, 1);
  if (random.chance(0.2)) options.nonnegative = true;
  if (random.chance(0.2)) options.unpenalized = {cols - 1};
  return options;
}

Fit solve(const Problem& problem) {
  FitOptions options;
  options.tolerance = kTight;
  return fit(problem, options);
}

// The gap recomputed on the full problem.
void expect_certified(const Problem& problem, const Fit& fit) {
  EXPECT_EQ(fit.status, Status::kConverged);
  const Certificate again = certify(problem, fit.solution);
  EXPECT_LE(again.gap, kTight * again.primal + again.rounding);
  EXPECT_GE(again.gap, -again.rounding);
}

// Calls law(seed, data, options) for random problems that have a minimum.
template <class Law>
void for_problems(std::uint64_t count, Law law) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index classes = random.between(3, 5);
    const Data data = random_data(random, random.between(15, 40), random.between(2, 12), classes);
    const RegressionOptions options = random_options(random, data.x.cols());
    try {
      law(random, data, options);
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("no minimum"), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_LE(refused, static_cast<int>(count / 10));
}

TEST(MultinomialLaws, FitsAreCertified) {
  for_problems(40, [](Random&, const Data& data, const RegressionOptions& options) {
    const Regression regression = make_regression(Design::dense(data.x), data.y, options);
    expect_certified(regression.problem, solve(regression.problem));
  });
}

// By code of its own, in extended precision, from the coefficients as they are reported.
TEST(MultinomialLaws, FitsAreVerified) {
  for_problems(40, [](Random& random, const Data& data, const RegressionOptions& options) {
    EstimateOptions asked;
    asked.regression = options;
    asked.fit.tolerance = kTight;
    Dataset dataset{Design::dense(data.x), data.y};
    if (random.chance(0.3)) dataset.row_weights = random_vector(random, data.y.size()).cwiseAbs();
    Model model = estimate(dataset, asked).models.front();
    if (dataset.row_weights.size() > 0) model.weights_file = "given";
    const Verification found = verify_text(to_json(model), "model", dataset).front();
    EXPECT_TRUE(found.holds) << found.reason;
    EXPECT_EQ(model.status, "converged");
    EXPECT_LE(found.gap, kTight * found.primal + model.rounding);
  });
}

TEST(MultinomialLaws, TheOrderOfTheClassesDoesNotMatter) {
  for_problems(25, [](Random&, const Data& data, const RegressionOptions& options) {
    const double last = data.y.maxCoeff();
    const Regression one = make_regression(Design::dense(data.x), data.y, options);
    const Regression other =
        make_regression(Design::dense(data.x), (last - data.y.array()).matrix(), options);
    EXPECT_NEAR(one.alpha_max, other.alpha_max, 1e-10 * one.alpha_max);
    const Fit a = solve(one.problem);
    const Fit b = solve(other.at(one.alpha).problem);
    EXPECT_NEAR(a.certificate.primal, b.certificate.primal, 3 * kTight * a.certificate.primal);
    const DataScale left = one.on_data_scale(a.solution.beta);
    const DataScale right = other.on_data_scale(b.solution.beta);
    for (Index c = 0; c < one.predictors && options.intercept && options.weights != "lasso"; ++c)
      EXPECT_NEAR(left.intercepts[c], right.intercepts[one.predictors - 1 - c], 1e-2);
  });
}

TEST(MultinomialLaws, SparseIsDense) {
  for_problems(25, [](Random&, const Data& data, const RegressionOptions& options) {
    const Regression dense = make_regression(Design::dense(data.x), data.y, options);
    const Regression sparse = make_regression(Design::sparse(Sparse32(data.x.sparseView())), data.y, options);
    const Fit a = solve(dense.problem);
    const Fit b = solve(sparse.problem);
    expect_certified(sparse.problem, b);
    EXPECT_NEAR(a.certificate.primal, b.certificate.primal, 3 * kTight * a.certificate.primal);
  });
}

TEST(MultinomialLaws, ARowOfWeightTwoIsARowThatStandsTwice) {
  for_problems(25, [](Random& random, const Data& data, RegressionOptions options) {
    const Index n = data.x.rows();
    const Index row = random.below(n);
    options.relative_to = RelativeTo::kAbsolute;
    options.strength = 0.5;
    Data twice{Eigen::MatrixXd(n + 1, data.x.cols()), Vector(n + 1)};
    twice.x << data.x, data.x.row(row);
    twice.y << data.y, data.y[row];
    const Regression long_one = make_regression(Design::dense(twice.x), twice.y, options);
    options.observation_weights = Vector::Ones(n);
    options.observation_weights[row] = 2;
    const Regression weighted = make_regression(Design::dense(data.x), data.y, options);
    const Fit a = solve(weighted.problem);
    const Fit b = solve(long_one.problem);
    EXPECT_NEAR(a.certificate.primal, b.certificate.primal, 3 * kTight * a.certificate.primal);
  });
}

// With equal weights, two classes that have a predictor each have the optimum of one: |b_1| + |b_2| is least
// for a given b_1 - b_2 where it is its magnitude.
TEST(MultinomialLaws, TwoClassesOfEqualWeightsAreBinomial) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Data data = random_data(random, 25, 6, 2);
    RegressionOptions options;
    options.loss = "binomial";
    options.weights = "lasso";
    options.strength = random.uniform(0.05, 0.5);
    const Regression one = make_regression(Design::dense(data.x), data.y, options);
    const Design both = one.problem.design.for_classes(2);
    LossData loss{data.y, {}, {}, both.basis()};
    loss.classes = 2;
    const Problem symmetric{both, find_loss("multinomial").make(loss),
                            SortedL1(Vector::Constant(both.cols(), one.alpha))};
    const Fit fit = solve(symmetric);
    expect_certified(symmetric, fit);
    const double expected = solve(one.problem).certificate.primal;
    EXPECT_NEAR(fit.certificate.primal, expected, 3 * kTight * expected);
  }
}

TEST(MultinomialLaws, TwoLabelsAreFittedAsBinomial) {
  Random random(1);
  const Data data = random_data(random, 25, 6, 2);
  EstimateOptions options;
  options.regression.loss = "multinomial";
  const Model model = estimate(Dataset{Design::dense(data.x), data.y}, options).models.front();
  EXPECT_EQ(model.options.loss, "binomial");
  EXPECT_EQ(model.intercepts.size(), 1U);
}

// The intercepts of a model without features are the logarithms of the shares, less their mean.
TEST(MultinomialLaws, TheNullModelHasTheSharesOfTheClasses) {
  Random random(2);
  const Data data = random_data(random, 30, 4, 3);
  RegressionOptions options;
  options.loss = "multinomial";
  options.strength = 1.5;
  const Regression regression = make_regression(Design::dense(data.x), data.y, options);
  const DataScale model = regression.on_data_scale(solve(regression.problem).solution.beta);
  ASSERT_EQ(model.coefficients.nonZeros(), 0);
  EXPECT_NEAR(model.intercepts.sum(), 0, 1e-14);
  for (Index c = 1; c < 3; ++c) {
    const auto count = [&](Index k) {
      return static_cast<double>((data.y.array() == static_cast<double>(k)).count());
    };
    EXPECT_NEAR(model.intercepts[c] - model.intercepts[0], std::log(count(c) / count(0)), 1e-12);
  }
}

}  // namespace
}  // namespace tyto
