#include <gtest/gtest.h>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/math/weights.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

Problem simulated(double strength) {
  Random random(7);
  return simulated_problem(random, 60, 40, make_weights("oscar", {60, 40, 0.1}), strength);
}

FitOptions options(double tolerance) {
  FitOptions result;
  result.solver = "spgd";
  result.tolerance = tolerance;
  return result;
}

TEST(Spgd, SameSeedSameRun) {
  const Problem problem = simulated(0.2);
  const Fit first = fit(problem, options(1e-8)), second = fit(problem, options(1e-8));
  EXPECT_EQ(first.solution.beta, second.solution.beta);
  ASSERT_EQ(first.trace.size(), second.trace.size());
  for (std::size_t k = 0; k < first.trace.size(); ++k) EXPECT_EQ(first.trace[k].gap, second.trace[k].gap);
}

TEST(Spgd, DifferentSeedsAgreeAtTheSolution) {
  const Problem problem = simulated(0.2);
  const Vector want = fit(problem, options(1e-12)).solution.beta;
  for (std::uint64_t seed = 2; seed < 7; ++seed) {
    SCOPED_TRACE(seed);
    FitOptions other = options(1e-12);
    other.stochastic.seed = seed;
    const Fit result = fit(problem, other);
    expect_certified(problem, result, 1e-12);
    EXPECT_LE((result.solution.beta - want).norm(), 1e-5 * want.norm());
  }
}

TEST(Spgd, AgreesWithApgd) {
  for (const double strength : {0.5, 0.1, 0.02}) {
    SCOPED_TRACE(strength);
    const Problem problem = simulated(strength);
    const Fit stochastic = fit(problem, options(1e-10));
    expect_certified(problem, stochastic, 1e-10);
    FitOptions batch = options(1e-12);
    batch.solver = "apgd";
    const Vector want = fit(problem, batch).solution.beta;
    EXPECT_LE((stochastic.solution.beta - want).norm(), 1e-3 * want.norm());
  }
}

// Correct settings only: every one of these is a valid algorithm.
TEST(Spgd, ConvergesWithTheUsersBatchAndSteps) {
  const Problem problem = simulated(0.2);
  for (const Index batch : {1, 7, 60, 1000})
    for (const Index steps : {1, 5, 200}) {
      SCOPED_TRACE(::testing::Message() << "batch " << batch << " inner steps " << steps);
      FitOptions chosen = options(1e-6);
      chosen.stochastic.batch = batch, chosen.stochastic.inner_steps = steps;
      expect_certified(problem, fit(problem, chosen), 1e-6);
    }
}

// An epoch that fails is taken back and the step halved.
TEST(Spgd, NeverDivergesWhateverTheStepSize) {
  for (const double step : {1e-3, 1.0, 1e6, 1e100})
    for (const Index steps : {0, 1, 3})
      for (const std::string_view rule : {"none", "seed", "safe"}) {
        SCOPED_TRACE(::testing::Message() << "step " << step << " inner steps " << steps << " " << rule);
        const Problem problem = simulated(0.2);
        FitOptions absurd = options(1e-6);
        absurd.stochastic.step_size = step, absurd.stochastic.inner_steps = steps;
        absurd.screening = rule;
        expect_certified(problem, fit(problem, absurd), 1e-6);
      }
}

TEST(Spgd, TinyStepsAreSlowButSound) {
  const Problem problem = simulated(0.2);
  FitOptions tiny = options(1e-6);
  tiny.stochastic.step_size = 1e-12, tiny.max_epochs = 20;
  const Fit result = fit(problem, tiny);
  EXPECT_EQ(result.status, Status::kEpochLimit);
  expect_certificate_holds(problem, result.solution.beta);
}

TEST(Spgd, OneRowAndOneColumn) {
  Random random(5);
  for (const auto& [n, p] : {std::pair<Index, Index>{1, 5}, {5, 1}, {1, 1}, {2, 2}}) {
    SCOPED_TRACE(::testing::Message() << n << " x " << p);
    Problem problem =
        dense_problem(random_matrix(random, n, p), random_vector(random, n), Vector::LinSpaced(p, 1, 0.5));
    problem.penalty = problem.penalty.scaled(0.3 * alpha_max(problem));
    expect_certified(problem, fit(problem, options(1e-9)), 1e-9);
  }
}

