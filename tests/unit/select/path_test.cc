#include "tyto/select/path.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/random.h"
#include "tests/unit/select/path_runs.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

using namespace path_runs;

template <class Change>
std::string message_after(Change change) {
  PathOptions options;
  change(options);
  try {
    fit_path(regression_of(simulated(5, 3)), options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PathOptions, AreValidatedBeforeAnyWork) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const Index bad : {0, -1}) {
    const std::string got = std::to_string(bad);
    EXPECT_EQ(message_after([&](PathOptions& o) { o.steps = bad; }), "steps: want a number >= 1, got " + got);
    EXPECT_EQ(message_after([&](PathOptions& o) { o.max_nonzeros = bad; }),
              "max-nonzeros: want a number >= 1, got " + got);
    EXPECT_EQ(message_after([&](PathOptions& o) { o.max_clusters = bad; }),
              "max-clusters: want a number >= 1, got " + got);
  }
  for (const double bad : {-0.1, 1.0, nan, infinity})
    EXPECT_EQ(message_after([&](PathOptions& o) { o.ratio = bad; }),
              fmt::format("ratio: want a number in (0, 1), or 0 for automatic, got {}", bad));
  EXPECT_EQ(message_after([&](PathOptions& o) {
              o.ratio = 1e-305;
            }).rfind("ratio: want a last strength above 1e-300, got ", 0),
            0U);
  for (const double bad : {0.0, -1.0, 1.5, nan}) {
    EXPECT_EQ(message_after([&](PathOptions& o) { o.max_explained = bad; }),
              fmt::format("max-explained: want a number in (0, 1], got {}", bad));
    EXPECT_EQ(message_after([&](PathOptions& o) { o.min_change = bad; }),
              fmt::format("min-change: want a number in (0, 1], got {}", bad));
  }
}

TEST(Path, RefusesStrengthsThatAreNone) {
  const Problem unit = regression_of(simulated(5, 3)).problem;
  const std::string wish = "alphas: want finite numbers > 0, the largest first, got ";
  const std::vector<std::pair<std::vector<double>, std::string>> rows = {
      {{}, "none"}, {{1, 0}, "0"}, {{-1}, "-1"}, {{std::nan("")}, "nan"}, {{1, 2}, "2 after 1"}};
  for (const auto& [alphas, got] : rows) {
    try {
      fit_path(unit, alphas);
      ADD_FAILURE() << "accepted: " << got;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), wish + got);
    }
  }
}

TEST(AlphaGrid, IsGeometricWithBothEnds) {
  for (const auto& [n, p, ratio] : {std::tuple{10, 10, 0.01}, std::tuple{10, 9, 0.0001}}) {
    const auto grid = alpha_grid(3, n, p, {});
    ASSERT_EQ(grid.size(), 100U);
    EXPECT_EQ(grid.front(), 3);
    EXPECT_DOUBLE_EQ(grid.back(), 3 * ratio);
    for (std::size_t k = 1; k < grid.size(); ++k)
      EXPECT_NEAR(grid[k] / grid[k - 1], std::pow(ratio, 1 / 99.0), 1e-12);
  }
  EXPECT_EQ(alpha_grid(2, 5, 5, {.steps = 2, .ratio = 0.5}), (std::vector<double>{2, 1}));
  EXPECT_EQ(alpha_grid(2, 5, 5, {.steps = 1}), std::vector<double>{2});
  EXPECT_EQ(alpha_grid(0, 5, 5, {.steps = 7}), std::vector<double>{1});
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(alpha_grid(bad, 5, 5, {}), InvalidArgument);
}

