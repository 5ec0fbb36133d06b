// The default solver is never stuck: problems on which solvers that rely on a good basis, a unique solution
// or a kind unit have stopped short.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/real_data.h"
#include "tests/support/zoo.h"
#include "tyto/data/dataset.h"
#include "tyto/data/simulate.h"
#include "tyto/math/entries.h"
#include "tyto/select/path.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr Index kMostEpochs = 100;

Fit newton(const Problem& problem, double tolerance, std::string_view rule = "safe") {
  FitOptions options;
  options.solver = "newton", options.screening = rule, options.tolerance = tolerance;
  options.max_epochs = kMostEpochs;
  return fit(problem, options);
}

void expect_solved(const Problem& problem, double tolerance = 1e-10) {
  for (const ScreeningRule& rule : screening_rules()) {
    SCOPED_TRACE(rule.name);
    expect_certified(problem, newton(problem, tolerance, rule.name), tolerance);
  }
}

Problem at_strength(Problem problem, double strength) {
  problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
  return problem;
}

Vector shape(std::string_view name, const Eigen::MatrixXd& x) {
  return make_weights(name, {x.rows(), x.cols(), 0.1});
}

// At every kind of weights and from strong to weak.
void expect_solved_everywhere(const Eigen::MatrixXd& x, const Vector& y) {
  for (const std::string& weights : weight_names())
    for (const double strength : {0.9, 0.3, 0.03, 0.003}) {
      SCOPED_TRACE(weights + " at " + std::to_string(strength));
      expect_solved(at_strength(dense_problem(x, y, shape(weights, x)), strength));
    }
}

struct RealCase {
  const char* set;
  const char* weights;
  double strength;
};

void PrintTo(const RealCase& c, std::ostream* out) {
  *out << c.set << " " << c.weights << " at " << c.strength;
}

class NewtonOnRealData : public ::testing::TestWithParam<RealCase> {};

// tecator: spectra, neighbours correlated above .999. permeability: 780 of 1107 columns are duplicates, so
// that no solution is unique.
TEST_P(NewtonOnRealData, ReachesWhatRoundingAllows) {
  const RealCase& c = GetParam();
  TYTO_SKIP_WITHOUT_DATA(c.set);
  const Dataset data = read({(data_folder() / c.set / "data.csv.xz").string()}, {.target = "y"});
  RegressionOptions options;
  options.weights = c.weights, options.strength = c.strength;
  const Problem problem = make_regression(data.design, data.response, options).problem;
  expect_certified(problem, newton(problem, 1e-12), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Set, NewtonOnRealData,
    ::testing::Values(RealCase{"tecator", "oscar", 0.1}, RealCase{"tecator", "oscar", 0.02},
                      RealCase{"tecator", "bh", 0.1}, RealCase{"tecator", "bh", 0.02},
                      RealCase{"permeability", "oscar", 0.1}, RealCase{"permeability", "oscar", 0.02},
                      RealCase{"permeability", "bh", 0.1}, RealCase{"permeability", "bh", 0.02}));

TEST(Newton, MoreClustersThanRows) {
  Random random(1);
  const Eigen::MatrixXd x = random_matrix(random, 5, 60);
  expect_solved_everywhere(x, random_vector(random, 5));
}

TEST(Newton, DuplicateAndOppositeColumns) {
  Random random(2);
  const Eigen::MatrixXd basis = random_matrix(random, 20, 6);
  Eigen::MatrixXd x(20, 48);
  for (Index j = 0; j < 48; ++j) x.col(j) = (j % 3 == 0 ? -1 : 1) * basis.col(j % 6);
  expect_solved_everywhere(x, basis.col(0) - 2 * basis.col(1) + 0.1 * random_vector(random, 20));
}

// Sums over all columns round by more than those over a few.
TEST(Newton, ManyColumns) {
  Random random(14);
  const Eigen::MatrixXd x = random_matrix(random, 8, 40000);
  const Vector y = x.col(3) - x.col(20000) + 0.1 * random_vector(random, 8);
  for (const std::string weights : {"lasso", "oscar", "bh"})
    for (const double strength : {0.9, 0.5}) {
      SCOPED_TRACE(weights + " at " + std::to_string(strength));
      const Problem problem = at_strength(dense_problem(x, y, shape(weights, x)), strength);
      for (const char* rule : {"safe", "seed"}) expect_certified(problem, newton(problem, 1e-6, rule), 1e-6);
    }
}

// The first working set has most of the model: hardly more than the passes for the response and for the
// certificate.
TEST(Newton, FirstTakesManyColumnsWhereTheyAreMany) {
  Random random(15);
  const Eigen::MatrixXd x = random_matrix(random, 60, 20000);
  Vector y = 0.5 * random_vector(random, 60);
  for (Index j = 0; j < 5; ++j) y += x.col(j);
  for (const std::string weights : {"lasso", "oscar", "bh"}) {
    SCOPED_TRACE(weights);
    const Problem problem = at_strength(dense_problem(x, y, shape(weights, x)), 0.4);
    const Fit result = newton(problem, 1e-6);
    expect_certified(problem, result, 1e-6);
    EXPECT_LE(result.passes, 2.5);
  }
}

// A step on the pattern is next to nothing where clusters are few: an answer at a loose tolerance is exact.
TEST(Newton, MakesExactWhatIsGoodEnough) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Eigen::MatrixXd x = random_matrix(random, 30, 60);
    const Vector y = x.col(0) - 2 * x.col(1) + 0.3 * random_vector(random, 30);
    for (const std::string weights : {"lasso", "oscar", "bh"}) {
      const Problem problem = at_strength(dense_problem(x, y, shape(weights, x)), 0.2);
      const Fit result = newton(problem, 1e-3);
      expect_certified(problem, result, 1e-3);
      EXPECT_LE(result.certificate.relative_gap(), 1e-12) << weights;
    }
  }
}

