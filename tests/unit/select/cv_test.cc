#include "tyto/select/cv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/certified.h"
#include "tests/unit/select/cv_runs.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

using namespace cv_runs;

// Columns of the training rows, centred and scaled by hand, and what is needed to go back.
struct ByHand {
  Eigen::MatrixXd x;
  Vector y;
  Eigen::RowVectorXd center, scale;
  double mean = 0;
};

ByHand standardized(const Eigen::MatrixXd& x, const Vector& y, const RegressionOptions& options) {
  ByHand result{x, y, Eigen::RowVectorXd::Zero(x.cols()), Eigen::RowVectorXd::Ones(x.cols())};
  if (options.intercept) result.center = x.colwise().mean(), result.mean = y.mean();
  result.x.rowwise() -= result.center, result.y.array() -= result.mean;
  for (Index j = 0; j < x.cols(); ++j) {
    const double deviation = std::sqrt(result.x.col(j).squaredNorm() / static_cast<double>(x.rows()));
    if (options.standardize && deviation > 1e-12) result.scale[j] = deviation;
  }
  result.x.array().rowwise() /= result.scale.array();
  return result;
}

double score(ErrorMeasure measure, const Vector& residual, const Vector& response) {
  const double mse = residual.array().square().mean();
  if (measure == ErrorMeasure::kMae) return residual.array().abs().mean();
  if (measure == ErrorMeasure::kMse) return mse;
  return 1 - mse / (response.array() - response.mean()).square().mean();
}

// The errors of a fold by the definition: the rows subset, each strength fitted cold.
std::vector<double> naive_fold(const Data& data, const RegressionOptions& options, const Split& rows,
                               const CvCurve& curve, ErrorMeasure measure) {
  const ByHand train = standardized(data.x(rows.training, Eigen::all), data.y(rows.training), options);
  const double share = static_cast<double>(rows.training.size()) / static_cast<double>(data.y.size());
  const Vector shape = curve.regression.shape.weights();
  std::vector<double> errors;
  for (const PathStep& step : curve.path.steps) {
    const Problem problem{Design::dense(train.x), gaussian_loss(train.y),
                          SortedL1(share * step.alpha * shape)};
    const Fit one = fit(problem, tight());
    expect_certified(problem, one, 1e-11);
    const Vector beta = one.solution.beta.array() / train.scale.transpose().array();
    const Eigen::MatrixXd held_out = data.x(rows.held_out, Eigen::all).rowwise() - train.center;
    const Vector residual = (data.y(rows.held_out) - held_out * beta).array() - train.mean;
    errors.push_back(score(measure, residual, data.y));
  }
  return errors;
}

void expect_as_naive(const Data& data, const RegressionOptions& options, const CvOptions& cv) {
  const CrossValidation found = run(data, options, cv, tight());
  ASSERT_TRUE(found.complete());
  const CvCurve& curve = found.curves.front();
  const Index n = data.y.size(), folds = found.folds;
  const Folds fold_of = cv.given.empty() ? random_folds(n, cv.folds, cv.seed) : cv.given;
  std::vector<std::vector<double>> errors;
  std::vector<double> share;
  for (Index fold = 0; fold < folds; ++fold) {
    const Split rows = split(fold_of, fold);
    errors.push_back(naive_fold(data, options, rows, curve, found.measure));
    share.push_back(static_cast<double>(rows.held_out.size()) / static_cast<double>(n));
  }
  for (std::size_t k = 0; k < curve.path.steps.size(); ++k) {
    double mean = 0, squares = 0;
    for (std::size_t fold = 0; fold < errors.size(); ++fold) mean += share[fold] * errors[fold][k];
    for (std::size_t fold = 0; fold < errors.size(); ++fold)
      squares += share[fold] * std::pow(errors[fold][k] - mean, 2);
    EXPECT_NEAR(curve.error[k], mean, 1e-5 * std::abs(mean)) << k;
    const double standard_error = std::sqrt(squares / static_cast<double>(folds - 1));
    EXPECT_NEAR(curve.standard_error[k], standard_error, 1e-5 * standard_error + 1e-5 * std::abs(mean)) << k;
  }
}