TEST(Path, EveryStrengthIsCertifiedForEveryKindOfWeights) {
  for (const std::string& weights : weight_names())
    for (const Index p : {Index{12}, Index{60}}) {
      SCOPED_TRACE(weights + " " + std::to_string(p));
      const Regression regression = regression_of(simulated(30, p), {.weights = weights});
      const Path path = fit_path(regression, {.steps = 15}, tight());
      ASSERT_EQ(path.steps.size(), 15U);
      EXPECT_EQ(path.stopped_by, PathStop::kNone);
      EXPECT_EQ(path.alpha_max, regression.alpha_max);
      EXPECT_EQ(path.ratio, p >= 30 ? 0.01 : 0.0001);
      expect_path_certified(regression, path, kTolerance);
      EXPECT_EQ(path.steps.front().nonzeros(), 0);
      EXPECT_GT(path.steps.back().nonzeros(), 0);
      for (std::size_t k = 1; k < path.steps.size(); ++k)  // a weaker penalty explains more, up to the gap
        EXPECT_GE(path.steps[k].explained, path.steps[k - 1].explained - 1e-3);
    }
}

TEST(Path, DoesNotDependOnTheStrengthOfTheRegression) {
  const Data data = simulated(20, 30);
  const Path one = fit_path(regression_of(data, {.strength = 0.9}), {.steps = 5});
  const Path other =
      fit_path(regression_of(data, {.strength = 1e-3, .relative_to = RelativeTo::kAbsolute}), {.steps = 5});
  ASSERT_EQ(one.alphas, other.alphas);
  for (std::size_t k = 0; k < one.steps.size(); ++k)
    EXPECT_EQ(Vector(one.steps[k].beta), Vector(other.steps[k].beta));
}

TEST(Path, WarmStartsReachTheObjectiveOfColdOnes) {
  const Regression regression = regression_of(simulated(25, 50), {.weights = "bh"});
  for (const SolverRow& solver : solvers()) {
    FitOptions options = tight();
    options.solver = solver.name;
    const Path path = fit_path(regression, {.steps = 8}, options);
    expect_path_certified(regression, path, kTolerance);
    for (const PathStep& step : path.steps) {
      const Fit cold = fit(regression.at(step.alpha).problem, options);
      EXPECT_NEAR(step.fit.certificate.primal, cold.certificate.primal,
                  2 * kTolerance * cold.certificate.primal);
    }
  }
}

// Where all columns are read, each strength begins where the one before it ended: X'r there is known.
TEST(Path, TheEndOfAStrengthIsNotReadAgain) {
  Random random(8);
  const Index n = 60, p = 600;
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x(n, p);
  for (Index j = 0; j < p; ++j)
    for (int k = 0; k < 3; ++k) x.coeffRef(static_cast<Index>(random.uniform(0, n)), j) = random.normal();
  Vector y = random_vector(random, n);
  for (Index j = 0; j < 10; ++j) y += 4 * x.col(j);
  for (const char* solver : {"newton", "apgd"})
    for (const double ridge : {0.0, 0.1}) {
      SCOPED_TRACE(testing::Message() << solver << " " << ridge);
      const Regression regression =
          make_regression(Design::sparse(x), y, {.weights = "oscar", .ridge = ridge});
      FitOptions options = tight();
      options.solver = solver;
      const Path path = fit_path(regression, {.steps = 12, .ratio = 0.4}, options);
      expect_path_certified(regression, path, kTolerance);
      EXPECT_GT(path.steps.back().nonzeros(), 3);
      double epochs = 0;
      for (const PathStep& step : path.steps) epochs += static_cast<double>(step.fit.epochs);
      if (solver == std::string("newton")) {
        EXPECT_LT(path.passes, epochs + 3);  // one at the start, and what working sets take
      }
    }
}

