#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "tests/support/loss_problems.h"
#include "tyto/base/error.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

// Rules and certificates of losses other than squared error, on small random problems.
namespace tyto {
namespace {

constexpr int kShards = 8;

// Problems in a shard, for each loss; TYTO_LOSS_PROBLEMS asks for more.
std::uint64_t per_shard() {
  const char* asked = std::getenv("TYTO_LOSS_PROBLEMS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 75;
}
// All of them, or the one that TYTO_LOSS names.
std::vector<std::string> tested_losses() {
  const char* asked = std::getenv("TYTO_LOSS");
  return asked != nullptr ? std::vector<std::string>{asked} : loss_names();
}
constexpr double kTight = 1e-11;

Fit solve(const Problem& problem) {
  FitOptions options;
  options.screening = "none";
  options.tolerance = kTight;
  options.max_epochs = 200;
  return fit(problem, options);
}

// Points on a solver's way, and random ones.
std::vector<Vector> points(const Problem& problem, const Vector& solution, Random& random) {
  const Index p = problem.design.cols();
  const double size = std::max(1e-3, solution.lpNorm<Eigen::Infinity>());
  std::vector<Vector> result{Vector::Zero(p), solution, size * random_vector(random, p)};
  for (int k = 0; k < 3; ++k)
    result.push_back(solution + size * std::pow(10, random.uniform(-7, 0)) * random_vector(random, p));
  FitOptions options;
  options.solver = "apgd";
  options.screening = "none";
  options.max_epochs = random.between(1, 15);
  result.push_back(fit(problem, options).solution.beta);
  return result;
}

struct Count {
  int refused = 0;  // separated by an unpenalised column: no minimum
  int unsolved = 0, wrong = 0, low_bounds = 0, low_gaps = 0, dropped = 0;
};

// `cut`: what the radius is multiplied with; below 1 the rules are wrong, and the test must see it.
void check(const Problem& problem, Random& random, double cut, Count& count) {
  const Fit best = solve(problem);
  const Certificate& at_best = best.certificate;
  if (best.status != Status::kConverged) {
    ++count.unsolved;
    return;
  }
  const Vector& solution = best.solution.beta;
  const Vector theta_star = at_best.scale * correlation(problem, best.solution);
  const double off = std::sqrt(2 * at_best.curvature * (std::max(at_best.gap, 0.0) + at_best.rounding));
  for (Vector beta : points(problem, solution, random)) {
    if (problem.penalty.nonnegative()) beta = beta.cwiseMax(0);
    const Iterate x = make_iterate(problem, beta);
    const Certificate c = certify(problem, x);
    count.low_gaps += c.primal - at_best.primal > c.gap + c.rounding + 1e-12 * c.primal ? 1 : 0;
    const Vector v = correlation(problem, x);
    Sphere sphere = sphere_of(c, v, problem.design.rows());
    if (!std::isfinite(sphere.radius)) continue;
    sphere.radius *= cut;
    const Vector bounds = sphere_bounds(problem, sphere);
    for (Index j = 0; j < bounds.size(); ++j) {
      const double norm = std::hypot(ball_norms(problem)[j], std::sqrt(problem.ridge / at_best.curvature));
      const double least =
          (problem.penalty.nonnegative() ? theta_star[j] : std::abs(theta_star[j])) - off * norm;
      count.low_bounds += bounds[j] < least * (1 - 1e-9) - 1e-12 ? 1 : 0;
    }
    for (const char* rule : {"seed", "safe"}) {
      const IndexSet kept = survivors(screening_rule(rule), problem, sphere);
      count.dropped += static_cast<int>(problem.design.cols() - std::ssize(kept));
      for (Index j = 0; j < solution.size(); ++j)
        if (std::abs(solution[j]) > 1e-6 * solution.lpNorm<Eigen::Infinity>() &&
            !std::ranges::binary_search(kept, j))
          ++count.wrong;
    }
  }
}

Count checked(const std::string& loss, std::uint64_t first, std::uint64_t problems, double cut) {
  Count count;
  for (std::uint64_t k = 0; k < problems; ++k) {
    SCOPED_TRACE(first + k);
    Random random(first + k);
    std::optional<Regression> regression;
    try {
      regression = random_regression(random, loss);
    } catch (const InvalidArgument&) {
      ++count.refused;
      continue;
    }
    check(regression->problem, random, cut, count);
  }
  return count;
}

class LossSafety : public ::testing::TestWithParam<int> {};

TEST_P(LossSafety, NoRuleDropsWhatTheSolutionNeeds) {
  for (const std::string& loss : tested_losses()) {
    SCOPED_TRACE(loss);
    const std::uint64_t problems = per_shard();
    const Count count = checked(loss, 1000 + static_cast<std::uint64_t>(GetParam()) * problems, problems, 1);
    EXPECT_EQ(count.wrong, 0);
    EXPECT_EQ(count.low_bounds, 0);
    EXPECT_EQ(count.low_gaps, 0);
    EXPECT_GT(count.dropped, 0);
    const bool separates = loss == "binomial" || loss == "poisson" || loss == "multinomial" || loss == "cox";
    EXPECT_LE(count.refused, separates ? static_cast<int>(problems / 15) : 0);
    EXPECT_LE(count.unsolved, static_cast<int>(problems / 15));
    RecordProperty(loss + "_refused", count.refused);
    RecordProperty(loss + "_unsolved", count.unsolved);
    RecordProperty(loss + "_dropped", count.dropped);
  }
}

// The check has teeth: with a radius that is too small it finds bounds that are too low.
TEST(LossSafety, ARadiusThatIsTooSmallIsCaught) {
  for (const std::string& loss : tested_losses()) {
    SCOPED_TRACE(loss);
    const Count count = checked(loss, 500'000, 60, 0.1);
    EXPECT_GT(count.low_bounds, 0);
  }
}

// The rows of a ridge have curvature 1, whatever that of the loss is: a ball of the loss's radius is too
// small for them, and the column would be dropped at a point where its coefficient is too large.
TEST(LossSafety, ARidgeHasARadiusOfItsOwn) {
  const Vector y = (Vector(10) << 1, 1, 1, 1, 1, 0, 0, 0, 0, 0).finished();
  const Eigen::MatrixXd x = 0.01 * (2 * y.array() - 1).matrix();  // x'r is 0.05 at b = 0
  const Problem problem{Design::dense(x), find_loss("binomial").make({y}),
                        SortedL1(Vector::Constant(1, 0.049)), 10};
  const Fit best = solve(problem);
  ASSERT_EQ(best.status, Status::kConverged);
  EXPECT_NEAR(best.solution.beta[0], 1e-4, 1e-6);
  const Iterate beyond = make_iterate(problem, Vector::Constant(1, 1.1e-3));
  const Vector v = correlation(problem, beyond);
  const Sphere sphere = sphere_of(certify(problem, beyond), v, 10);
  for (const char* rule : {"seed", "safe"}) {
    EXPECT_EQ(std::ssize(survivors(screening_rule(rule), problem, sphere)), 1) << rule;
  }
}

TEST(LossSafety, EverySolverFindsTheSameMinimum) {
  for (const std::string& loss : tested_losses())
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      SCOPED_TRACE(loss + " " + std::to_string(seed));
      Random random(900'000 + seed);
      const Problem problem = random_regression(random, loss).problem;
      const Fit newton = fit(problem, {.tolerance = 1e-9});
      const Fit apgd = fit(problem, {.tolerance = 1e-6, .solver = "apgd", .max_epochs = 20'000});
      if (newton.status != Status::kConverged || apgd.status != Status::kConverged) continue;
      EXPECT_NEAR(newton.certificate.primal, apgd.certificate.primal, 2e-6 * apgd.certificate.primal);
      const Certificate again = certify(problem, newton.solution);
      EXPECT_LE(again.gap, 1e-9 * again.primal + again.rounding);
    }
}

INSTANTIATE_TEST_SUITE_P(Shard, LossSafety, ::testing::Range(0, kShards));

}  // namespace
}  // namespace tyto
