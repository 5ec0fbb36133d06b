#include "tyto/solve/fit.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/base/error.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Problem simulated(double strength, std::string_view weights = "oscar") {
  Random random(42);
  return simulated_problem(random, 40, 60, make_weights(weights, {40, 60, 0.1}), strength);
}

std::string message(const FitOptions& options) {
  try {
    fit(simulated(0.5), options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

template <class Change>
std::string message_after(Change change) {
  FitOptions options;
  change(options);
  return message(options);
}

TEST(FitOptions, AreValidatedBeforeAnyWork) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, 1.0, nan, infinity})
    EXPECT_EQ(message_after([&](FitOptions& o) { o.tolerance = bad; }),
              "tolerance: want a number in (0, 1), got " + fmt::format("{}", bad));
  EXPECT_EQ(message_after([](FitOptions& o) { o.max_epochs = -1; }),
            "max-epochs: want a number >= 0, got -1");
  EXPECT_EQ(message_after([](FitOptions& o) { o.max_seconds = -1; }),
            "max-seconds: want a number >= 0, got -1");
  EXPECT_NE(message_after([&](FitOptions& o) { o.max_seconds = nan; }).find("max-seconds"),
            std::string::npos);
  EXPECT_EQ(message_after([](FitOptions& o) { o.threads = 0; }), "threads: want a number >= 1, got 0");
  EXPECT_EQ(message_after([](FitOptions& o) { o.stochastic.batch = -2; }),
            "batch: want a number >= 1, or 0 for automatic, got -2");
  EXPECT_EQ(message_after([](FitOptions& o) { o.stochastic.inner_steps = -2; }),
            "inner-steps: want a number >= 1, or 0 for automatic, got -2");
  for (const double bad : {-1.0, nan, infinity})
    EXPECT_EQ(message_after([&](FitOptions& o) { o.stochastic.step_size = bad; }),
              "step-size: want a number > 0, or 0 for automatic, got " + fmt::format("{}", bad));
  EXPECT_EQ(message_after([](FitOptions& o) { o.solver = "sgd"; }),
            "solver: unknown solver 'sgd'; known: auto, newton, apgd, spgd; did you mean 'spgd'?");
  EXPECT_EQ(message_after([](FitOptions& o) { o.screening = "gap"; }),
            "screening: unknown rule 'gap'; known: none, seed, safe, strong");
}

