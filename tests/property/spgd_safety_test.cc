// spgd at its defaults, on problems that break rules and solvers, with several seeds: the objective never
// rises, what it says holds, and the same seed gives the same run.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/awkward.h"
#include "tests/support/certified.h"
#include "tests/support/varied.h"

namespace tyto {
namespace {

constexpr double kTolerance = 1e-6;
constexpr Index kMostEpochs = 150;
constexpr int kSeeds = 3;

FitOptions options(std::uint64_t seed) {
  FitOptions result;
  result.solver = "spgd";
  result.tolerance = kTolerance;
  result.max_epochs = kMostEpochs;
  result.stochastic.seed = seed;
  return result;
}

void expect_sound(const Problem& problem, const Fit& result) {
  ASSERT_TRUE(result.solution.beta.allFinite());
  expect_certificate_holds(problem, result.solution.beta);
  if (result.status == Status::kConverged) expect_certified(problem, result, kTolerance);
  double before = result.trace.front().primal;
  for (const TracePoint& at : result.trace) {
    EXPECT_LE(at.primal, before * (1 + 1e-9)) << "epoch " << at.epoch;
    before = at.primal;
  }
}

void expect_same(const Fit& first, const Fit& second) {
  EXPECT_EQ(first.solution.beta, second.solution.beta);
  ASSERT_EQ(first.trace.size(), second.trace.size());
  for (std::size_t k = 0; k < first.trace.size(); ++k) EXPECT_EQ(first.trace[k].gap, second.trace[k].gap);
}

// Returns how many fits converged.
template <class Draw>
int run(std::uint64_t first, std::uint64_t count, Draw draw) {
  int converged = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    Random random(number);
    const Problem problem = draw(random);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(::testing::Message() << "problem " << number << ", " << problem.design.rows() << " x "
                                        << problem.design.cols() << ", seed " << seed);
      const Fit result = fit(problem, options(seed));
      expect_sound(problem, result);
      if (seed == 1) expect_same(result, fit(problem, options(seed)));
      converged += result.status == Status::kConverged ? 1 : 0;
    }
  }
  return converged;
}

constexpr std::uint64_t kProblems = 150;

TEST(SpgdSafety, AwkwardProblems) {
  const int converged = run(700'000, kProblems, [](Random& random) { return awkward_problem(random); });
  EXPECT_GE(converged, 0.9 * kSeeds * kProblems);
}

TEST(SpgdSafety, VariedProblems) {
  const int converged =
      run(710'000, kProblems, [](Random& random) { return varied_problem(random, 60, 30); });
  EXPECT_GE(converged, 0.9 * kSeeds * kProblems);
}

// Many more rows than columns, some of them far larger than the others: a batch is a small part of them.
TEST(SpgdSafety, FewLargeRows) {
  const int converged = run(720'000, 30, [](Random& random) {
    Eigen::MatrixXd x = random_matrix(random, 1500, 20);
    for (int k = 0; k < 5; ++k)
      x.row(random.below(1500)) *= std::pow(10, static_cast<double>(random.below(5)));
    x.col(random.below(20)) *= 100;
    Problem problem = dense_problem(x, random_vector(random, 1500), Vector::LinSpaced(20, 2, 0.1));
    problem.penalty =
        problem.penalty.scaled(std::pow(10, -1 - static_cast<double>(random.below(3))) * alpha_max(problem));
    return problem;
  });
  EXPECT_GE(converged, 0.9 * kSeeds * 30);
}

}  // namespace
}  // namespace tyto
