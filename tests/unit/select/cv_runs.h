#pragma once

#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tyto/select/cv.h"

namespace tyto::cv_runs {

struct Data {
  Eigen::MatrixXd x;
  Vector y;
};

inline Data simulated(Index n, Index p, std::uint64_t seed = 1) {
  Random random(seed);
  Data data{random_matrix(random, n, p), 2 * random_vector(random, n)};
  for (Index j = 0; j < p; ++j)
    data.x.col(j) = data.x.col(j) * random.uniform(0.1, 10.0) + Vector::Constant(n, 3);
  for (Index j = 0; j < std::min<Index>(4, p); ++j)
    data.y += data.x.col(j) * ((j % 2 == 0 ? 2.0 : -1.0) / data.x.col(j).norm() * std::sqrt(n));
  data.y.array() += 50;
  return data;
}

inline CvOptions few(Index folds, Index steps = 12) {
  CvOptions cv;
  cv.folds = folds, cv.path.steps = steps, cv.path.ratio = 0.02;
  return cv;
}

inline FitOptions tight(double tolerance = 1e-12) {
  FitOptions options;
  options.tolerance = tolerance;
  return options;
}

inline CrossValidation run(const Data& data, const RegressionOptions& regression, const CvOptions& cv,
                           const FitOptions& options = tight(1e-8), const CvHooks& hooks = {}) {
  return cross_validate(Design::dense(data.x), data.y, regression, cv, options, hooks);
}

}  // namespace tyto::cv_runs
