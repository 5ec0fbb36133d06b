#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/awkward.h"
#include "tests/support/certified.h"
#include "tests/support/varied.h"

namespace tyto {
namespace {

constexpr double kTolerance = 1e-10;
constexpr Index kMostEpochs = 60;

Fit solve(const Problem& problem, std::string_view solver, std::string_view rule, Index most_epochs) {
  FitOptions options;
  options.solver = solver, options.screening = rule;
  options.tolerance = kTolerance, options.max_epochs = most_epochs;
  return fit(problem, options);
}

// Where coefficients are large and w is small, b moves by steps of eps |b|, X'r by eps m_j (||y|| + sum |b|
// m), and theta must shrink by J° of that: no point between the steps has a smaller gap (MATH.md, section 2,
// has m).
double least_gap(const Problem& problem, const Vector& beta, const Certificate& c) {
  const Vector& m = problem.design.rounding_norms();
  const double size = problem.loss->response().norm() + beta.cwiseAbs().dot(m);
  const double infeasible = std::numeric_limits<double>::epsilon() * size * problem.penalty.dual_norm(m);
  return c.rounding + infeasible * (std::abs(c.dual) + c.primal);
}

// Solved to the tolerance, or to what rounding lets a certificate prove.
void expect_solved(const Problem& problem, const Fit& result) {
  ASSERT_EQ(result.solution.beta.size(), problem.design.cols());
  ASSERT_TRUE(result.solution.beta.allFinite());
  const Certificate c = certify(problem, make_iterate(problem, result.solution.beta));
  EXPECT_GE(c.gap, -c.rounding);
  EXPECT_NEAR(c.gap, result.certificate.gap, c.rounding);
  EXPECT_NEAR(c.primal, result.certificate.primal, c.rounding);
  expect_certificate_holds(problem, result.solution.beta);
  const double most = result.status == Status::kConverged ? kTolerance * c.primal
                                                          : least_gap(problem, result.solution.beta, c);
  EXPECT_LE(c.gap, most) << name(result.status) << " after " << result.epochs << " at " << c.relative_gap();
}

// Each is within its gap of the one minimum: the primal of one is above the dual of the other.
void expect_same_minimum(const Problem& problem, const Vector& first, const Vector& second) {
  const Certificate a = certify(problem, make_iterate(problem, first));
  const Certificate b = certify(problem, make_iterate(problem, second));
  EXPECT_GE(a.primal, b.primal - b.gap - b.rounding - a.rounding);
  EXPECT_GE(b.primal, a.primal - a.gap - a.rounding - b.rounding);
}

template <class Draw>
void stress(std::uint64_t first_seed, std::uint64_t count, Index apgd_epochs, Draw draw) {
  const std::span<const ScreeningRule> rules = screening_rules();
  Index most = 0, all = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    Random random(seed);
    const Problem problem = draw(random);
    const std::string_view rule = rules[static_cast<std::size_t>(random.below(std::ssize(rules)))].name;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << problem.design.rows() << " x "
                                      << problem.design.cols() << ", " << rule);
    const Fit result = solve(problem, "newton", rule, kMostEpochs);
    most = std::max(most, result.epochs), all += result.epochs;
    expect_solved(problem, result);
    if (apgd_epochs > 0)
      expect_same_minimum(problem, result.solution.beta,
                          solve(problem, "apgd", "safe", apgd_epochs).solution.beta);
  }
  ::testing::Test::RecordProperty("most_epochs", static_cast<int>(most));
  ::testing::Test::RecordProperty("all_epochs", static_cast<int>(all));
}

// The tolerance is out of reach, by the steps of eps |b|: the gap walks at random, and however long it does,
// that ends in a status.
TEST(NewtonStress, AToleranceOutOfReachEndsInAStatus) {
  for (const std::uint64_t seed : {416U, 3053U}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = awkward_problem(random);
    expect_solved(problem, solve(problem, "newton", "none", 300));
  }
  for (const std::uint64_t seed : {80515U, 82023U}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = varied_problem(random, 30, 30);
    expect_solved(problem, solve(problem, "newton", "none", 300));
  }
}

class NewtonStressShard : public ::testing::TestWithParam<int> {};

TEST_P(NewtonStressShard, SolvesSmallProblems) {
  stress(static_cast<std::uint64_t>(GetParam()) * 500, 500, 300,
         [](Random& random) { return varied_problem(random, 30, 30); });
}

TEST_P(NewtonStressShard, SolvesAwkwardProblems) {
  stress(100'000 + static_cast<std::uint64_t>(GetParam()) * 300, 300, 300,
         [](Random& random) { return awkward_problem(random); });
}

TEST_P(NewtonStressShard, SolvesExtendedProblems) {
  stress(300'000 + static_cast<std::uint64_t>(GetParam()) * 400, 400, 300,
         [](Random& random) { return extended_problem(random, 30, 30); });
}

TEST_P(NewtonStressShard, SolvesLargerExtendedProblems) {
  stress(400'000 + static_cast<std::uint64_t>(GetParam()) * 16, 16, 0,
         [](Random& random) { return extended_problem(random, 60, 200); });
}

TEST_P(NewtonStressShard, SolvesProblemsWithMoreColumnsThanItStartsWith) {
  stress(200'000 + static_cast<std::uint64_t>(GetParam()) * 16, 16, 0,
         [](Random& random) { return varied_problem(random, 60, 200); });
}

INSTANTIATE_TEST_SUITE_P(Every, NewtonStressShard, ::testing::Range(0, 6));

}  // namespace
}  // namespace tyto
