// Branches that need large data with the thresholds of every day, reached on small data with lower ones.
#include "tyto/base/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/math/weights.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

// Three orthogonal columns, weights 1, and a solution with b_1 > 0 alone. Where b_1 is too small, X'r is
// large in column 1, theta is short, and the second column is screened. Where b_1 is too large, theta is
// longer, by what column 1 allows: there the second column, whose |x_2'theta*| is only a little below 1,
// counts again. So a solver that comes from below and overshoots may solve the columns left before the full
// problem. The third column slows apgd down, so that it does overshoot.
struct Overshooting {
  Problem problem;
  FitOptions options;
};
Overshooting overshooting(Random& random, std::string_view solver) {
  Vector y(3);
  y << random.uniform(3, 9), random.uniform(2, 6), 0;
  const double slack = random.uniform(0.02, 0.2);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(3, 3);
  x.diagonal() << 1, (1 - slack) / y[1], solver == "apgd" ? random.uniform(1.5, 8) : 0.1;
  FitOptions options;
  options.solver = solver;
  // One gradient step an epoch, nearly twice as long as it should be.
  if (solver == "spgd") options.stochastic = {3, 1, random.uniform(1.5, 1.95), 1};
  return {dense_problem(std::move(x), std::move(y), Vector::Ones(3)), options};
}

// Whether an epoch solved the columns that were left, and yet was not the last one: the full problem was not
// solved.
bool went_on(const Fit& result, double tolerance) {
  const Index p = result.solution.beta.size();
  return std::any_of(result.trace.begin(), result.trace.end() - 1, [&](const TracePoint& at) {
    return at.active < p && at.gap < 0.99 * tolerance * at.primal;
  });
}

// What these solvers do does not depend on the tolerance. So a fit that went on where the columns left were
// solved, and the full problem was not, is the beginning of one with a smaller tolerance, bit by bit: X'r of
// the columns left must take the place of that of the full problem again.
TEST(Fit, GoesOnFromTheOlderCorrelationWhereOnlyTheColumnsLeftAreSolved) {
  for (const std::string_view solver : {"apgd", "spgd"}) {
    Index reached = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      for (const double tolerance : {0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001}) {
        SCOPED_TRACE(testing::Message() << solver << " " << seed << " " << tolerance);
        Random random(seed);
        auto [problem, options] = overshooting(random, solver);
        options.tolerance = tolerance;
        const Fit loose = fit(problem, options);
        expect_certified(problem, loose, tolerance);
        if (!went_on(loose, tolerance)) continue;
        ++reached;
        options.tolerance = 1e-9;
        const Fit tight = fit(problem, options);
        expect_certified(problem, tight, 1e-9);
        ASSERT_GT(tight.trace.size(), loose.trace.size());
        for (std::size_t k = 0; k < loose.trace.size(); ++k) {
          EXPECT_EQ(loose.trace[k].primal, tight.trace[k].primal) << k;
          EXPECT_EQ(loose.trace[k].gap, tight.trace[k].gap) << k;
          EXPECT_EQ(loose.trace[k].active, tight.trace[k].active) << k;
        }
      }
    EXPECT_GT(reached, 10) << solver;
  }
}

// Columns that are read lazily are dropped as well, which small data never see with the default thresholds.
TEST(Fit, LazyReadingDropsColumnsOfASmallDesignIfItIsTold) {
  Index dropped = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const std::string_view rule : {"seed", "safe"}) {
      SCOPED_TRACE(testing::Message() << seed << " " << rule);
      Random random(seed);
      const Problem problem =
          simulated_problem(random, 15, 40, make_weights("bh", {15, 40, 0.2}), random.uniform(0.2, 0.8));
      FitOptions options;
      options.screening = rule;
      options.tolerance = 1e-8;
      options.tuning.reading.cache_entries = 0;
      options.tuning.screening.lazy_epochs = 0;
      options.tuning.screening.lazy_share = 0.98;
      options.tuning.working_set.least = 1;
      const Fit result = fit(problem, options);
      expect_certified(problem, result, 1e-8);
      const auto fewer = [](const TracePoint& at) { return at.active < 40; };
      dropped += std::any_of(result.trace.begin(), result.trace.end() - 1, fewer) ? 1 : 0;
      options.tuning.reading.cache_entries = Tuning().reading.cache_entries;
      const Fit whole = fit(problem, options);
      expect_certified(problem, whole, 1e-8);
      EXPECT_TRUE(std::none_of(whole.trace.begin(), whole.trace.end() - 1, fewer));
    }
  EXPECT_GT(dropped, 20);
}

