#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/awkward.h"
#include "tests/support/certified.h"
#include "tests/support/varied.h"

namespace tyto {
namespace {

constexpr double kTight = 1e-12;  // relative gap on the full problem that proves a solution
constexpr int kShards = 20;
constexpr std::uint64_t kPerShard = 500;

Fit solve(const Problem& problem, const Vector* start = nullptr) {
  FitOptions options;
  options.solver = "apgd", options.screening = "none";
  options.tolerance = kTight / 2, options.max_epochs = 50'000;
  return fit(problem, options, start);
}

// Proves by its certificate on the full problem that beta is a solution, as far as rounding lets it.
bool solves(const Problem& problem, const Vector& beta) {
  const Certificate c = certify(problem, make_iterate(problem, beta));
  return c.gap <= std::max(kTight * c.primal, 4 * c.rounding);
}

bool exactly_provable(const Problem& problem, const Vector& beta) {
  const Certificate c = certify(problem, make_iterate(problem, beta));
  return 4 * c.rounding <= kTight * c.primal;
}

// The kept columns hold a solution of the whole problem. Where the one known is zero elsewhere that is plain.
bool holds_a_solution(const Problem& problem, const IndexSet& kept, const Vector& solution) {
  const Index p = problem.design.cols();
  const Vector inside = restrict_to(solution, kept);
  if (expand(inside, kept, p) == solution) return true;
  return solves(problem, expand(solve(restrict_to(problem, kept), &inside).solution.beta, kept, p));
}

// Points from which a rule may be asked: at random, on the way, and at the end.
std::vector<Vector> points(const Problem& problem, const Vector& solution, Random& random) {
  const Index p = problem.design.cols();
  const double size = solution.size() > 0 ? solution.cwiseAbs().maxCoeff() : 0;
  std::vector<Vector> result{Vector::Zero(p), solution};
  result.push_back(size * random_vector(random, p));
  result.push_back(solution + size * std::pow(10, random.uniform(-8, 0)) * random_vector(random, p));
  FitOptions options;
  options.solver = "apgd", options.screening = "none", options.max_epochs = random.between(1, 20);
  result.push_back(fit(problem, options).solution.beta);
  return result;
}

class ScreeningSafety : public ::testing::TestWithParam<int> {};

// How many problems had no ground truth, or one that rounding limits.
struct Doubts {
  int unproved = 0, limited = 0;
};

void expect_safe(const Problem& problem, Random& random, Doubts& doubts) {
  const Vector solution = solve(problem).solution.beta;
  if (!solves(problem, solution)) {
    ++doubts.unproved;
    return;
  }
  doubts.limited += exactly_provable(problem, solution) ? 0 : 1;
  for (Vector beta : points(problem, solution, random)) {
    if (problem.penalty.nonnegative()) beta = beta.cwiseMax(0);
    const Iterate x = make_iterate(problem, beta);
    const Vector v = correlation(problem, x);
    const Sphere sphere = sphere_of(certify(problem, x), v, problem.design.rows());
    const IndexSet seed_kept = survivors(screening_rule("seed"), problem, sphere);
    const IndexSet safe_kept = survivors(screening_rule("safe"), problem, sphere);
    EXPECT_TRUE(std::ranges::includes(seed_kept, safe_kept));
    EXPECT_TRUE(holds_a_solution(problem, seed_kept, solution)) << "seed at " << beta.transpose();
    EXPECT_TRUE(holds_a_solution(problem, safe_kept, solution)) << "safe at " << beta.transpose();
  }
}

TEST_P(ScreeningSafety, NoRuleDropsWhatTheSolutionNeeds) {
  Doubts doubts;
  for (std::uint64_t k = 0; k < kPerShard; ++k) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * kPerShard + k;
    SCOPED_TRACE(seed);
    Random random(seed);
    expect_safe(awkward_problem(random), random, doubts);
  }
  EXPECT_LE(doubts.unproved, static_cast<int>(kPerShard / 50)) << "too slow to solve: no ground truth";
  EXPECT_LE(doubts.limited, static_cast<int>(kPerShard / 10)) << "proved to rounding only";
  RecordProperty("unproved", doubts.unproved);
  RecordProperty("limited", doubts.limited);
}

TEST_P(ScreeningSafety, NorWithWeightsProjectionsRidgeAndSigns) {
  Doubts doubts;
  for (std::uint64_t k = 0; k < kPerShard / 10; ++k) {
    const std::uint64_t seed = 2'000'000 + static_cast<std::uint64_t>(GetParam()) * kPerShard + k;
    SCOPED_TRACE(seed);
    Random random(seed);
    expect_safe(extended_problem(random, 8, 8), random, doubts);
  }
  EXPECT_LE(doubts.unproved, static_cast<int>(kPerShard / 50)) << "too slow to solve: no ground truth";
}

// A fit may give up on a nearly singular problem, but says so, and what it returns is still certified.
TEST_P(ScreeningSafety, WholeFitsWithScreeningAreCertified) {
  int given_up = 0;
  for (std::uint64_t k = 0; k < kPerShard / 5; ++k) {
    const std::uint64_t seed = 1'000'000 + static_cast<std::uint64_t>(GetParam()) * kPerShard + k;
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = awkward_problem(random);
    for (const std::string_view rule : {"seed", "safe"}) {
      FitOptions options;
      options.solver = "apgd", options.screening = rule, options.tolerance = 1e-8;
      const Fit result = fit(problem, options);
      const Certificate c = certify(problem, make_iterate(problem, result.solution.beta));
      const bool solved = c.gap <= std::max(1e-8 * c.primal, 4 * c.rounding);
      EXPECT_TRUE(solved || result.status == Status::kStalled) << rule << " " << name(result.status);
      given_up += solved ? 0 : 1;
      expect_certificate_holds(problem, result.solution.beta);
    }
  }
  EXPECT_LE(given_up, 4);
}

INSTANTIATE_TEST_SUITE_P(Shard, ScreeningSafety, ::testing::Range(0, kShards));

}  // namespace
}  // namespace tyto
