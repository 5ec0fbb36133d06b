#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

// Columns with a mean that is large beside their deviation, centred on the fly: x_j'r is then a difference of
// large numbers, and the certificate must admit what rounding takes from it.
Problem far_from_zero(double mean, std::uint64_t seed) {
  Random random(seed);
  const Eigen::MatrixXd x = random_matrix(random, 40, 6).array() + mean;
  Vector y = x.col(0) - x.col(1) + 0.3 * random_vector(random, 40);
  y.array() -= y.mean();
  Problem problem{Design::dense(x).standardized(true, true), y, SortedL1(Vector::LinSpaced(6, 2, 1))};
  problem.penalty = problem.penalty.scaled(0.2 * alpha_max(problem));
  return problem;
}

TEST(HugeMeans, CertificateAdmitsItsRounding) {
  for (const double mean : {1e3, 1e6, 1e9})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << "mean " << mean << " seed " << seed);
      const Problem problem = far_from_zero(mean, seed);
      Random random(seed);
      expect_certificate_holds(problem, Vector::Zero(6));
      expect_certificate_holds(problem, random_vector(random, 6));
    }
}

TEST(HugeMeans, SolveToWhatRoundingAllows) {
  for (const double mean : {1e3, 1e6})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << "mean " << mean << " seed " << seed);
      const Problem problem = far_from_zero(mean, seed);
      for (const SolverRow& solver : solvers()) {
        SCOPED_TRACE(solver.name);
        FitOptions options;
        options.solver = solver.name;
        expect_certified(problem, fit(problem, options), 1e-6);
      }
    }
}

}  // namespace
}  // namespace tyto