// Newton's method hands over to a first-order method where clusters are too many, dense or sparse.
TEST(Fit, HandsOverWhereClustersAreTooMany) {
  Random random(4);
  const Eigen::MatrixXd x = random_float_exact(random, 30, 50, 0.4);
  const Vector y = random_vector(random, 30);
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SCOPED_TRACE(name(storage));
    Problem problem{stored(x, storage), y, SortedL1(make_weights("oscar", {30, 50, 0.1}))};
    problem.penalty = problem.penalty.scaled(0.1 * alpha_max(problem));
    FitOptions options;
    options.tolerance = 1e-8;
    options.tuning.descent.rounds = 1;  // so that there is a second epoch
    const Fit stays = fit(problem, options);
    expect_certified(problem, stays, 1e-8);
    for (const int limit : {0, 1, 2}) {
      SCOPED_TRACE(limit);
      FitOptions lower = options;
      Tuning::Fallback& fallback = lower.tuning.fallback;
      if (limit == 0) fallback.clusters = 2;
      if (limit == 1) {
        fallback.some_clusters = 2;
        fallback.cubes_per_entry = 0;
      }
      if (limit == 2) {
        fallback.sparse_support = 2;
        fallback.sparse_share = 0.05;
      }
      const Fit result = fit(problem, lower);
      expect_certified(problem, result, 1e-8);
      if (limit == 2 && storage == Storage::kDense)
        EXPECT_EQ(result.epochs, stays.epochs) << "only sparse columns would be copied";
      else
        EXPECT_GT(result.epochs, 2 * stays.epochs) << "many cheap epochs in place of few";
    }
  }
}

// Look-ahead with a subspace of residuals: X of few entries is simply read, unless the threshold says
// otherwise.
TEST(PathSolver, LooksAheadOnSmallDataWithoutReadingAllOfIt) {
  Random random(6);
  const Index n = 120, p = 60;
  const Eigen::MatrixXd x = random_matrix(random, n, p);
  const Vector y = x.leftCols(5).rowwise().sum() + random_vector(random, n);
  Problem problem = dense_problem(x, y, make_weights("bh", {n, p, 0.1}));
  const double top = alpha_max(problem);
  std::vector<SortedL1> penalties;
  for (Index k = 0; k < 60; ++k)
    penalties.push_back(problem.penalty.scaled(0.6 * top * std::pow(0.98, static_cast<double>(k))));
  const auto passes = [&](const Tuning& tuning, Index& ahead) {
    PathSolver solver(problem, {.tolerance = 1e-7, .tuning = tuning});
    double sum = 0;
    for (std::size_t done = 0; done < penalties.size();) {
      const NextFits next = solver.fit_next(std::span(penalties).subspan(done), 60);
      for (const Fit& fit : next.fits) {
        problem.penalty = penalties[done++];
        expect_certified(problem, fit, 1e-7);
        sum += fit.passes;
        ahead += next.by_lookahead ? 1 : 0;
      }
    }
    return sum;
  };
  Tuning tuning;
  tuning.lookahead.all_columns = 0;
  Index ahead = 0;
  const double all = passes(tuning, ahead);
  EXPECT_GT(ahead, 30);
  tuning.reading.cache_entries = 0;
  ahead = 0;
  EXPECT_LT(passes(tuning, ahead), all) << "columns that (3.3) rules out are not read";
  EXPECT_GT(ahead, 30);
  tuning.lookahead.ahead = 2;
  tuning.lookahead.most_ahead = 3;
  tuning.subspace.directions = 2;
  ahead = 0;
  passes(tuning, ahead);
  EXPECT_GT(ahead, 30);
}

}  // namespace
}  // namespace tyto
