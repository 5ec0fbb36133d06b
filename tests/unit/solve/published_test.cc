#include "tyto/solve/published.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/certified.h"
#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/base/error.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Problem simulated(double strength) {
  Random random(7);
  return simulated_problem(random, 60, 40, make_weights("oscar", {60, 40, 0.1}), strength);
}

FitOptions options(std::string_view solver, std::string_view variant, std::string_view rule) {
  FitOptions result;
  result.solver = solver;
  result.variant = variant;
  result.screening = rule;
  result.tolerance = 1e-8;
  return result;
}

// The algorithms once more, from the paper's lines and the public code, with dense matrices.
struct Naive {
  Eigen::MatrixXd x;
  Vector y, w;

  explicit Naive(const Problem& problem, const Eigen::MatrixXd& entries)
      : x(entries), y(problem.loss->response()), w(problem.design.cols()) {
    for (Index k = 0; k < w.size(); ++k) w[k] = problem.penalty.weight(k);
  }
  Vector gradient(const Vector& b) const { return x.transpose() * (x * b - y); }
  double smooth(const Vector& b) const { return (x * b - y).squaredNorm() / 2; }
  Vector prox(const Vector& v, double step) const {
    const naive::Reals result = naive::prox(w, v, step);
    Vector out(v.size());
    for (Index j = 0; j < v.size(); ++j) out[j] = static_cast<double>(result[static_cast<std::size_t>(j)]);
    return out;
  }
  void keep(const IndexSet& columns) {
    x = Eigen::MatrixXd(x(Eigen::all, columns));
    w.conservativeResize(std::ssize(columns));
  }
};

// Twice ||X'Xu|| for a random u of length 1.
double first_lipschitz(const Eigen::MatrixXd& x, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Vector u(x.cols());
  for (double& entry : u) entry = normal(random);
  return 2 * (x.transpose() * (x * u)).norm() / u.norm();
}

class ApgdStepByStep : public testing::TestWithParam<bool> {};

