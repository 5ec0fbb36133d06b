#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/certified.h"
#include "tests/support/random.h"
#include "tyto/select/path.h"

namespace tyto::path_runs {

constexpr double kTolerance = 1e-8;

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};

inline Data simulated(Index n, Index p, std::uint64_t seed = 1) {
  Random random(seed);
  Data data{random_matrix(random, n, p), 0.5 * random_vector(random, n)};
  for (Index j = 0; j < std::min<Index>(4, p); ++j) data.y += data.x.col(j) * (j % 2 == 0 ? 2.0 : -1.0);
  return data;
}

inline Regression regression_of(const Data& data, const RegressionOptions& options = {}) {
  return make_regression(Design::dense(data.x), data.y, options);
}

inline FitOptions tight() {
  FitOptions options;
  options.tolerance = kTolerance;
  return options;
}

// Every strength that was fitted is certified again on the full problem, and its numbers are those of its
// coefficients.
inline void expect_path_certified(const Regression& regression, const Path& path, double tolerance) {
  ASSERT_FALSE(path.steps.empty());
  EXPECT_TRUE(path.converged());
  double seconds = 0;
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    SCOPED_TRACE(k);
    const PathStep& step = path.steps[k];
    const Problem problem = regression.at(step.alpha).problem;
    const Fit whole = step.expanded();
    expect_certified(problem, whole, tolerance);
    EXPECT_EQ(step.alpha, path.alphas[k]);
    EXPECT_EQ(step.nonzeros(), (whole.solution.beta.array() != 0).count());
    EXPECT_LE(step.clusters, step.nonzeros());
    EXPECT_EQ(step.clusters > 0, step.nonzeros() > 0);
    const double y_norm = problem.loss->response().squaredNorm();
    const double left =
        (problem.loss->response() - make_iterate(problem, whole.solution.beta).eta).squaredNorm();
    EXPECT_NEAR(step.explained, y_norm > 0 ? 1 - left / y_norm : 0, 1e-12);
    EXPECT_EQ(step.fit.solution.beta.size() + step.fit.solution.eta.size(), 0);
    EXPECT_TRUE(step.fit.certificate.support.empty());
    seconds += step.fit.seconds;
  }
  EXPECT_DOUBLE_EQ(path.seconds, seconds);
  EXPECT_GT(path.passes, 0);
}

}  // namespace tyto::path_runs