// Sums of columns that are columns again: clusters whose signed sums cancel or depend on one another.
TEST(Newton, SingularPatterns) {
  Random random(3);
  Eigen::MatrixXd x(15, 24);
  x.leftCols(6) = random_matrix(random, 15, 6);
  for (Index j = 6; j < 24; ++j) {
    const Index a = random.below(j), b = random.below(j);
    x.col(j) = x.col(a) + (random.chance(0.5) ? 1.0 : -0.5) * x.col(b);
  }
  expect_solved_everywhere(x, x.col(7) + x.col(8) + 0.2 * random_vector(random, 15));
}

TEST(Newton, IntegersFullOfTies) {
  Random random(4);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Eigen::MatrixXd x = random_matrix(random, 12, 20).array().round();
    expect_solved_everywhere(x, (3 * random_vector(random, 12)).array().round());
  }
}

TEST(Newton, NoWeightBehindTheFirst) {
  Random random(5);
  const Problem tall =
      dense_problem(random_matrix(random, 60, 20), random_vector(random, 60), Vector::Unit(20, 0));
  const Problem wide =
      dense_problem(random_matrix(random, 15, 40), random_vector(random, 15), Vector::Unit(40, 0));
  for (const double strength : {0.99, 0.5, 0.1, 0.01, 1e-4}) {
    SCOPED_TRACE(strength);
    expect_solved(at_strength(tall, strength));
    expect_solved(at_strength(wide, strength));
  }
}

TEST(Newton, OneRowOrOneColumn) {
  Random random(6);
  for (const auto& [n, p] : {std::pair<Index, Index>{1, 1}, {1, 30}, {30, 1}, {2, 3}, {3, 2}}) {
    SCOPED_TRACE(::testing::Message() << n << " x " << p);
    expect_solved_everywhere(random_matrix(random, n, p), random_vector(random, n));
  }
}

TEST(Newton, ZeroResponseAndConstantColumns) {
  Random random(7);
  Eigen::MatrixXd x = random_matrix(random, 25, 12);
  x.col(2).setConstant(3), x.col(5).setZero(), x.col(11).setConstant(-0.1);
  const Vector y = x.col(0) + 0.2 * random_vector(random, 25);
  RegressionOptions options;
  for (const char* weights : {"oscar", "lasso", "linf", "bh"}) {
    SCOPED_TRACE(weights);
    options.weights = weights, options.strength = 0.05;
    expect_solved(make_regression(Design::dense(x), y, options).problem, 1e-12);
    const Problem nothing = dense_problem(x, Vector::Zero(25), shape(weights, x));
    expect_solved(nothing, 1e-12);
    EXPECT_EQ(newton(nothing, 1e-12).solution.beta, Vector::Zero(12));
  }
}