// Half of the columns leave at step 10, some of them with coefficients other than 0.
TEST_P(ApgdStepByStep, IsThePaperWithTheStepsOfItsCode) {
  Random random(3);
  Eigen::MatrixXd entries = random_matrix(random, 30, 20);
  entries.col(3) *= 10;  // the step bound is too small at first
  Problem problem = dense_problem(entries, random_vector(random, 30), Vector::LinSpaced(20, 2, 1));
  problem.penalty = problem.penalty.scaled(0.05 * alpha_max(problem));
  Naive naive(problem, entries);
  const Work work;
  Iterate at = make_iterate(problem, Vector::Zero(20));
  const std::unique_ptr<Solver> solver = make_published_apgd({}, GetParam());
  solver->attach(problem, at, work);
  const double first = first_lipschitz(entries, 1);
  double lipschitz = first;
  Vector z = Vector::Zero(20), beta = z;
  double t = 1;
  for (int k = 1; k <= 40; ++k) {
    SCOPED_TRACE(k);
    if (k == 10) {
      const IndexSet left{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
      EXPECT_NE(z.tail(10).norm(), 0);
      problem = restrict_to(problem, left);
      at = make_iterate(problem, restrict_to(at.beta, left));
      solver->restrict_to(problem, at, left, true);
      naive.keep(left);
      z = Vector(z.head(10));
      beta = Vector(beta.head(10));
      if (GetParam()) t = 1;
    }
    solver->advance(problem, at, certify(problem, at), correlation(problem, at), {});
    const Vector gradient = naive.gradient(z), before = beta;
    for (;; lipschitz *= 2) {
      beta = naive.prox(z - gradient / lipschitz, 1 / lipschitz);
      const Vector moved = beta - z;
      if (naive.smooth(z) + moved.dot(gradient) + lipschitz / 2 * moved.squaredNorm() >=
          naive.smooth(beta) * (1 - 1e-12))
        break;
    }
    const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    z = beta + (t - 1) / next * (beta - before);
    t = next;
    ASSERT_LE((at.beta - z).norm(), 1e-11 * (1 + z.norm()));
  }
  EXPECT_GT(lipschitz, first);
}

INSTANTIATE_TEST_SUITE_P(Published, ApgdStepByStep, testing::Bool(),
                         [](const auto& variant) { return variant.param ? "printed" : "published"; });

struct Epochs {
  Index batch, inner;
  double step;
  bool printed;
};

// On data where chance decides nothing: a batch has all rows, or all rows are alike.
void expect_spgd_step_by_step(const Eigen::MatrixXd& entries, const Epochs& of) {
  Random random(4);
  const Index n = entries.rows(), p = entries.cols();
  Problem problem = dense_problem(entries, random_vector(random, n), Vector::LinSpaced(p, 2, 1));
  problem.penalty = problem.penalty.scaled(0.05 * alpha_max(problem));
  const Naive naive(problem, entries);
  const Work work;
  Iterate at = make_iterate(problem, Vector::Zero(p));
  const std::unique_ptr<Solver> solver = make_published_spgd(
      {.stochastic = {.batch = of.batch, .inner_steps = of.inner, .step_size = of.step}}, of.printed);
  solver->attach(problem, at, work);
  // l times the mean over a batch is l / n of the sum over all rows, whichever rows it has.
  const double share = static_cast<double>(of.batch) / static_cast<double>(n);
  const double scale = (of.printed ? 1 : static_cast<double>(n)) / static_cast<double>(of.batch) * share;
  Vector beta = Vector::Zero(p);
  for (int epoch = 0; epoch < 5; ++epoch) {
    SCOPED_TRACE(epoch);
    solver->advance(problem, at, certify(problem, at), correlation(problem, at), {});
    const Vector full = naive.gradient(beta), start = beta;
    for (Index k = 0; k < of.inner; ++k)
      beta = naive.prox(beta - of.step * (scale * (naive.gradient(beta) - full) + full), of.step);
    EXPECT_NE((beta - start).norm(), 0);
    ASSERT_LE((at.beta - beta).norm(), 1e-11 * (1 + beta.norm()));
  }
}

TEST(Published, SpgdIsThePaperStepByStep) {
  Random random(5);
  const Eigen::MatrixXd different = random_matrix(random, 12, 7);
  const Eigen::MatrixXd alike = Eigen::VectorXd::Ones(12) * random_vector(random, 7).transpose();
  for (const bool printed : {false, true}) {
    SCOPED_TRACE(printed);
    expect_spgd_step_by_step(different, {12, 6, 0.01, printed});
    for (const Index batch : {1, 5, 12}) expect_spgd_step_by_step(alike, {batch, 6, 0.001, printed});
  }
}

// The public code cannot do this (erratum 15): it draws 50 rows, and takes n / 50 steps.
TEST(Published, SpgdMovesWithFewerRowsThanABatch) {
  Random random(8);
  const Problem problem = simulated_problem(random, 20, 30, make_weights("oscar", {20, 30, 0.1}), 0.3);
  expect_certified(problem, fit(problem, options("spgd", "published", "none")), 1e-8);
}

TEST(Published, BothAreCertifiedWithEveryRule) {
  for (const std::string_view solver : {"apgd", "spgd"})
    for (const std::string_view rule : {"none", "seed", "safe", "strong"})
      for (const double strength : {0.5, 0.1}) {
        SCOPED_TRACE(testing::Message() << solver << " " << rule << " " << strength);
        const Problem problem = simulated(strength);
        expect_certified(problem, fit(problem, options(solver, "published", rule)), 1e-8);
      }
}

TEST(Published, ApgdReadsXTwiceAnIteration) {
  const Problem problem = simulated(0.1);
  const Fit result = fit(problem, options("apgd", "published", "none"));
  const auto epochs = static_cast<double>(result.epochs);
  EXPECT_GE(result.passes, 2 * epochs);
  EXPECT_LE(result.passes, 2.3 * epochs + 20)
      << "a step bound that is doubled a few times, and X z now and then";
}

TEST(Published, TheMomentumGoesOnUnlessThePrintedResetIsAskedFor) {
  const Problem problem = simulated(0.1);
  const Index without = fit(problem, options("apgd", "published", "none")).epochs;
  EXPECT_EQ(fit(problem, options("apgd", "printed", "none")).epochs, without) << "no column leaves";
  const Fit reset = fit(problem, options("apgd", "printed", "seed"));
  expect_certified(problem, reset, 1e-8);
  EXPECT_GT(reset.screened, 0);
  EXPECT_NE(reset.epochs, fit(problem, options("apgd", "published", "seed")).epochs);
}

TEST(Published, SpgdDivergesWithALongStepAndEndsAsStalled) {
  const Problem problem = simulated(0.2);
  FitOptions wild = options("spgd", "published", "none");
  wild.stochastic = {.batch = 5, .inner_steps = 50, .step_size = 10};
  const Fit result = fit(problem, wild);
  EXPECT_EQ(result.status, Status::kStalled);
  EXPECT_LT(result.epochs, 10);
  expect_certificate_holds(problem, result.solution.beta);
}

TEST(Published, SameSeedSameRun) {
  const Problem problem = simulated(0.2);
  const FitOptions same = options("spgd", "published", "seed");
  EXPECT_EQ(fit(problem, same).solution.beta, fit(problem, same).solution.beta);
}

TEST(Published, RidgeSignsAndSparseColumns) {
  Random random(6);
  const Eigen::MatrixXd x = random_float_exact(random, 50, 20, 0.2);
  Vector y = x.col(0) - x.col(1) + random_vector(random, 50);
  y.array() -= y.mean();
  for (const Storage storage : {Storage::kDense, Storage::kSparse})
    for (const bool nonnegative : {false, true})
      for (const std::string_view solver : {"apgd", "spgd"}) {
        SCOPED_TRACE(testing::Message() << name(storage) << " " << nonnegative << " " << solver);
        Problem problem{stored(x, storage).standardized(true, true), y,
                        SortedL1(Vector::LinSpaced(20, 2, 1), nonnegative)};
        problem.ridge = 3;
        problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
        expect_certified(problem, fit(problem, options(solver, "published", "seed")), 1e-8);
      }
}

// Their rule, by hand: at b = 0 with X = I the gap of r = y itself is 0, and what it lacks is feasibility.
TEST(Published, TheirRuleWantsAGapAndFeasibility) {
  Vector y(2), w(2);
  y << 3, 2;
  w << 2, 1;
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(2, 2), y, w);
  const Vector zero = Vector::Zero(2), solution = y - w;
  EXPECT_FALSE(published_rule_stops(problem, zero, 6.5, y, 1e-6)) << "3 - 2 + 2 - 1 is too much";
  EXPECT_TRUE(published_rule_stops(problem, zero, 6.5, y, 1.1)) << "2 < 1.1 * 2";
  EXPECT_TRUE(published_rule_stops(problem, solution, 5.5, w, 1e-6));
  EXPECT_FALSE(published_rule_stops(problem, 2 * solution, 5.5, w - solution, 1e-6)) << "the gap is not 0";
  FitOptions longer = options("apgd", "published", "none");
  longer.tolerance = 1e-12;
  const Fit result = fit(simulated(0.1), longer);
  ASSERT_GT(result.published_stop, 0);
  ASSERT_LT(result.published_stop, result.epochs);
  const TracePoint& at = result.trace[static_cast<std::size_t>(result.published_stop)];
  EXPECT_LT(at.gap, 1e-3 * at.primal);
  EXPECT_EQ(fit(simulated(0.1), options("apgd", "tyto", "none")).published_stop, -1);
}

TEST(Published, Mistakes) {
  const Problem problem = simulated(0.2);
  const auto message = [&](std::string_view solver, std::string_view variant) -> std::string {
    try {
      fit(problem, options(solver, variant, "safe"));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("newton", "published"), "variant: want apgd or spgd for 'published', got newton");
  EXPECT_EQ(message("auto", "printed"), "variant: want apgd or spgd for 'printed', got newton");
  EXPECT_EQ(message("apgd", "old"), "variant: want one of tyto, published, printed, got 'old'");
}

}  // namespace
}  // namespace tyto