std::string refusal(const Problem& problem, const Vector& start) {
  try {
    fit(problem, {}, &start);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Fit, RefusesAWarmStartThatDoesNotFit) {
  const Problem problem = simulated(0.5);
  Vector bad = Vector::Zero(60);
  bad[7] = std::nan("");
  for (const Vector& start : {Vector(Vector::Zero(3)), bad})
    EXPECT_EQ(refusal(problem, start), "warm_start: want 60 finite numbers");
}

TEST(Fit, RefusesAWarmStartWhoseObjectiveOverflows) {
  Problem problem = simulated(0.5);
  for (const double ridge : {0.0, 1.0})
    for (const double size : {1e160, 1e300}) {
      problem.ridge = ridge;
      EXPECT_EQ(refusal(problem, Vector::Constant(60, size)),
                "warm_start: want numbers so small that their squares can be added");
    }
}

// J° of X'y that came with the problem serves every multiple of its penalty, but no other one, nor a ridge.
TEST(Fit, KnowsTheDualNormAtZero) {
  Problem problem = simulated(0.5);
  AtZero known = at_zero(problem);
  known.dual_norm *= 3;  // so that it is seen who believes it
  const auto first_gap = [&](Problem at, bool told) {
    if (told) at.at_zero = std::make_shared<AtZero>(known);
    return fit(at, {.solver = "apgd", .max_epochs = 0}).trace.front().gap;
  };
  Problem multiple = problem, other = problem, ridge = problem;
  multiple.penalty = problem.penalty.scaled(0.5);
  other.penalty = SortedL1(make_weights("lasso", {40, 60, 0.1}));
  ridge.ridge = 0.1;
  for (const Problem& at : {problem, multiple}) EXPECT_GT(first_gap(at, true), 1.01 * first_gap(at, false));
  for (const Problem& at : {other, ridge})
    EXPECT_NEAR(first_gap(at, true), first_gap(at, false), 1e-12 * first_gap(at, false));
}

// X'r of the last point is that of another one only if coefficients are the same: with a ridge, Xb is not
// enough.
TEST(Fit, PointsOfTheSamePredictionAreNotTheSame) {
  Random random(3);
  Eigen::MatrixXd x = (4 * random_matrix(random, 20, 6)).array().round();
  x.col(1) = x.col(0);
  Problem problem = dense_problem(x, random_vector(random, 20), Vector::LinSpaced(6, 3, 1));
  problem.ridge = 5;
  PathSolver solver(problem, {.solver = "apgd", .max_epochs = 0});
  Vector beta = Vector::Zero(6);
  for (const double first : {1.0, 0.75, 0.5, 0.25, 0.25, 0.0}) {
    SCOPED_TRACE(first);
    beta[0] = first, beta[1] = 1 - first;
    solver.start_from(beta);
    const Iterate at = make_iterate(problem, beta);
    EXPECT_EQ(at.eta, x.col(0)) << "as exact as the entries are";
    const Certificate want = certify(problem, at);
    EXPECT_NEAR(solver.fit(problem.penalty, 60).certificate.gap, want.gap, 1e-12 * want.primal);
  }
}

TEST(Fit, ConvergesAtEveryStrengthAndWeight) {
  for (const std::string& weights : weight_names())
    for (const double strength : {0.99, 0.5, 0.1, 0.01}) {
      SCOPED_TRACE(weights + " " + std::to_string(strength));
      const Problem problem = simulated(strength, weights);
      expect_certified(problem, fit(problem), 1e-6);
    }
}

TEST(Fit, EpochLimitReturnsTheBestPointWithItsCertificate) {
  const Problem problem = simulated(0.05);
  FitOptions options;
  options.tolerance = 1e-12;
  for (const SolverRow& solver : solvers())
    for (const Index epochs : {0, 1, 2, 10}) {
      SCOPED_TRACE(::testing::Message() << solver.name << " " << epochs);
      options.solver = solver.name, options.max_epochs = epochs;
      const Fit result = fit(problem, options);
      if (solver.name != "apgd" && result.status == Status::kConverged) continue;  // in fewer
      EXPECT_EQ(result.status, Status::kEpochLimit);
      EXPECT_EQ(result.epochs, epochs);
      ASSERT_EQ(result.solution.beta.size(), 60);
      double best = std::numeric_limits<double>::infinity();
      for (const TracePoint& point : result.trace) best = std::min(best, point.gap);
      EXPECT_LE(result.certificate.gap, best * (1 + 1e-6) + result.certificate.rounding);
      expect_certificate_holds(problem, result.solution.beta);
    }
}

TEST(Fit, TimeLimitIsAStatus) {
  FitOptions options;
  options.tolerance = 1e-12, options.max_seconds = 0;
  const Fit result = fit(simulated(0.05), options);
  EXPECT_EQ(result.status, Status::kTimeLimit);
  EXPECT_EQ(result.epochs, 0);
}

TEST(Fit, ObserverStopsAndGetsTheBestPoint) {
  const Problem problem = simulated(0.05);
  FitOptions options;
  options.solver = "apgd", options.tolerance = 1e-12;
  double best = std::numeric_limits<double>::infinity();
  const Fit result = fit(problem, options, nullptr, [&](const TracePoint& point) {
    best = std::min(best, point.gap);
    return point.epoch < 5;
  });
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_EQ(result.epochs, 5);
  EXPECT_LE(result.certificate.gap, best * (1 + 1e-6) + result.certificate.rounding);
  EXPECT_NEAR(certify(problem, make_iterate(problem, result.solution.beta)).gap, result.certificate.gap,
              result.certificate.rounding);
}

TEST(Fit, StallsWhereRoundingForbidsTheTolerance) {
  for (const SolverRow& solver : solvers()) {
    SCOPED_TRACE(solver.name);
    FitOptions options;
    options.tolerance = 1e-16, options.solver = solver.name;
    const Fit result = fit(simulated(0.2), options);
    EXPECT_EQ(result.status, Status::kStalled);
    EXPECT_LE(result.certificate.gap, 1e-13 * result.certificate.primal);
  }
}

TEST(Fit, WarmStartAtTheSolutionTakesNoEpoch) {
  const Problem problem = simulated(0.1);
  FitOptions options;
  options.tolerance = 1e-10;
  const Vector solution = fit(problem, options).solution.beta;
  options.tolerance = 1e-9;
  const Fit again = fit(problem, options, &solution);
  expect_certified(problem, again, 1e-9);
  EXPECT_EQ(again.epochs, 0);
  EXPECT_EQ(again.solution.beta, solution);
}

// Columns whose coefficient is not zero leave: the residual changes with them.
TEST(Fit, ScreeningColumnsWithNonzeroCoefficientsKeepsTheResidualTrue) {
  for (const SolverRow& solver : solvers())
    for (const std::string_view rule : {"seed", "safe"})
      for (const double size : {1e-3, 1.0, 1e3}) {
        SCOPED_TRACE(::testing::Message() << solver.name << " " << rule << " " << size);
        const Problem problem = simulated(0.8);
        Random random(1);
        const Vector start = size * random_vector(random, 60);
        FitOptions options;
        options.solver = solver.name, options.screening = rule, options.tolerance = 1e-10;
        const Fit result = fit(problem, options, &start);
        expect_certified(problem, result, 1e-10);
        EXPECT_GT(result.screened, 0);
      }
}

// The same for the solver that reads columns lazily, which drops none where X is small. Columns are alike, so
// that a working set misses some by a little.
TEST(Fit, LazyReadingDropsColumnsOfALargeDesign) {
  Random random(7);
  const Index n = 60, p = 18000;
  const Eigen::MatrixXd common = random_matrix(random, n, 60);
  Eigen::MatrixXd x = random_matrix(random, n, p);
  for (Index j = 0; j < p; ++j) x.col(j) = common.col(j % 60) + 0.5 * x.col(j);
  Vector y = 0.3 * random_vector(random, n), start = Vector::Zero(p);
  for (Index j = 0; j < 30; ++j) y += x.col(j), start[100 * j + 7] = random.normal();
  for (const std::string_view rule : {"seed", "safe"})
    for (const double strength : {0.7, 0.5}) {
      SCOPED_TRACE(::testing::Message() << rule << " " << strength);
      Problem problem = dense_problem(x, y, make_weights("bh", {n, p, 0.1}));
      problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
      FitOptions options;
      options.solver = "newton", options.screening = rule, options.tolerance = 1e-10;
      const Fit result = fit(problem, options, &start);
      expect_certified(problem, result, 1e-10);
      EXPECT_TRUE(std::any_of(result.trace.begin(), result.trace.end() - 1,
                              [&](const TracePoint& at) { return at.active < p; }));
    }
}

TEST(Fit, TraceTellsTheStory) {
  const Problem problem = simulated(0.3);
  std::vector<TracePoint> seen;
  const Fit result = fit(problem, {.solver = "apgd"}, nullptr, [&](const TracePoint& point) {
    seen.push_back(point);
    return true;
  });
  ASSERT_EQ(std::ssize(result.trace), result.epochs + 1);
  ASSERT_EQ(seen.size(), result.trace.size());
  EXPECT_EQ(result.trace.front().active, 60);
  EXPECT_EQ(result.trace.back().active, 60 - result.screened);
  EXPECT_GT(result.screened, 0);
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_EQ(result.trace[k].epoch, static_cast<Index>(k));
    EXPECT_EQ(result.trace[k].gap, seen[k].gap);
    EXPECT_GE(result.trace[k].primal, result.certificate.primal * (1 - 1e-6));
    if (k == 0) continue;
    EXPECT_GE(result.trace[k].seconds, result.trace[k - 1].seconds);
    EXPECT_LE(result.trace[k].active, result.trace[k - 1].active);
  }
  EXPECT_GE(result.seconds, result.trace.back().seconds);
}

