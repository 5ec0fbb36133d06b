#include "tyto/select/estimate.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/certified.h"
#include "tests/unit/select/cv_runs.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

Dataset simulated(Index n = 60, Index p = 25) {
  const cv_runs::Data data = cv_runs::simulated(n, p);
  Dataset result{Design::dense(data.x), data.y};
  for (Index j = 0; j < p; ++j) result.names.push_back(fmt::format("x{}", j));
  return result;
}

EstimateOptions with(const std::function<void(EstimateOptions&)>& change) {
  EstimateOptions options;
  options.fit.tolerance = 1e-9;
  change(options);
  return options;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

void expect_same(const Model& found, const Model& wanted) {
  EXPECT_EQ(found.alpha, wanted.alpha);
  EXPECT_EQ(found.intercept(), wanted.intercept());
  EXPECT_EQ(found.primal, wanted.primal);
  EXPECT_EQ(found.gap, wanted.gap);
  EXPECT_EQ(found.status, wanted.status);
  ASSERT_EQ(found.coefficients.size(), wanted.coefficients.size());
  for (std::size_t k = 0; k < found.coefficients.size(); ++k) {
    EXPECT_EQ(found.coefficients[k].column, wanted.coefficients[k].column);
    EXPECT_EQ(found.coefficients[k].value, wanted.coefficients[k].value);
    EXPECT_EQ(found.coefficients[k].cluster, wanted.coefficients[k].cluster);
    EXPECT_EQ(found.coefficients[k].name, wanted.coefficients[k].name);
  }
}

// The steps of the workflow, one by one.
TEST(Estimate, OneFitIsTheStepsByHand) {
  const Dataset data = simulated();
  std::vector<EstimateOptions> all(5, with([](auto&) {}));
  all[1].regression.ridge = 3;
  all[1].regression.slope = 4;
  all[2].regression.nonnegative = true;
  all[2].regression.intercept = false;
  all[3].regression.standardize = false;
  all[3].regression.unpenalized = {2, 7};
  all[4].regression.weights = "lasso";
  all[4].fit.solver = "apgd";
  all[4].fit.screening = "none";
  for (const EstimateOptions& options : all) {
    const Estimate found = estimate(data, options);
    const Regression regression = make_regression(data.design, data.response, options.regression);
    const Fit by_hand = fit(regression.problem, options.fit);
    ASSERT_EQ(found.models.size(), 1U);
    EXPECT_FALSE(found.models.front().coefficients.empty());
    expect_same(found.models.front(), make_model(data, options.regression, regression, by_hand, options.fit));
    EXPECT_EQ(found.fit().epochs, by_hand.epochs);
    EXPECT_EQ(found.regression.alpha, regression.alpha);
    EXPECT_FALSE(found.models.front().noise);
    expect_certified(found.regression.problem, found.path.steps.front().expanded(), 1e-9);
  }
}

TEST(Estimate, TheLevelOfTheNoiseIsAStrength) {
  const Dataset data = simulated();
  const auto asked = [&](const NoiseOption& noise) {
    return estimate(data, with([&](auto& o) {
                      o.regression.weights = "bh";
                      o.noise = noise;
                    }));
  };
  const Estimate given = asked({1.5}), estimated = asked({{}, true});
  EXPECT_DOUBLE_EQ(given.regression.alpha, 1.5 * std::sqrt(60.0));
  EXPECT_EQ(given.models.front().alpha, given.regression.alpha);
  EXPECT_EQ(given.models.front().noise->sigma, 1.5);
  EXPECT_FALSE(given.models.front().noise->status);
  EXPECT_EQ(estimated.models.front().noise->status, NoiseStatus::kConverged);
  EXPECT_DOUBLE_EQ(estimated.regression.alpha, estimated.models.front().noise->sigma * std::sqrt(60.0));
  const EstimateOptions options = with([](auto& o) { o.regression.weights = "bh"; });
  const Regression regression = make_regression(data.design, data.response, options.regression);
  const NoiseFit by_hand = fit_estimating_noise(regression, options.fit);
  EXPECT_EQ(estimated.models.front().noise->sigma, by_hand.noise.sigma);
  expect_same(estimated.models.front(),
              make_model(data, options.regression, by_hand.regression, by_hand.fit, options.fit));
}

TEST(Estimate, RelaxesToLeastSquaresOnTheClusters) {
  const Dataset data = simulated();
  const auto relaxed_by = [&](std::optional<double> gamma) {
    return estimate(data, with([&](auto& o) { o.gamma = gamma; }));
  };
  const Estimate plain = relaxed_by({}), half = relaxed_by(0.5), full = relaxed_by(0);
  EXPECT_FALSE(plain.models.front().relaxed);
  const RelaxedCoefficients& ends = *half.models.front().relaxed;
  for (std::size_t k = 0; k < ends.relaxed.size(); ++k) {
    EXPECT_EQ(ends.penalized[k], plain.models.front().coefficients[k].value);
    EXPECT_EQ(ends.relaxed[k], full.models.front().coefficients[k].value);
    EXPECT_EQ(half.models.front().coefficients[k].value, 0.5 * ends.relaxed[k] + 0.5 * ends.penalized[k]);
  }
  EXPECT_LT(full.path.steps.front().residual_norm, half.path.steps.front().residual_norm);
  EXPECT_LT(half.path.steps.front().residual_norm, plain.path.steps.front().residual_norm);
}

TEST(Estimate, StartsFromCoefficientsOfTheDataScale) {
  const Dataset data = simulated();
  const Estimate cold = estimate(data, with([](auto& o) { o.fit.solver = "apgd"; }));
  Vector start = Vector::Zero(25);
  for (const Coefficient& c : cold.models.front().coefficients) start[c.column] = c.value;
  const Estimate warm = estimate(data, with([&](auto& o) {
                                   o.fit.solver = "apgd";
                                   o.start = start;
                                 }));
  EXPECT_GT(cold.fit().epochs, 1);
  EXPECT_LE(warm.fit().epochs, 1);
  EXPECT_EQ(refusal([&] { estimate(data, with([](auto& o) { o.start = Vector::Zero(3); })); }),
            "start: want 25 coefficients, got 3");
}

TEST(Estimate, FindsWhatTheOptionsNameInTheData) {
  Dataset data = simulated();
  const auto by_name = with([](auto& o) { o.unpenalized = {"x3", "11"}; });
  const auto by_number = with([](auto& o) { o.regression.unpenalized = {3, 11}; });
  expect_same(estimate(data, by_name).models.front(), estimate(data, by_number).models.front());
  EXPECT_EQ(completed(by_name, data).regression.unpenalized, (IndexSet{3, 11}));
  EXPECT_EQ(completed(completed(by_name, data), data).regression.unpenalized, (IndexSet{3, 11}));
  EXPECT_EQ(refusal([&] { estimate(data, with([](auto& o) { o.unpenalized = {"25"}; })); }),
            "unpenalized: want a feature by name, or by number from 0 to 24, got '25'");
  const Vector weights = Vector::LinSpaced(60, 1, 3);
  const auto weighted = with([&](auto& o) { o.regression.observation_weights = weights; });
  const Estimate given = estimate(data, weighted);
  data.row_weights = weights;
  expect_same(estimate(data, with([](auto&) {})).models.front(), given.models.front());
  data.names[4] = "x3";
  EXPECT_EQ(refusal([&] { estimate(data, by_name); }),
            "unpenalized: want the number of one column, got 'x3', which several are named");
}

TEST(Estimate, APathHasCriteriaAndChoices) {
  const Dataset data = simulated();
  const auto options = with([](auto& o) {
    o.cv.path.steps = 20;
    o.choose = {Criterion::kBic, Criterion::kCp};
    o.gamma = 0;
    o.correlations = true;
  });
  const Estimate found = estimate_path(data, options);
  const Regression regression = make_regression(data.design, data.response, options.regression);
  Path by_hand = fit_path(regression, options.cv.path, options.fit);
  relax(regression, 0, by_hand);
  const std::vector<Criteria> table = criteria(by_hand, regression.problem);
  ASSERT_EQ(found.models.size(), 20U);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(found.criteria[k].bic, table[k].bic);
    EXPECT_EQ(found.path.steps[k].explained, by_hand.steps[k].explained);
    EXPECT_EQ(std::ssize(found.models[k].correlations), found.models[k].clusters());
  }
  const auto step = static_cast<std::size_t>(choose(table, Criterion::kBic, 60).step);
  ASSERT_FALSE(found.models[step].chosen_by.empty());
  EXPECT_EQ(found.models[step].chosen_by.front().criterion, Criterion::kBic);
  EXPECT_TRUE(estimate_path(data, with([](auto& o) { o.criteria = false; })).criteria.empty());
}