// With y and the weights times c the objective is c^2 as large; with X and the weights times c it is the
// same.
TEST(Newton, UnitsDoNotMatter) {
  for (const auto& [n, p] : {std::pair<Index, Index>{80, 30}, {30, 80}}) {
    Random random(static_cast<std::uint64_t>(n));
    const Eigen::MatrixXd x = random_matrix(random, n, p);
    const Vector y = x.col(0) - 2 * x.col(1) + x.col(2) + 0.3 * random_vector(random, n);
    const Problem problem = at_strength(dense_problem(x, y, shape("oscar", x)), n > p ? 0.02 : 0.1);
    const Fit plain = newton(problem, 1e-11);
    expect_certified(problem, plain, 1e-11);
    const double want = plain.certificate.primal;
    for (const double unit : {1e-10, 1e-8, 1e-3, 1e4, 1e8, 1e10}) {
      SCOPED_TRACE(unit);
      const Problem of_y{problem.design, unit * problem.loss->response(), problem.penalty.scaled(unit)};
      const Fit y_fit = newton(of_y, 1e-11);
      expect_certified(of_y, y_fit, 1e-11);
      EXPECT_NEAR(y_fit.certificate.primal / unit / unit, want, 2e-11 * want);
      const Problem of_x{Design::dense(Eigen::MatrixXd(unit * x)), problem.loss->response(),
                         problem.penalty.scaled(unit)};
      const Fit x_fit = newton(of_x, 1e-11);
      expect_certified(of_x, x_fit, 1e-11);
      EXPECT_NEAR(x_fit.certificate.primal, want, 2e-11 * want);
    }
  }
}

TEST(Newton, ColumnsOfDifferentUnits) {
  for (const auto& [n, p] : {std::pair<Index, Index>{80, 30}, {30, 80}}) {
    Random random(static_cast<std::uint64_t>(n));
    Eigen::MatrixXd x = random_matrix(random, n, p);
    const Vector y = x.col(0) - x.col(p - 1) + x.col(p / 2) + 0.3 * random_vector(random, n);
    for (Index j = 0; j < p; ++j)
      x.col(j) *= std::pow(10, -4 + 8 * static_cast<double>(j) / static_cast<double>(p - 1));
    for (const char* weights : {"oscar", "lasso", "bh", "linear"})
      for (const double strength : {0.5, 1e-2, 1e-4, 1e-6}) {
        SCOPED_TRACE(std::string(weights) + " at " + std::to_string(strength));
        expect_solved(at_strength(dense_problem(x, y, shape(weights, x)), strength), 1e-9);
      }
  }
}

Simulated wide_data(Index cols, double density) {
  SimulateOptions options;
  options.rows = 60, options.cols = cols, options.groups = 6, options.seed = 3, options.density = density;
  return simulate(options);
}

// Each strength of a sequence is a fit of its own, as good as one from scratch. Down, back up and down again:
// what is known of one strength must not be taken for another's.
void expect_sequence(const Regression& regression, std::string_view rule) {
  FitOptions options;
  options.solver = "newton", options.screening = rule, options.tolerance = 1e-10;
  options.max_epochs = kMostEpochs;
  PathSolver solver(regression.problem, options);
  for (const double strength : {1.0, 0.7, 0.4, 0.2, 0.1, 0.5, 0.05, 0.9, 0.1}) {
    SCOPED_TRACE(strength);
    const Problem problem = regression.at(strength * regression.alpha_max).problem;
    const Fit warm = solver.fit(problem.penalty, kUnlimited);
    expect_certified(problem, warm, 1e-10);
    const Fit cold = newton(problem, 1e-10);
    expect_certified(problem, cold, 1e-10);
    EXPECT_NEAR(warm.certificate.primal, cold.certificate.primal, 1e-10 * cold.certificate.primal);
  }
}

// Who waits for an epoch may end it: what it has by then is a point like any other, and the next one goes on.
TEST(Newton, AnEpochEndsWhenAsked) {
  Random random(15);
  Eigen::MatrixXd x = random_matrix(random, 60, 150);
  for (Index j = 1; j < 150; ++j) x.col(j) += 0.9 * x.col(j - 1);
  const Problem problem = at_strength(dense_problem(x, random_vector(random, 60), shape("bh", x)), 0.02);
  int asked = 0;
  const auto epochs = [&](bool stop) {
    const auto solver = make_newton({});
    Iterate at = make_iterate(problem, Vector::Zero(150));
    const Work work;
    solver->attach(problem, at, work);
    Certificate c = certify(problem, at);
    Index count = 0;
    for (; count < 200 && !c.meets(1e-9); ++count) {
      const double before = c.primal;
      const IndexSet support = solver->advance(problem, at, c, correlation(problem, at),
                                               {1e-9 * c.primal, [&] { return ++asked, stop; }});
      EXPECT_EQ(support, nonzero_entries(at.beta));
      c = certify(problem, at);
      EXPECT_LE(c.primal, before * (1 + 1e-12));
    }
    EXPECT_TRUE(c.meets(1e-9));
    return count;
  };
  const Index whole = epochs(false);
  EXPECT_GT(asked, 0) << "epochs of several rounds";
  EXPECT_GT(epochs(true), whole);
}