TEST(CrossValidation, EqualsTheNaiveOne) {
  for (const auto& [n, p] : std::vector<std::pair<Index, Index>>{{40, 8}, {25, 60}})
    for (const char* weights : {"oscar", "lasso", "bh", "gaussian"})
      for (const ErrorMeasure measure : {ErrorMeasure::kMse, ErrorMeasure::kMae, ErrorMeasure::kR2}) {
        SCOPED_TRACE(std::string(weights) + " " + std::string(name(measure)) + " " + std::to_string(p));
        CvOptions cv = few(5);
        cv.error = measure;
        expect_as_naive(simulated(n, p), {.weights = weights}, cv);
      }
}

TEST(CrossValidation, EqualsTheNaiveOneWithoutInterceptOrScales) {
  for (const bool intercept : {true, false})
    for (const bool standardize : {true, false})
      expect_as_naive(simulated(30, 10, 2), {.intercept = intercept, .standardize = standardize}, few(4));
}

TEST(CrossValidation, AnyNumberOfFolds) {
  const Data data = simulated(14, 6, 3);
  for (const Index folds : {Index{2}, Index{3}, data.y.size()}) expect_as_naive(data, {}, few(folds));
  expect_as_naive(simulated(3, 2, 4), {}, few(3));
  CvOptions given = few(10);
  given.given = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 0};
  expect_as_naive(data, {}, given);
}

TEST(CrossValidation, AColumnMayBeConstantInAFold) {
  Data data = simulated(12, 5, 5);
  data.x.col(2).setZero();
  data.x(3, 2) = 4;  // constant in the training rows of row 3's fold alone
  data.x.col(4).setConstant(7);
  expect_as_naive(data, {}, few(4));
  expect_as_naive(data, {}, few(12));
}

TEST(CrossValidation, TwoRowsAndAConstantResponse) {
  const Data two = simulated(2, 3);
  const CrossValidation found = run(two, {}, few(2));
  ASSERT_TRUE(found.complete());
  for (const double error : found.curves[0].error)
    EXPECT_NEAR(error, std::pow(two.y[0] - two.y[1], 2), 1e-9 * error);
  Data flat = simulated(10, 3);
  flat.y.setConstant(4);
  const CrossValidation none = run(flat, {}, few(5));
  EXPECT_EQ(none.curves[0].error, std::vector<double>{0});
  EXPECT_EQ(none.best, 0);
  CvOptions r2 = few(5);
  r2.error = ErrorMeasure::kR2;
  EXPECT_THROW(run(flat, {}, r2), InvalidArgument);
}

TEST(CrossValidation, SparseAndFloatGiveTheSame) {
  Random random(8);
  Data data = simulated(30, 12);
  data.x = random_float_exact(random, 30, 12, 0.4);
  const auto errors = [&](const Design& design) {
    return cross_validate(design, data.y, {}, few(5), tight(1e-10)).curves[0].error;
  };
  const auto dense = errors(Design::dense(data.x));
  const auto sparse =
      errors(Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(data.x.sparseView())));
  const auto single = errors(Design::dense(Eigen::MatrixXf(data.x.cast<float>())));
  for (std::size_t k = 0; k < dense.size(); ++k) {
    EXPECT_NEAR(dense[k], sparse[k], 1e-4 * dense[k]);
    EXPECT_NEAR(dense[k], single[k], 1e-4 * dense[k]);
  }
}

TEST(CrossValidation, CarriesCertificatesAndTheFitsOnAllRows) {
  const Data data = simulated(40, 20);
  const CrossValidation found = run(data, {}, few(4));
  EXPECT_TRUE(found.converged());
  ASSERT_EQ(found.scores.size(), 4U);
  double passes = found.curves[0].path.passes;
  for (const FoldScore& score : found.scores) {
    EXPECT_EQ(score.errors.size(), 12U);
    for (const double gap : score.relative_gaps) EXPECT_LE(gap, 1e-8);
    passes += score.passes;
  }
  EXPECT_DOUBLE_EQ(found.passes, passes);
  EXPECT_LE(found.worst_gap(), 1e-8);
  EXPECT_GT(found.worst_gap(), 0);
  const Path alone = fit_path(make_regression(Design::dense(data.x), data.y, {}), few(4).path, tight(1e-8));
  ASSERT_EQ(alone.steps.size(), found.chosen().path.steps.size());
  for (std::size_t k = 0; k < alone.steps.size(); ++k) {
    EXPECT_EQ(Vector(alone.steps[k].beta), Vector(found.chosen().path.steps[k].beta));
    expect_certified(found.chosen().regression.at(alone.steps[k].alpha).problem,
                     found.chosen().path.steps[k].expanded(), 1e-8);
  }
  FitOptions hurried = tight(1e-12);
  hurried.solver = "apgd", hurried.max_epochs = 1;
  const CrossValidation rough = run(data, {}, few(4), hurried);
  EXPECT_TRUE(rough.complete());
  EXPECT_FALSE(rough.converged());
  EXPECT_EQ(rough.scores[0].statuses.back(), Status::kEpochLimit);
  EXPECT_GT(rough.worst_gap(), 1e-12);
}

