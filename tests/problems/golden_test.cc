#include <gtest/gtest.h>

#include "tests/golden/lasso.h"
#include "tests/support/certified.h"

namespace tyto {
namespace {

class Golden : public ::testing::TestWithParam<golden::Lasso> {};

TEST_P(Golden, EqualWeightsGiveTheLassoOfScikitLearn) {
  const golden::Lasso& lasso = GetParam();
  const Eigen::MatrixXd x = Eigen::Map<const Eigen::MatrixXd>(lasso.x, lasso.n, lasso.p);
  const Vector y = Eigen::Map<const Vector>(lasso.y, lasso.n);
  const Vector exact = Eigen::Map<const Vector>(lasso.beta, lasso.p);
  const double shift = lasso.intercept ? y.mean() : 0;
  const Problem problem{Design::dense(x).standardized(lasso.intercept, false), y.array() - shift,
                        SortedL1(Vector::Constant(lasso.p, lasso.weight))};
  for (const SolverRow& solver : solvers()) {
    SCOPED_TRACE(solver.name);
    FitOptions options;
    options.tolerance = 1e-14, options.solver = solver.name;
    const Fit result = fit(problem, options);
    const Vector& beta = result.solution.beta;
    EXPECT_LE(result.certificate.gap, 1e-13 * result.certificate.primal);
    EXPECT_LE((beta - exact).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_NEAR(shift - (problem.design.offsets() * beta).sum(), lasso.intercept_value, 1e-7);
    for (Index j = 0; j < beta.size(); ++j) EXPECT_EQ(beta[j] == 0, exact[j] == 0) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Lasso, Golden, ::testing::Values(golden::kTall, golden::kWide, golden::kIntercept));

}  // namespace
}  // namespace tyto
