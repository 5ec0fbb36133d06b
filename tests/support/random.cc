#include "tests/support/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tyto {

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Vector random_vector(Random& random, Index size) {
  Vector v(size);
  for (double& entry : v) entry = random.normal();
  return v;
}

Eigen::MatrixXd random_matrix(Random& random, Index rows, Index cols) {
  Eigen::MatrixXd x(rows, cols);
  for (Index j = 0; j < cols; ++j) x.col(j) = random_vector(random, rows);
  return x;
}

Vector random_weights(Random& random, Index size) {
  Vector w = random_vector(random, size).cwiseAbs();
  std::sort(w.begin(), w.end(), std::greater<>());
  if (size == 0) return w;
  if (random.chance(0.3)) w.tail(random.below(size)).setZero();
  if (random.chance(0.3)) w = (4 * w).array().ceil() / 4;  // ties
  if (random.chance(0.2)) w.setConstant(w[0]);
  return w;
}

IndexSet random_columns(Random& random, Index cols) {
  IndexSet columns;
  const double density = random.uniform();
  for (Index j = 0; j < cols; ++j)
    if (random.chance(density)) columns.push_back(j);
  return columns;
}

Eigen::MatrixXd random_float_exact(Random& random, Index rows, Index cols, double density) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i)
      if (random.chance(density)) x(i, j) = static_cast<double>(random.between(-64, 64)) / 8;
  return x;
}

Problem dense_problem(Eigen::MatrixXd x, Vector y, Vector weights) {
  return {Design::dense(std::move(x)), std::move(y), SortedL1(std::move(weights))};
}

Problem simulated_problem(Random& random, Index rows, Index cols, const Vector& shape, double strength) {
  const Eigen::MatrixXd x = random_matrix(random, rows, cols);
  Vector y = 0.5 * random_vector(random, rows);
  for (int k = 0; k < 5; ++k) {
    const double coefficient = random.normal();
    y += coefficient * x.col(random.below(cols));
  }
  Problem problem = dense_problem(x, y, shape);
  problem.penalty = problem.penalty.scaled(strength * alpha_max(problem));
  return problem;
}

}  // namespace tyto