TEST(Path, EachRuleEndsItAndSaysSo) {
  const Regression regression = regression_of(simulated(40, 60));
  const Path whole = fit_path(regression, {.steps = 40}, tight());
  const struct {
    PathOptions rules;
    PathStop stop;
    std::function<bool(const PathStep& now, const PathStep& before)> fires;
  } rows[] = {
      {{.max_explained = 0.8}, PathStop::kMaxExplained, [](auto& s, auto&) { return s.explained >= 0.8; }},
      {{.min_change = 0.01},
       PathStop::kMinChange,
       [](auto& s, auto& b) { return b.nonzeros() > 0 && s.explained - b.explained < 0.01; }},
      {{.max_nonzeros = 9}, PathStop::kMaxNonzeros, [](auto& s, auto&) { return s.nonzeros() >= 9; }},
      {{.max_clusters = 7}, PathStop::kMaxClusters, [](auto& s, auto&) { return s.clusters >= 7; }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(name(row.stop));
    PathOptions rules = row.rules;
    rules.steps = 40;
    const Path path = fit_path(regression, rules, tight());
    EXPECT_EQ(path.stopped_by, row.stop) << name(path.stopped_by);
    ASSERT_LT(path.steps.size(), whole.steps.size());
    EXPECT_EQ(path.alphas, whole.alphas);
    expect_path_certified(regression, path, kTolerance);
    for (std::size_t k = 1; k < path.steps.size(); ++k)
      EXPECT_EQ(row.fires(path.steps[k], path.steps[k - 1]), k + 1 == path.steps.size()) << k;
    for (std::size_t k = 0; k < path.steps.size(); ++k)  // what is kept is the same as without the rule
      EXPECT_EQ(Vector(path.steps[k].beta), Vector(whole.steps[k].beta));
  }
}

TEST(Path, ARuleThatHoldsAtTheLastStrengthOnlyHasNothingToStop) {
  const Regression regression = regression_of(simulated(40, 60));
  const Path path = fit_path(regression, {.steps = 1, .max_explained = 1e-300}, tight());
  EXPECT_EQ(path.stopped_by, PathStop::kNone);
  const Path two = fit_path(regression, {.steps = 2, .ratio = 0.1, .max_nonzeros = 1}, tight());
  EXPECT_EQ(two.stopped_by, PathStop::kNone);
  EXPECT_EQ(two.steps.size(), 2U);
}

TEST(Path, AnEmptyModelIsNoReasonToStop) {
  const Regression regression = regression_of(simulated(40, 60));
  // Neighbours this close have the same empty solution, within the tolerance.
  const Path path =
      fit_path(regression, {.steps = 20, .ratio = 0.999, .min_change = 1e-9}, {.tolerance = 1e-2});
  EXPECT_EQ(path.steps.back().nonzeros(), 0);
  EXPECT_EQ(path.steps.size(), 20U);
}

TEST(Path, AnInterruptKeepsWhatIsThere) {
  const Regression regression = regression_of(simulated(30, 50));
  const Path whole = fit_path(regression, {.steps = 10}, tight());
  FitOptions endless = tight();
  endless.tolerance = 1e-15;
  for (const FitOptions& options : {tight(), endless}) {
    Index calls = 0;
    const Path path = fit_path(regression, {.steps = 10}, options, [&](const PathProgress& at) {
      EXPECT_EQ(at.steps, 10);
      EXPECT_EQ(at.alpha, whole.alphas[static_cast<std::size_t>(at.step)]);
      EXPECT_GE(at.seconds, at.point.seconds);
      ++calls;
      return at.step < 3;
    });
    EXPECT_EQ(path.stopped_by, PathStop::kInterrupted);
    EXPECT_FALSE(path.converged());
    ASSERT_EQ(path.steps.size(), 4U);
    EXPECT_GE(calls, 4);
    EXPECT_EQ(path.steps.back().fit.status, Status::kInterrupted);
    for (const PathStep& step : path.steps)
      expect_certificate_holds(regression.at(step.alpha).problem, step.expanded().solution.beta);
  }
}

TEST(Path, AnInterruptAtAFinishedStrengthEndsThePathToo) {
  const Regression regression = regression_of(simulated(30, 50));
  const Path path = fit_path(regression, {.steps = 10}, tight(), [](const PathProgress&) { return false; });
  EXPECT_EQ(path.stopped_by, PathStop::kInterrupted);
  ASSERT_EQ(path.steps.size(), 1U);
  EXPECT_EQ(path.steps[0].fit.status, Status::kConverged);  // nothing is to be done at alpha_max
}

TEST(Path, TimeIsForAllStrengths) {
  FitOptions options = tight();
  options.max_seconds = 0;
  const Path path = fit_path(regression_of(simulated(30, 50)), {.steps = 10}, options);
  EXPECT_EQ(path.stopped_by, PathStop::kMaxSeconds);
  EXPECT_FALSE(path.converged());
  EXPECT_EQ(path.steps.size(), 1U);
}

TEST(Path, AStrengthThatMissesTheToleranceDoesNotEndIt) {
  const Regression regression = regression_of(simulated(30, 50));
  FitOptions options = tight();
  options.solver = "apgd", options.max_epochs = 2;
  const Path path = fit_path(regression, {.steps = 10}, options);
  EXPECT_EQ(path.stopped_by, PathStop::kNone);
  ASSERT_EQ(path.steps.size(), 10U);
  EXPECT_FALSE(path.converged());
  EXPECT_EQ(path.steps.front().fit.status, Status::kConverged);
  EXPECT_EQ(path.steps.back().fit.status, Status::kEpochLimit);
  for (const PathStep& step : path.steps)
    expect_certificate_holds(regression.at(step.alpha).problem, step.expanded().solution.beta);
}

TEST(Path, OneRowOneColumnAndNoResponse) {
  std::vector<Data> all{simulated(1, 7), simulated(9, 1), simulated(1, 1), simulated(8, 5)};
  all.back().y.setConstant(3);
  for (const bool intercept : {true, false})
    for (const std::string weights : {"oscar", "linf"})
      for (const Data& data : all) {
        SCOPED_TRACE(fmt::format("{} {} {} x {}", weights, intercept, data.x.rows(), data.x.cols()));
        const Regression regression =
            regression_of(data, {.weights = weights, .intercept = intercept, .standardize = intercept});
        const Path path = fit_path(regression, {.steps = 6}, tight());
        EXPECT_EQ(path.stopped_by, PathStop::kNone);
        expect_path_certified(regression, path, kTolerance);
        EXPECT_EQ(path.steps.size(), regression.alpha_max > 0 ? 6U : 1U);
      }
}

TEST(Path, ZeroResponseIsOneEmptyModel) {
  Data data = simulated(8, 5);
  data.y.setZero();
  const Path path = fit_path(regression_of(data), {.max_explained = 0.5});
  ASSERT_EQ(path.steps.size(), 1U);
  EXPECT_EQ(path.alpha_max, 0);
  EXPECT_EQ(path.steps[0].nonzeros(), 0);
  EXPECT_EQ(path.steps[0].explained, 0);
  EXPECT_TRUE(path.converged());
}

TEST(Path, DuplicateColumnsShareAClusterAtEveryStrength) {
  Data data = simulated(20, 6);
  data.x.col(1) = data.x.col(0), data.x.col(2) = -data.x.col(0);
  const Regression regression = regression_of(data);
  const Path path = fit_path(regression, {.steps = 12, .ratio = 0.05}, tight());
  expect_path_certified(regression, path, kTolerance);
  for (const PathStep& step : path.steps) {
    const Vector beta = step.beta;
    EXPECT_NEAR(beta[0], beta[1], 1e-9);
    EXPECT_NEAR(beta[0], -beta[2], 1e-9);
    EXPECT_LE(step.clusters, step.nonzeros() - (beta[0] != 0 ? 2 : 0));
  }
  EXPECT_NE(path.steps.back().beta.coeff(0), 0);
}

TEST(PathStop, HasANameForEveryValue) {
  EXPECT_EQ(name(PathStop::kNone), "none");
  EXPECT_EQ(name(PathStop::kMaxExplained), "max_explained");
  EXPECT_EQ(name(PathStop::kMinChange), "min_change");
  EXPECT_EQ(name(PathStop::kMaxNonzeros), "max_nonzeros");
  EXPECT_EQ(name(PathStop::kMaxClusters), "max_clusters");
  EXPECT_EQ(name(PathStop::kMaxSeconds), "max_seconds");
  EXPECT_EQ(name(PathStop::kInterrupted), "interrupt");
}

}  // namespace
}  // namespace tyto