TEST(CrossValidation, ThreadsDoNotChangeIt) {
  const Data data = simulated(50, 80);
  CvOptions cv = few(7);
  cv.repeats = 2;
  FitOptions options = tight(1e-8);
  const CrossValidation one = run(data, {}, cv, options);
  for (const int threads : {2, 5, 40}) {
    options.threads = threads;
    const CrossValidation many = run(data, {}, cv, options);
    EXPECT_EQ(one.curves[0].error, many.curves[0].error);
    EXPECT_EQ(one.curves[0].standard_error, many.curves[0].standard_error);
    EXPECT_EQ(one.passes, many.passes);
  }
}

TEST(CrossValidation, RepeatsAverageOverOtherFolds) {
  const Data data = simulated(30, 10);
  CvOptions cv = few(5), first = cv, second = cv;
  cv.repeats = 2;
  first.seed = cv.seed, second.seed = cv.seed + 1;
  const CrossValidation both = run(data, {}, cv), one = run(data, {}, first), two = run(data, {}, second);
  EXPECT_EQ(both.scores.size(), 10U);
  for (std::size_t k = 0; k < both.curves[0].error.size(); ++k) {
    const CvCurve &a = one.curves[0], &b = two.curves[0];
    EXPECT_NEAR(both.curves[0].error[k], (a.error[k] + b.error[k]) / 2, 1e-12 * a.error[k]);
    const double square = (std::pow(a.standard_error[k], 2) + std::pow(b.standard_error[k], 2)) / 2;
    EXPECT_NEAR(both.curves[0].standard_error[k], std::sqrt(square), 1e-12);
    EXPECT_NE(a.error[k], b.error[k]);
  }
}

TEST(CrossValidation, RulesThatEndThePathEndTheGridOfEveryFold) {
  CvOptions cv = few(4, 30);
  cv.path.max_nonzeros = 3;
  const CrossValidation found = run(simulated(40, 20), {}, cv);
  const std::size_t steps = found.chosen().path.steps.size();
  EXPECT_LT(steps, 30U);
  EXPECT_EQ(found.chosen().error.size(), steps);
  for (const FoldScore& score : found.scores) EXPECT_EQ(score.errors.size(), steps);
}

TEST(CrossValidation, ChoosesAmongShapes) {
  const Data data = simulated(40, 30);
  CvOptions cv = few(4);
  cv.qs = {0.01, 0.1, 0.5};
  const CrossValidation found = run(data, {.weights = "bh"}, cv);
  ASSERT_EQ(found.curves.size(), 3U);
  double least = INFINITY;
  for (std::size_t c = 0; c < 3; ++c) {
    CvOptions alone = few(4);
    const CrossValidation one = run(data, {.weights = "bh", .q = cv.qs[c]}, alone);
    EXPECT_EQ(one.curves[0].error, found.curves[c].error);
    EXPECT_EQ(found.curves[c].q, cv.qs[c]);
    least = std::min(least, std::ranges::min(one.curves[0].error));
  }
  EXPECT_EQ(found.chosen().error[static_cast<std::size_t>(found.best)], least);
  EXPECT_NE(found.curves[0].error, found.curves[2].error);
  EXPECT_THROW(run(data, {.weights = "lasso"}, cv), InvalidArgument);
}

