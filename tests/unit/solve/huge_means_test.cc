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
TEST(HugeMeans, ColumnsLoseNothing) {
  for (const double mean : {1e3, 1e6})
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      for (const bool sparse : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "mean " << mean << " seed " << seed << " sparse " << sparse);
        const Problem problem = far_from_zero(mean, seed, sparse);
        FitOptions options;
        options.tolerance = 1e-13;
        expect_certified(problem, fit(problem, options), 1e-13);
      }
}

// A few zeros among entries with a large mean, and weights that leave next to nothing to the zeros.
TEST(HugeMeans, SparseColumnsAreAsDenseOnes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Eigen::MatrixXd x = random_matrix(random, 30, 5).array() + 1e5;
    Vector rows = Vector::Ones(30);
    for (Index j = 0; j < 5; ++j) {
      const Index row = random.below(30);
      x(row, j) = 0;
      rows[row] = 1e-14;
    }
    const Design dense = Design::dense(x).standardized(true, true, rows);
    const Design sparse = Design::sparse(Sparse32(x.sparseView())).standardized(true, true, rows);
    ASSERT_TRUE(sparse.has_nearly_constant_columns());
    EXPECT_LE((entries_of(sparse) - entries_of(dense)).norm(), 1e-11 * entries_of(dense).norm());
    const Vector v = random_vector(random, 30), beta = random_vector(random, 5);
    Vector got, want;
    sparse.transpose_multiply(v, got);
    dense.transpose_multiply(v, want);
    EXPECT_LE((got - want).norm(), 1e-11 * want.norm());
    sparse.multiply(beta, got);
    dense.multiply(beta, want);
    EXPECT_LE((got - want).norm(), 1e-11 * want.norm());
    got = want = v;
    sparse.axpy(2, 0.7, got);
    dense.axpy(2, 0.7, want);
    EXPECT_LE((got - want).norm(), 1e-11 * want.norm());
  }
}

}  // namespace
}  // namespace tyto
