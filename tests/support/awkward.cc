#include "tests/support/awkward.h"

#include <cmath>

#include "tyto/math/weights.h"

namespace tyto {
namespace {

Eigen::MatrixXd awkward_matrix(Random& random, Index n, Index p) {
  Eigen::MatrixXd x = random_matrix(random, n, p);
  if (random.chance(0.3)) x = x.array().round();                                            // ties, zeros
  if (random.chance(0.15)) x = x.col(0) * random_vector(random, p).transpose() + 1e-3 * x;  // nearly rank 1
  for (Index j = 1; j < p; ++j) {
    if (random.chance(0.1)) x.col(j) = x.col(random.below(j));
    if (random.chance(0.05)) x.col(j) = -x.col(random.below(j));
    if (random.chance(0.1)) x.col(j).setZero();
  }
  return x;
}

Vector awkward_response(Random& random, const Eigen::MatrixXd& x) {
  if (random.chance(0.03)) return Vector::Zero(x.rows());
  Vector y = random_vector(random, x.rows());
  if (random.chance(0.5)) y = x * random_vector(random, x.cols()) + 0.1 * y;
  if (random.chance(0.2)) y = y.array().round();
  return y;
}

Vector awkward_shape(Random& random, Index n, Index p) {
  if (random.chance(0.5)) return random_weights(random, p);
  const std::vector<std::string> names = weight_names();
  const auto kind = static_cast<std::size_t>(random.below(static_cast<Index>(names.size())));
  return make_weights(names[kind], {n, p, random.uniform(0.01, 0.9)});
}

double awkward_unit(Random& random) { return random.chance(0.3) ? std::pow(10, random.uniform(-10, 10)) : 1; }

}  // namespace

Problem awkward_problem(Random& random) {
  const Index n = random.chance(0.1) ? 1 : random.between(2, 8);
  const Index p = random.chance(0.1) ? 1 : random.between(2, 6);
  const double x_unit = awkward_unit(random), y_unit = awkward_unit(random);
  const Eigen::MatrixXd x = awkward_matrix(random, n, p);
  const Vector y = awkward_response(random, x);
  Problem problem = dense_problem(x_unit * x, y_unit * y, awkward_shape(random, n, p));
  const double most = alpha_max(problem);
  const double strength = random.chance(0.1) ? 1.0 : std::pow(10, random.uniform(-3, 0.1));
  problem.penalty = problem.penalty.scaled(most > 0 ? strength * most : 1);
  return problem;
}

}  // namespace tyto
