#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/select/path_runs.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

using namespace path_runs;

// Many rows: several strengths are certified by one reading of X.
TEST(SeeingAhead, ManyRowsAreReadLessThanOnceAStrength) {
  for (const char* weights : {"oscar", "bh", "lasso"}) {
    SCOPED_TRACE(weights);
    RegressionOptions options;
    options.weights = weights;
    const Regression regression = regression_of(simulated(3000, 60), options);
    const Path path = fit_path(regression, {}, tight());
    expect_path_certified(regression, path, kTolerance);
    EXPECT_EQ(path.steps.size(), 100);
    EXPECT_LT(path.passes, 60);
    for (const PathStep& step : path.steps) {
      EXPECT_FALSE(step.fit.trace.empty());
      EXPECT_LE(step.fit.screened, 60 - step.nonzeros());
    }
    FitOptions without = tight();
    without.solver = "apgd";
    const Path other = fit_path(regression, {.steps = 5}, without),
               few = fit_path(regression, {.steps = 5}, tight());
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_NEAR(few.steps[k].fit.certificate.primal, other.steps[k].fit.certificate.primal,
                  2 * kTolerance * other.steps[k].fit.certificate.primal);
  }
}

// More than fits the cache, and columns that come in all the way: what the solver lacks is guessed, and taken
// in between two strengths; where columns are short, all that are left at once.
TEST(SeeingAhead, SeesColumnsComing) {
  for (const Index n : {4200, 1000}) {
    Data data = simulated(n, 300);
    Random random(7);
    for (Index j = 0; j < 150; ++j) data.y += data.x.col(j) * random.uniform(0, 0.3);
    Vector often(n);
    for (double& weight : often) weight = random.uniform(0.2, 2);
    for (const char* weights : {"oscar", "bh", "lasso"})
      for (const int kind : {0, 1, 2, 3}) {
        if (n < 4000 && kind % 3 != 0) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", n, weights, kind));
        RegressionOptions options;
        options.weights = weights;
        if (kind == 1) options.ridge = 30;
        if (kind == 2) options.nonnegative = true;
        if (kind == 3) options.observation_weights = often, options.unpenalized = {7};
        const Regression regression = regression_of(data, options);
        const Path path = fit_path(regression, {.steps = 60, .ratio = 0.01}, tight());
        EXPECT_TRUE(path.converged());
        for (const PathStep& step : path.steps) {
          const Problem problem = regression.at(step.alpha).problem;
          const Certificate c = certify(problem, make_iterate(problem, step.beta));
          EXPECT_LE(c.gap, kTolerance * c.primal * (1 + 1e-6)) << step.alpha;
        }
        EXPECT_GT(path.steps.back().nonzeros(), 100);
        EXPECT_LT(path.passes, 25);
      }
  }
}

TEST(SeeingAhead, StopsWhereTheRulesSay) {
  const Regression regression = regression_of(simulated(3000, 60));
  const Path whole = fit_path(regression);
  const Path path = fit_path(regression, {.max_nonzeros = 10});
  EXPECT_EQ(path.stopped_by, PathStop::kMaxNonzeros);
  EXPECT_GE(path.steps.back().nonzeros(), 10);
  EXPECT_LT(path.steps[path.steps.size() - 2].nonzeros(), 10);
  EXPECT_EQ(path.steps.back().nonzeros(), whole.steps[path.steps.size() - 1].nonzeros());
  const Path stopped = fit_path(regression, {}, {}, [&](const PathProgress& at) { return at.step < 20; });
  EXPECT_EQ(stopped.stopped_by, PathStop::kInterrupted);
  EXPECT_EQ(stopped.steps.size(), 21);
}

TEST(SeeingAhead, TellsOfEveryStep) {
  for (const Index p : {10, 60, 200}) {
    SCOPED_TRACE(p);
    const Regression regression = regression_of(simulated(1000, p));
    std::set<Index> seen;
    double last = 0;
    const Path path = fit_path(regression, {}, {}, [&](const PathProgress& at) {
      seen.insert(at.step);
      EXPECT_GE(at.seconds, last);
      last = at.seconds;
      return true;
    });
    EXPECT_EQ(seen.size(), path.steps.size());
    for (const PathStep& step : path.steps) EXPECT_LE(step.fit.trace.back().seconds, step.fit.seconds);
    EXPECT_GE(path.seconds, last);
  }
  FitOptions none;
  none.max_seconds = 0;
  const Path path = fit_path(regression_of(simulated(1000, 60)), {}, none);
  EXPECT_EQ(path.stopped_by, PathStop::kMaxSeconds);
  EXPECT_EQ(path.steps.size(), 1);
}

TEST(PathSolver, WantsPenaltiesOfItsSize) {
  const Regression regression = regression_of(simulated(30, 5));
  PathSolver solver(regression.problem, {});
  EXPECT_THROW(solver.fit_next({}, 1), InvalidArgument);
  const std::vector<SortedL1> penalties{regression.shape, regression.shape.head(4)};
  EXPECT_THROW(solver.fit_next(penalties, 1), InvalidArgument);
}

}  // namespace
}  // namespace tyto