// Each gamma's errors by hand: least squares on the pattern of each fold's fit, mixed.
TEST(CrossValidation, ChoosesAmongGammas) {
  const Data data = simulated(40, 12);
  CvOptions cv = few(4), plain = few(4);
  cv.gammas = {0, 0.3, 1};
  const CrossValidation found = run(data, {}, cv, tight()), penalized = run(data, {}, plain, tight());
  const CvCurve& curve = found.curves.front();
  ASSERT_EQ(curve.by_gamma.size(), 3U);
  EXPECT_EQ(curve.by_gamma[2].error, penalized.curves[0].error);
  const Folds fold_of = random_folds(40, 4, cv.seed);
  double least = INFINITY;
  for (const CvErrors& one : curve.by_gamma) {
    for (std::size_t k = 0; k < one.error.size(); ++k) {
      double squares = 0;
      for (Index fold = 0; fold < 4; ++fold) {
        const Split rows = split(fold_of, fold);
        const Eigen::MatrixXd x = data.x(rows.training, Eigen::all);
        const Regression regression = make_regression(Design::dense(x), data.y(rows.training), {});
        const double share = static_cast<double>(rows.training.size()) / 40;
        const Problem problem = regression.at(share * curve.path.steps[k].alpha).problem;
        const SparseBeta beta = fit(problem, tight()).solution.beta.sparseView();
        const Vector mix = mixed(beta, relax(problem, beta).beta, one.gamma);
        const Vector residual = data.y(rows.held_out) -
                                data.x(rows.held_out, Eigen::all) * regression.coefficients(mix) -
                                Vector::Constant(std::ssize(rows.held_out), regression.intercept(mix));
        squares += residual.squaredNorm();
      }
      EXPECT_NEAR(one.error[k], squares / 40, 1e-6 * one.error[k]) << one.gamma << " " << k;
    }
    least = std::min(least, std::ranges::min(one.error));
  }
  EXPECT_EQ(curve.error[static_cast<std::size_t>(found.best)], least);
  const auto chosen = std::ranges::find(curve.by_gamma, curve.gamma, &CvErrors::gamma);
  EXPECT_EQ(chosen->error, curve.error);
  const CvChoice choice = choose(chosen->error, chosen->standard_error, ErrorMeasure::kMse);
  EXPECT_EQ(choice.best, found.best);
  EXPECT_EQ(choice.one_se, found.one_se);
  for (const PathStep& step : curve.path.steps) {
    ASSERT_TRUE(step.relaxation);
    EXPECT_EQ(step.relaxation->gamma, curve.gamma);
  }
  for (const FoldScore& score : found.scores) EXPECT_EQ(curve.errors_of(score).size(), 12U);
  EXPECT_FALSE(penalized.curves[0].path.steps[0].relaxation);
}

TEST(Choice, OneStandardErrorIsTheSparserSide) {
  const std::vector<double> error = {9, 6, 4.4, 3.6, 3, 3.5, 5}, standard_error = {1, 1, 1, 1, 0.7, 1, 1};
  const CvChoice mse = choose(error, standard_error, ErrorMeasure::kMse);
  EXPECT_EQ(mse.best, 4);
  EXPECT_EQ(mse.one_se, 3);  // 3.6 <= 3 + 0.7 < 4.4; not 5, the other side
  std::vector<double> r2;
  for (const double e : error) r2.push_back(1 - e / 10);
  std::vector<double> r2_error;
  for (const double e : standard_error) r2_error.push_back(e / 10);
  const CvChoice larger = choose(r2, r2_error, ErrorMeasure::kR2);
  EXPECT_EQ(larger.best, 4);
  EXPECT_EQ(larger.one_se, 3);
  // The standard error is that of the best, and none leaves the best itself.
  EXPECT_EQ(choose(error, {9, 9, 9, 9, 0, 9, 9}, ErrorMeasure::kMse).one_se, 4);
  EXPECT_EQ(choose(error, {0, 0, 0, 0, 9, 0, 0}, ErrorMeasure::kMae).one_se, 0);
  EXPECT_EQ(choose({2, 1, 1}, {0, 0, 0}, ErrorMeasure::kMse).best, 1);  // of equals, the sparser
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double bad : {infinity, -infinity, nan}) {  // predictions that overflow are the worst
    EXPECT_EQ(choose({bad, 2, bad, 1, bad}, {nan, 0, nan, nan, nan}, ErrorMeasure::kMse).best, 3);
    EXPECT_EQ(choose({bad, 2, bad, 1, bad}, {nan, 0, nan, nan, nan}, ErrorMeasure::kMse).one_se, 3);
    EXPECT_EQ(choose({bad, 2, 1}, {nan, 0, 0}, ErrorMeasure::kR2).best, 1);
    EXPECT_THROW(choose({bad, bad}, {0, 0}, ErrorMeasure::kMse), InvalidArgument);
  }
}