TEST(Fit, ScreeningMayLeaveNoColumn) {
  Vector y(2), w(2), start(2);
  y << 1.5, 1.5;
  w << 3, 1;
  start << 4, -2;
  const Problem problem = dense_problem(Eigen::MatrixXd::Identity(2, 2), y, w);
  for (const SolverRow& solver : solvers()) {
    SCOPED_TRACE(solver.name);
    FitOptions options;
    options.solver = solver.name;
    const Fit result = fit(problem, options, &start);
    expect_certified(problem, result, 1e-9);
    EXPECT_EQ(result.solution.beta, Vector::Zero(2));
  }
}

TEST(Fit, ZeroResponseNeedsNoWork) {
  Random random(5);
  const Problem problem = dense_problem(random_matrix(random, 6, 9), Vector::Zero(6), Vector::Ones(9));
  for (const SolverRow& solver : solvers()) {
    FitOptions options;
    options.solver = solver.name;
    const Fit result = fit(problem, options);
    expect_certified(problem, result, 1e-12);
    EXPECT_EQ(result.epochs, 0);
    EXPECT_EQ(result.solution.beta, Vector::Zero(9));
  }
}

TEST(Fit, AboveAlphaMaxTheSolutionIsZeroAtOnce) {
  const Problem problem = simulated(1.000001);
  const Fit result = fit(problem);
  expect_certified(problem, result, 1e-12);
  EXPECT_EQ(result.epochs, 0);
  EXPECT_EQ(result.solution.beta, Vector::Zero(60));
}