TEST(Spgd, SparseAndCentredIsTheSameProblem) {
  Random random(6);
  const Eigen::MatrixXd x = random_float_exact(random, 50, 20, 0.2);
  Vector y = x.col(0) + random_vector(random, 50);
  y.array() -= y.mean();
  Vector want;
  for (const Storage storage : {Storage::kDense, Storage::kFloat, Storage::kSparse}) {
    SCOPED_TRACE(name(storage));
    Problem problem{stored(x, storage).standardized(true, true), y, SortedL1(Vector::LinSpaced(20, 2, 1))};
    problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
    const Fit result = fit(problem, options(1e-11));
    expect_certified(problem, result, 1e-11);
    if (want.size() == 0) want = result.solution.beta;
    EXPECT_LE((result.solution.beta - want).norm(), 1e-4 * want.norm());
  }
}

// Many rows, so that the batch of an epoch is a part of them, and clusters that are hard to tell apart.
Problem many_rows(double strength) {
  Random random(11);
  return simulated_problem(random, 4000, 60, make_weights("oscar", {4000, 60, 0.1}), strength);
}

// Epochs measured here, with room for chance: a sample that is not weighted right takes many more.
TEST(Spgd, TakesFewEpochsAtItsDefaults) {
  for (const double strength : {0.5, 0.1, 0.01})
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << strength << " seed " << seed);
      const Problem problem = many_rows(strength);
      FitOptions seeded = options(1e-8);
      seeded.stochastic.seed = seed;
      const Fit result = fit(problem, seeded);
      expect_certified(problem, result, 1e-8);
      EXPECT_LE(result.epochs, 30);
    }
}

// One row is most of the matrix: it must be in every sample, or the model misses nearly all of the curvature.
TEST(Spgd, ARowThatOutweighsAllOthersDoesNoHarm) {
  Random random(12);
  Eigen::MatrixXd x = random_matrix(random, 3000, 30);
  x.row(17) *= 1000;
  const Vector y = x.leftCols(3).rowwise().sum() + random_vector(random, 3000);
  Problem problem = dense_problem(x, y, Vector::LinSpaced(30, 2, 1));
  problem.penalty = problem.penalty.scaled(0.01 * alpha_max(problem));
  const Fit result = fit(problem, options(1e-6));
  expect_certified(problem, result, 1e-6);
  EXPECT_LE(result.epochs, 40);
}

// Columns with one entry each, most of which a sample of the rows misses: its Gram matrix is 0 there.
TEST(Spgd, ColumnsThatASampleMissesAreNoTrap) {
  Random random(13);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(5000, 40);
  for (Index j = 0; j < 40; ++j) x(100 * j, j) = 1;
  const Vector y = 3 * x.rowwise().sum() + random_vector(random, 5000);
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SCOPED_TRACE(name(storage));
    Problem problem{stored(x, storage), y, SortedL1(Vector::LinSpaced(40, 2, 1))};
    problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
    const Fit result = fit(problem, options(1e-9));
    expect_certified(problem, result, 1e-9);
    EXPECT_LE(result.epochs, 20);
  }
}

TEST(Spgd, WorkingSetsThatAreTooLargeAreLeftToMiniBatches) {
  const Problem problem = simulated(0.2);
  FitOptions small = options(1e-6);
  small.tuning.stochastic.most_columns = 2;
  const Fit result = fit(problem, small);
  expect_certified(problem, result, 1e-6);
  EXPECT_GT(result.epochs, fit(problem, options(1e-6)).epochs);
}

// An epoch that draws few rows gathers them, and the run is the same, bit by bit, as with a copy of all rows.
TEST(Spgd, GatheredRowsGiveTheSameRun) {
  const Problem problem = many_rows(0.1);
  FitOptions chosen = options(1e-5);
  chosen.stochastic = {.batch = 5, .inner_steps = 40};
  const Fit gathered = fit(problem, chosen);
  chosen.tuning.stochastic.gather_share = 0;
  const Fit copied = fit(problem, chosen);
  expect_certified(problem, gathered, 1e-5);
  EXPECT_EQ(gathered.epochs, copied.epochs);
  EXPECT_EQ(gathered.solution.beta, copied.solution.beta);
}

// Once rounding keeps the gap from falling, every epoch doubles the batch: it ends at the rows that there
// are.
TEST(Spgd, EpochsWithoutGainDoNotDrawWithoutEnd) {
  const Problem problem = many_rows(0.1);
  const std::unique_ptr<Solver> solver = make_spgd({});
  const Work work;
  Iterate x = make_iterate(problem, Vector::Zero(problem.design.cols()));
  solver->attach(problem, x, work);
  for (int epoch = 0; epoch < 100; ++epoch)
    solver->advance(problem, x, certify(problem, x), correlation(problem, x), {});
  EXPECT_LE(certify(problem, x).relative_gap(), 1e-12);
}

}  // namespace
}  // namespace tyto
