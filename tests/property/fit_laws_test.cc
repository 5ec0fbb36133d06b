#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"

namespace tyto {
namespace {

constexpr std::uint64_t kSeeds = 30;

struct Data {
  Eigen::MatrixXd x;
  Vector y, weights;
};

// A unique solution: more rows than columns.
Data random_data(Random& random) {
  const Index p = random.between(1, 12), n = p + random.between(5, 20);
  Data data{random_matrix(random, n, p), random_vector(random, n), random_weights(random, p)};
  data.y += data.x * random_vector(random, p);
  const double most = alpha_max(dense_problem(data.x, data.y, data.weights));
  data.weights *= random.uniform(0.02, 0.9) * most;
  return data;
}

Fit tight(const Problem& problem, std::string_view rule = "safe") {
  FitOptions options;
  options.tolerance = 1e-12, options.screening = rule;
  return fit(problem, options);
}

void expect_close(const Vector& got, const Vector& want) {
  EXPECT_LE((got - want).norm(), 2e-5 * want.norm()) << got.transpose() << "\n" << want.transpose();
}

template <class Law>
void for_random_data(Law law) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Data data = random_data(random);
    law(data, tight(dense_problem(data.x, data.y, data.weights)).solution.beta, random);
  }
}

TEST(FitLaws, RestrictSolveExpandIsSolve) {
  for_random_data([](const Data& data, const Vector& want, Random& random) {
    const Problem problem = dense_problem(data.x, data.y, data.weights);
    IndexSet columns;  // the support, and some more
    for (Index j = 0; j < want.size(); ++j)
      if (want[j] != 0 || random.chance(0.3)) columns.push_back(j);
    const Fit small = tight(restrict_to(problem, columns));
    Fit full = small;
    full.solution = make_iterate(problem, expand(small.solution.beta, columns, want.size()));
    full.certificate = certify(problem, full.solution);
    expect_certified(problem, full, 1e-11);
  });
}

// y * c with weights * c gives b * c; X * c with weights * c gives b / c.
TEST(FitLaws, UnitsScaleTheSolution) {
  for_random_data([](const Data& data, const Vector& want, Random&) {
    for (const double unit : {1e-10, 1e-3, 1e5, 1e10}) {
      SCOPED_TRACE(unit);
      const Problem y_scaled = dense_problem(data.x, unit * data.y, unit * data.weights);
      const Fit of_y = tight(y_scaled);
      expect_certified(y_scaled, of_y, 1e-12);
      expect_close(of_y.solution.beta / unit, want);
      const Problem x_scaled = dense_problem(unit * data.x, data.y, unit * data.weights);
      const Fit of_x = tight(x_scaled);
      expect_certified(x_scaled, of_x, 1e-12);
      expect_close(of_x.solution.beta * unit, want);
    }
  });
}

TEST(FitLaws, PermutedColumnsPermuteTheSolution) {
  for_random_data([](const Data& data, const Vector& want, Random& random) {
    std::vector<Index> order(static_cast<std::size_t>(want.size()));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(k)))]);
    Eigen::MatrixXd x(data.x.rows(), data.x.cols());
    Vector permuted(want.size());
    for (Index j = 0; j < want.size(); ++j) {
      const double sign = random.chance(0.5) ? 1 : -1;
      x.col(j) = sign * data.x.col(order[static_cast<std::size_t>(j)]);
      permuted[j] = sign * want[order[static_cast<std::size_t>(j)]];
    }
    expect_close(tight(dense_problem(x, data.y, data.weights)).solution.beta, permuted);
  });
}

TEST(FitLaws, ScreeningDoesNotChangeTheSolution) {
  for_random_data([](const Data& data, const Vector& want, Random&) {
    const Problem problem = dense_problem(data.x, data.y, data.weights);
    for (const ScreeningRule& rule : screening_rules()) {
      const Fit result = tight(problem, rule.name);
      expect_certified(problem, result, 1e-12);
      expect_close(result.solution.beta, want);
    }
  });
}

TEST(FitLaws, FloatThatIsExactGivesTheBitsOfDouble) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index n = random.between(2, 30), p = random.between(1, 30);
    const Eigen::MatrixXd x = random_float_exact(random, n, p, 0.5);
    const Vector y = random_vector(random, n), shape = random_weights(random, p);
    const double most = alpha_max(dense_problem(x, y, shape));
    if (most == 0) continue;
    const SortedL1 penalty(0.2 * most * shape);
    for (const SolverRow& solver : solvers())
      for (const bool standardize : {false, true}) {
        FitOptions options;
        options.solver = solver.name, options.max_epochs = 2000;
        const auto solve = [&](Storage storage) {
          return fit({stored(x, storage).standardized(standardize, standardize), y, penalty}, options);
        };
        const Fit dense = solve(Storage::kDense), single = solve(Storage::kFloat);
        EXPECT_EQ(dense.solution.beta, single.solution.beta);
        const Fit sparse = solve(Storage::kSparse);
        EXPECT_NEAR(sparse.certificate.primal, dense.certificate.primal, 2e-6 * dense.certificate.primal);
      }
  }
}

TEST(FitLaws, ThreadsGiveTheSameBits) {
  Random random(1);
  const Problem problem = simulated_problem(random, 9000, 130, Vector::LinSpaced(130, 2, 1), 0.3);
  for (const SolverRow& solver : solvers()) {
    SCOPED_TRACE(solver.name);
    FitOptions options;
    options.solver = solver.name, options.tolerance = 1e-3;
    options.stochastic.inner_steps = 5, options.max_epochs = 8;
    const Fit one = fit(problem, options);
    options.threads = 3;
    const Fit many = fit(problem, options);
    EXPECT_EQ(one.solution.beta, many.solution.beta);
    EXPECT_EQ(one.epochs, many.epochs);
    EXPECT_EQ(one.certificate.gap, many.certificate.gap);
  }
}

}  // namespace
}  // namespace tyto