TEST(NewtonPath, EqualsColdFits) {
  for (const double density : {1.0, 0.2}) {
    const Simulated simulated = wide_data(400, density);
    RegressionOptions wish;
    for (const char* weights : {"oscar", "bh", "lasso"}) {
      wish.weights = weights;
      const Regression regression = make_regression(simulated.data.design, simulated.data.response, wish);
      for (const ScreeningRule& rule : screening_rules()) {
        SCOPED_TRACE(::testing::Message() << density << " " << weights << " " << rule.name);
        expect_sequence(regression, rule.name);
      }
    }
  }
}

TEST(NewtonPath, EqualsColdFitsWhereRowsAreMany) {
  SimulateOptions tall;
  tall.rows = 400, tall.cols = 60, tall.groups = 6, tall.rho = 0.9;
  const Simulated simulated = simulate(tall);
  const Regression regression = make_regression(simulated.data.design, simulated.data.response, {});
  for (const ScreeningRule& rule : screening_rules()) {
    SCOPED_TRACE(rule.name);
    expect_sequence(regression, rule.name);
  }
}

TEST(NewtonPath, StartsFromWhereItIsTold) {
  Random random(8);
  const Problem problem = simulated_problem(random, 40, 70, Vector::LinSpaced(70, 2, 1), 0.1);
  FitOptions options;
  options.solver = "newton", options.tolerance = 1e-10;
  PathSolver solver(problem, options);
  for (const double size : {0.0, 1e-3, 1.0, 1e6}) {
    SCOPED_TRACE(size);
    solver.start_from(size * random_vector(random, 70));
    expect_certified(problem, solver.fit(problem.penalty, kUnlimited), 1e-10);
  }
}

// Where p >> n most columns never come near the model: a strength costs little more than one look at X.
TEST(NewtonPath, ReadsWideDataAboutOnceAStrength) {
  const Simulated simulated = wide_data(3000, 1);
  for (const char* weights : {"oscar", "bh"}) {
    SCOPED_TRACE(weights);
    RegressionOptions wish;
    wish.weights = weights;
    const Regression regression = make_regression(simulated.data.design, simulated.data.response, wish);
    FitOptions options;
    options.solver = "newton";
    PathOptions rules;
    rules.steps = 40, rules.ratio = 0.05;
    const Path path = fit_path(regression, rules, options);
    EXPECT_TRUE(path.converged());
    ASSERT_EQ(path.steps.size(), 40U);
    EXPECT_LE(path.passes, 1.3 * 40);
    for (const PathStep& step : path.steps)
      expect_certified(regression.at(step.alpha).problem, step.expanded(), options.tolerance);
  }
}

// Enough entries for several threads in every pass, in both forms of the working set.
TEST(NewtonThreads, GiveTheSameBits) {
  for (const auto& [n, p] : {std::pair<Index, Index>{20'000, 120}, {300, 9000}}) {
    SCOPED_TRACE(::testing::Message() << n << " x " << p);
    Random random(9);
    const Problem problem = simulated_problem(random, n, p, Vector::LinSpaced(p, 2, 1), 0.1);
    FitOptions options;
    options.solver = "newton", options.tolerance = 1e-8;
    const Fit one = fit(problem, options);
    EXPECT_TRUE(certify(problem, make_iterate(problem, one.solution.beta)).meets(1e-8));
    for (const int threads : {2, 3}) {
      options.threads = threads;
      const Fit many = fit(problem, options);
      EXPECT_EQ(many.solution.beta, one.solution.beta);
      EXPECT_EQ(many.certificate.gap, one.certificate.gap);
      EXPECT_EQ(many.epochs, one.epochs);
      EXPECT_EQ(many.passes, one.passes);
    }
  }
}

}  // namespace
}  // namespace tyto