TEST(Estimate, CrossValidationMarksItsChoices) {
  const Dataset data = simulated();
  const auto options = with([](auto& o) {
    o.cv.folds = 4;
    o.cv.path.steps = 10;
    o.cv.slopes = {0, 2};
    o.cv.gammas = {0, 1};
  });
  const CvEstimate found = estimate_cv(data, options);
  const CrossValidation by_hand =
      cross_validate(data.design, data.response, options.regression, options.cv, options.fit);
  ASSERT_TRUE(found.cv.complete());
  EXPECT_EQ(found.cv.chosen().error, by_hand.chosen().error);
  EXPECT_EQ(found.cv.best, by_hand.best);
  EXPECT_TRUE(found.models[static_cast<std::size_t>(by_hand.best)].best);
  EXPECT_TRUE(found.models[static_cast<std::size_t>(by_hand.one_se)].one_se);
  EXPECT_EQ(found.models.front().options.slope, by_hand.chosen().slope);
}

TEST(Estimate, ObserversStopIt) {
  const Dataset data = simulated();
  const auto apgd = with([](auto& o) {
    o.fit.solver = "apgd";
    o.fit.tolerance = 1e-14;
  });
  const Estimate one = estimate(data, apgd, [](const TracePoint& at) { return at.epoch < 2; });
  EXPECT_EQ(one.fit().status, Status::kInterrupted);
  EXPECT_EQ(one.path.stopped_by, PathStop::kInterrupted);
  const Estimate many = estimate_path(data, apgd, [](const PathProgress& at) { return at.step < 3; });
  EXPECT_EQ(many.path.stopped_by, PathStop::kInterrupted);
  EXPECT_EQ(many.models.size(), many.path.steps.size());
  EXPECT_LE(many.models.size(), 4U);
  CvHooks hooks;
  hooks.progress = [](const CvProgress& at) { return at.done < 1; };
  const CvEstimate folds = estimate_cv(data, with([](auto& o) { o.cv.path.steps = 5; }), hooks);
  EXPECT_FALSE(folds.cv.complete());
  EXPECT_TRUE(folds.models.empty());
}