TEST(Choice, IsTheSameByMseAndByR2) {
  const Data data = simulated(40, 15);
  CvOptions mse = few(5, 30), r2 = mse;
  r2.error = ErrorMeasure::kR2;
  const CrossValidation a = run(data, {}, mse), b = run(data, {}, r2);
  EXPECT_EQ(a.best, b.best);
  EXPECT_EQ(a.one_se, b.one_se);
  EXPECT_LE(a.one_se, a.best);
  EXPECT_LT(a.chosen().path.steps[static_cast<std::size_t>(a.one_se)].nonzeros(),
            a.chosen().path.steps.back().nonzeros());
  EXPECT_GT(b.chosen().error[static_cast<std::size_t>(b.best)], b.chosen().error.front());
}

TEST(CvOptions, AreValidatedBeforeAnyWork) {
  const Data data = simulated(6, 3);
  const auto message = [&](const auto& change) -> std::string {
    CvOptions cv = few(3);
    change(cv);
    try {
      run(data, {}, cv);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([](CvOptions& cv) { cv.folds = 1; }), "folds: want a number >= 2, got 1");
  EXPECT_EQ(message([](CvOptions& cv) { cv.gammas = {0, 2}; }), "gamma: want a number in [0, 1], got 2");
  EXPECT_EQ(message([](CvOptions& cv) { cv.gammas = {0, 0}; }), "gamma: want each number once, got 0 twice");
  EXPECT_EQ(message([](CvOptions& cv) { cv.folds = 7; }),
            "folds: want a number from 2 to 6, the number of rows, got 7");
  EXPECT_EQ(message([](CvOptions& cv) { cv.repeats = 0; }), "repeats: want a number >= 1, got 0");
  EXPECT_EQ(message([](CvOptions& cv) { cv.given = {0, 1, 0, 1, 0, 1}, cv.repeats = 2; }),
            "repeats: want 1 where the folds are given, got 2");
  EXPECT_EQ(message([](CvOptions& cv) {
              cv.given = {0, 1};
            }),
            "folds: want 6 numbers, one for each row, got 2");
  EXPECT_EQ(message([](CvOptions& cv) { cv.path.steps = 0; }), "steps: want a number >= 1, got 0");
  EXPECT_EQ(message([](CvOptions& cv) { cv.qs = {0.1, 0.1}; }), "q: want each number once, got 0.1 twice");
  EXPECT_THROW(parse_error_measure("rmse"), InvalidArgument);
}

TEST(CrossValidation, ProgressEndsWithAllFoldsAndCanStop) {
  const Data data = simulated(40, 20);
  Index calls = 0, most = 0;
  CvHooks hooks;
  hooks.progress = [&](const CvProgress& at) {
    ++calls, most = std::max(most, at.done);
    EXPECT_EQ(at.folds, 4);
    EXPECT_LE(at.done, at.folds);
    return true;
  };
  run(data, {}, few(4), tight(1e-8), hooks);
  EXPECT_GT(calls, 4);
  EXPECT_EQ(most, 3);  // the last call comes before the last fold is recorded
  hooks.progress = [](const CvProgress& at) { return at.done < 2; };
  const CrossValidation stopped = run(data, {}, few(4), tight(1e-8), hooks);
  EXPECT_FALSE(stopped.complete());
  EXPECT_EQ(stopped.stopped_by, PathStop::kInterrupted);
  EXPECT_EQ(stopped.scores.size(), 2U);
  FitOptions no_time = tight();
  no_time.max_seconds = 0;
  EXPECT_EQ(run(data, {}, few(4), no_time).stopped_by, PathStop::kMaxSeconds);
}

}  // namespace
}  // namespace tyto
