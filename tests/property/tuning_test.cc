// Thresholds of speed choose the way to an answer, never the answer.
#include "tyto/base/tuning.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/support/certified.h"
#include "tests/support/varied.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

// Thresholds far below and above those of every day, each kept as it is in half of the draws.
Tuning random_tuning(Random& random) {
  Tuning t;
  const auto draw = [&]<class T>(T& field, std::initializer_list<std::type_identity_t<T>> others) {
    const auto k = random.below(2 * static_cast<Index>(others.size()));
    if (k < static_cast<Index>(others.size())) field = others.begin()[k];
  };
  draw(t.reading.cache_entries, {0, 0, 0, 300});
  draw(t.reading.tiny_column, {0, 1000});
  draw(t.reading.short_column, {0, 1000});
  draw(t.reading.all_share, {0.0, 0.2, 1.0});
  draw(t.reading.sample, {1, 4, 16});
  draw(t.reading.sample_stretch, {1});
  draw(t.reading.sample_share, {0.1, 1.0});
  draw(t.reading.near_zero_share, {0.0, 1.0});
  draw(t.reading.wide_level, {0.5, 0.9});
  draw(t.reading.narrowing, {0.0, 1.0});
  draw(t.reading.least_factor, {0.9, 1e-3});
  draw(t.reading.most_factor, {1.1, 1e3});
  draw(t.screening.radius_fall, {0.1, 1.0});
  draw(t.screening.slow_round, {0.0, 0.9});
  draw(t.screening.slow_rounds, {0, 100});
  draw(t.screening.sort_at, {0, 4});
  draw(t.screening.lazy_epochs, {0, 1});
  draw(t.screening.lazy_share, {0.9, 0.97});
  draw(t.working_set.least, {1, 4});
  draw(t.working_set.most_roots, {0.0, 10.0});
  draw(t.working_set.failure, {0.0, 1.0});
  draw(t.working_set.near_weight, {0.1, 1.0});
  draw(t.working_set.few_ratio, {0, 2});
  draw(t.working_set.whole_share, {0.0, 1.0});
  draw(t.working_set.gram_at_first, {0, 100});
  draw(t.working_set.gram_stays, {0, 100});
  draw(t.working_set.gram_enters, {0, 100});
  draw(t.working_set.crowd_factor, {1});
  draw(t.working_set.crowd_base, {0, 4});
  draw(t.working_set.crowd_gram, {0, 1000});
  draw(t.descent.rounds, {3, 10});
  draw(t.descent.far, {1e-6, 1.0});
  draw(t.descent.slow, {0.01, 2.0});
  draw(t.pattern.cuts, {1, 100});
  draw(t.pattern.leaving, {1, 100});
  draw(t.pattern.follow_clusters, {0, 3});
  draw(t.pattern.sums_rows, {0});
  draw(t.pattern.most_spare_rows, {0});
  draw(t.clusters.newton_first, {0, 3});
  draw(t.clusters.late_ties, {0, 3});
  draw(t.clusters.sweeps, {1.0, 40.0});
  draw(t.clusters.crossings_per_group, {0, 100});
  draw(t.subspace.directions, {1, 2, 3});
  draw(t.subspace.directions_at_once, {1, 4});
  draw(t.subspace.residuals_per_pass, {0, 1000});
  draw(t.lookahead.ahead, {1, 2, 50});
  draw(t.lookahead.most_ahead, {1, 3, 50});
  draw(t.lookahead.all_columns, {0, 1000});
  draw(t.lookahead.too_hard, {0.5, 10.0});
  draw(t.lookahead.soon, {0, 2});
  return t;
}

constexpr double kTolerance = 1e-6;

// Returns whether the fit converged; what it says holds in any case.
bool expect_true(const Problem& problem, const Fit& result) {
  if (result.status == Status::kConverged) {
    expect_certified(problem, result, kTolerance);
    return true;
  }
  expect_certificate_holds(problem, result.solution.beta);
  return false;
}

TEST(Tuning, ChangesNoAnswer) {
  Index converged = 0;
  constexpr std::uint64_t kProblems = 300;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem =
        random.chance(0.5) ? varied_problem(random, 25, 60) : extended_problem(random, 25, 60);
    FitOptions options;
    options.tolerance = kTolerance;
    options.screening = random.chance(0.7) ? "safe" : random.chance(0.5) ? "seed" : "strong";
    options.max_epochs = 100;
    options.tuning = random_tuning(random);
    converged += expect_true(problem, fit(problem, options)) ? 1 : 0;
  }
  EXPECT_GT(converged, static_cast<Index>(0.97 * kProblems));
}

TEST(Tuning, ChangesNoAnswerOnAPath) {
  Index converged = 0, fits = 0, ahead = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(2, 30), n = p + random.between(1, 60);
    Problem problem = simulated_problem(random, n, p, random_weights(random, p), 1);
    FitOptions options;
    options.tolerance = kTolerance;
    options.max_epochs = 100;
    options.tuning = random_tuning(random);
    std::vector<SortedL1> penalties;
    const double ratio = random.uniform(0.6, 0.99);
    for (SortedL1 next = problem.penalty; std::ssize(penalties) < 25; next = next.scaled(ratio))
      penalties.push_back(next);
    PathSolver solver(problem, options);
    for (std::size_t done = 0; done < penalties.size();) {
      const NextFits next = solver.fit_next(std::span(penalties).subspan(done), 60);
      for (const Fit& fit : next.fits) {
        problem.penalty = penalties[done++];
        converged += expect_true(problem, fit) ? 1 : 0;
        ahead += next.by_lookahead ? 1 : 0;
        ++fits;
      }
    }
  }
  EXPECT_GT(converged, fits * 97 / 100);
  EXPECT_GT(ahead, fits / 5);
}

}  // namespace
}  // namespace tyto