TEST(Estimate, RefusesBadOptionsBeforeItLooksAtData) {
  const Dataset none{Design::dense(Eigen::MatrixXd(0, 0)), Vector()};
  const auto refused = [&](Task task, const std::function<void(EstimateOptions&)>& change) {
    const EstimateOptions options = with(change);
    const std::string early = refusal([&] { validate(options, task); });
    EXPECT_EQ(refusal([&] {
                if (task == kFitTask) estimate(none, options);
                if (task == kPathTask) estimate_path(none, options);
                if (task == kCvTask) estimate_cv(none, options);
              }),
              early);
    return early;
  };
  for (const Task task : {kFitTask, kPathTask, kCvTask}) {
    EXPECT_EQ(refused(task, [](auto& o) { o.regression.ridge = -1; }),
              "ridge: want a finite number >= 0, got -1");
    EXPECT_EQ(refused(task, [](auto& o) { o.fit.tolerance = 1; }),
              "tolerance: want a number in (0, 1), got 1");
    EXPECT_NE(refused(task, [](auto& o) { o.fit.solver = "bogus"; }).find("bogus"), std::string::npos);
    EXPECT_NE(refused(task, [](auto& o) { o.fit.screening = "bogus"; }).find("bogus"), std::string::npos);
  }
  EXPECT_EQ(refused(kFitTask, [](auto& o) { o.gamma = 2; }), "gamma: want a number in [0, 1], got 2");
  EXPECT_EQ(refused(kFitTask, [](auto& o) { o.noise.estimate = true; }),
            "sigma: want weights bh or gaussian, got 'oscar'");
  EXPECT_EQ(refused(kPathTask, [](auto& o) { o.noise.sigma = -1; }), "sigma: want a number > 0, got -1");
  EXPECT_EQ(refused(kPathTask, [](auto& o) { o.cv.path.steps = 0; }), "steps: want a number >= 1, got 0");
  EXPECT_EQ(refused(kPathTask,
                    [](auto& o) {
                      o.choose = {Criterion::kAic, Criterion::kAic};
                    }),
            "choose: want each criterion once, got aic twice");
  EXPECT_EQ(refused(kCvTask, [](auto& o) { o.cv.folds = 1; }), "folds: want a number >= 2, got 1");
  EXPECT_EQ(refused(kCvTask,
                    [](auto& o) {
                      o.cv.gammas = {0};
                      o.regression.nonnegative = true;
                    }),
            "gamma: want none with nonnegative: relaxed coefficients may be below 0");
}

}  // namespace
}  // namespace tyto
