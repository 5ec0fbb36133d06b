#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/designs.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

// Columns with a mean that is large beside their deviation, centred on the fly: x_j'r is then a difference of
// large numbers, and the certificate must admit what rounding takes from it; or the mean is taken off first,
// where it is very large and the columns are dense.
Problem far_from_zero(double mean, std::uint64_t seed, bool sparse) {
  Random random(seed);
  const Eigen::MatrixXd x = random_matrix(random, 40, 6).array() + mean;
  const Design design = sparse ? Design::sparse(Sparse32(x.sparseView())) : Design::dense(x);
  Vector y = x.col(0) - x.col(1) + 0.3 * random_vector(random, 40);
  y.array() -= y.mean();
  Problem problem{design.standardized(true, true), y, SortedL1(Vector::LinSpaced(6, 2, 1))};
  problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
  return problem;
}

TEST(HugeMeans, CertificateAdmitsItsRounding) {
  for (const double mean : {40.0, 1e3, 1e6, 1e9})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(::testing::Message() << "mean " << mean << " seed " << seed);
      const Problem problem = far_from_zero(mean, seed, seed % 2 == 0);
      Random random(seed);
      expect_certificate_holds(problem, Vector::Zero(6));
      expect_certificate_holds(problem, random_vector(random, 6));
    }
}

TEST(HugeMeans, SolveToWhatRoundingAllows) {
  for (const double mean : {40.0, 1e3, 1e6})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(::testing::Message() << "mean " << mean << " seed " << seed);
      const Problem problem = far_from_zero(mean, seed, seed % 2 == 0);
      for (const SolverRow& solver : solvers()) {
        SCOPED_TRACE(solver.name);
        FitOptions options;
        options.solver = solver.name;
        expect_certified(problem, fit(problem, options), 1e-6);
      }
    }
}

// Where it is taken off first, nothing is lost: as exact as columns that were centred before.
TEST(HugeMeans, DenseColumnsLoseNothing) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Problem problem = far_from_zero(1e6, seed, false);
    FitOptions options;
    options.tolerance = 1e-13;
    expect_certified(problem, fit(problem, options), 1e-13);
  }
}

}  // namespace
}  // namespace tyto
