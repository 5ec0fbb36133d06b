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

// Columns of very different lengths, which leave at different times.
Problem uneven_problem(std::uint64_t seed, double strength) {
  Random random(seed);
  const Index n = 15, p = 40;
  Eigen::MatrixXd x = random_matrix(random, n, p);
  for (Index j = 0; j < p; ++j) x.col(j) *= random.uniform(0.2, 3);
  Vector y = x.leftCols(6).rowwise().sum() + random_vector(random, n);
  Problem problem = dense_problem(std::move(x), std::move(y), make_weights("bh", {n, p, 0.2}));
  problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
  return problem;
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
      for (const double tolerance : {0.3, 0.1, 0.03}) {
        SCOPED_TRACE(testing::Message() << solver << " " << seed << " " << tolerance);
        const Problem problem = uneven_problem(seed, 0.3);
        FitOptions options;
        options.solver = solver;
        options.tolerance = tolerance;
        const Fit loose = fit(problem, options);
        if (!went_on(loose, tolerance)) continue;
        ++reached;
        expect_certified(problem, loose, tolerance);
        options.tolerance = 1e-9;
        const Fit tight = fit(problem, options);
        expect_certified(problem, tight, 1e-9);
        ASSERT_GT(tight.trace.size(), loose.trace.size());
        for (std::size_t k = 0; k < loose.trace.size(); ++k) {
          EXPECT_EQ(loose.trace[k].primal, tight.trace[k].primal) << k;
          EXPECT_EQ(loose.trace[k].active, tight.trace[k].active) << k;
          // The last gap of the loose one is that of the columns left as well.
          EXPECT_EQ(loose.trace[k].gap, tight.trace[k].gap) << k;
        }
      }
    EXPECT_GT(reached, 3) << solver;
  }
}

// The same for columns that are read lazily, which small data never drop with the thresholds of every day.
TEST(Fit, LazyReadingGoesOnWhereOnlyTheColumnsLeftAreSolved) {
  FitOptions options;
  options.solver = "newton";
  options.tuning.reading.cache_entries = 0;
  options.tuning.screening.lazy_epochs = 0;
  options.tuning.screening.lazy_share = 0.98;
  options.tuning.working_set.least = 1;
  options.tuning.descent.goal_share = 0.99;
  Index reached = 0, dropped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const double tolerance : {0.3, 0.1, 0.03}) {
      SCOPED_TRACE(testing::Message() << seed << " " << tolerance);
      const Problem problem = uneven_problem(seed, 0.3);
      options.tolerance = tolerance;
      const Fit result = fit(problem, options);
      expect_certified(problem, result, tolerance);
      reached += went_on(result, tolerance) ? 1 : 0;
      dropped += std::any_of(result.trace.begin(), result.trace.end() - 1,
                             [](const TracePoint& at) { return at.active < 40; })
                     ? 1
                     : 0;
    }
  EXPECT_GT(dropped, 50);
  EXPECT_GT(reached, 3);
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
TEST(Sequence, LooksAheadOnSmallDataWithoutReadingAllOfIt) {
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
    Sequence sequence(problem, {.tolerance = 1e-7, .tuning = tuning});
    double sum = 0;
    for (std::size_t done = 0; done < penalties.size();) {
      const NextFits next = sequence.fit_next(std::span(penalties).subspan(done), 60);
      for (const Fit& fit : next.fits) {
        problem.penalty = penalties[done++];
        expect_certified(problem, fit, 1e-7);
        sum += fit.passes;
        ahead += next.foreseen ? 1 : 0;
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