TEST(Fit, NoColumnsAndNoRowsAreSolved) {
  const Problem no_columns{Design::dense(Eigen::MatrixXd(3, 0)), Vector::Ones(3), SortedL1(Vector())};
  const Problem no_rows = dense_problem(Eigen::MatrixXd(0, 2), Vector(), Vector::Ones(2));
  for (const SolverRow& solver : solvers()) {
    FitOptions options;
    options.solver = solver.name;
    EXPECT_EQ(fit(no_columns, options).status, Status::kConverged);
    EXPECT_EQ(fit(no_rows, options).solution.beta, Vector::Zero(2));
  }
}

// A sparse model of nearly all columns, in one large cluster and many small ones: Newton's method would copy
// most of X and hands over.
TEST(Fit, ASparseModelOfAllColumnsIsSolved) {
  Random random(8);
  const Index n = 60, p = 4000;
  const Eigen::MatrixXd x = random_float_exact(random, n, p, 0.05);
  const Design design = stored(x, Storage::kSparse);
  Problem problem{design, random_vector(random, n), SortedL1(make_weights("linf", {n, p, 0.1}))};
  problem.penalty = problem.penalty.scaled(0.3 * alpha_max(problem));
  const Fit result = fit(problem);
  expect_certified(problem, result, 1e-6);
  EXPECT_GT((result.solution.beta.array() != 0).count(), p / 4);
}

TEST(Status, HasANameForEveryValue) {
  EXPECT_EQ(name(Status::kConverged), "converged");
  EXPECT_EQ(name(Status::kEpochLimit), "epoch_limit");
  EXPECT_EQ(name(Status::kTimeLimit), "time_limit");
  EXPECT_EQ(name(Status::kInterrupted), "interrupted");
  EXPECT_EQ(name(Status::kStalled), "stalled");
}

}  // namespace
}  // namespace tyto
