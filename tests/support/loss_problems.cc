#include "tests/support/loss_problems.h"

#include <cmath>

#include "tyto/math/weights.h"

namespace tyto {

Vector random_response(Random& random, const std::string& loss, Index rows) {
  Vector y(rows);
  const Index classes = loss == "multinomial" ? random.between(3, 5) : 2;
  for (double& value : y) {
    if (loss == "poisson")
      value = std::floor(std::exp(random.uniform(-1, 2.5)));
    else if (loss == "cox")
      value = random.chance(0.5) ? std::floor(random.uniform(0, 8)) : random.uniform(0, 8);  // some are equal
    else if (loss == "binomial" || loss == "squared-hinge")
      value = random.chance(0.5) ? 1 : 0;
    else if (loss == "multinomial")
      value = static_cast<double>(random.below(classes));
    else
      value = 3 * random.normal() + (random.chance(0.1) ? 20 : 0);
  }
  if (loss == "poisson") y[0] = 1 + std::floor(y[0]);
  if (loss == "binomial" || loss == "squared-hinge") y.head(2) << 0, 1;
  if (loss == "multinomial")
    y.head(classes) = Vector::LinSpaced(classes, 0, static_cast<double>(classes - 1));
  if (loss == "binomial" && random.chance(0.2))
    for (double& value : y) value = random.uniform();
  return y;
}

namespace {

Eigen::MatrixXd random_columns_of_kinds(Random& random, Index rows, Index cols) {
  Eigen::MatrixXd x = random_matrix(random, rows, cols);
  for (Index j = 1; j < cols; ++j) {
    if (random.chance(0.3)) x.col(j) = x.col(0) + std::pow(10, random.uniform(-4, 0)) * x.col(j);
    if (random.chance(0.1)) x.col(j) = x.col(0);
    if (random.chance(0.1)) x.col(j) = (x.col(j).array() > 0).cast<double>();
    if (random.chance(0.1)) x.col(j) *= std::pow(10, random.uniform(-3, 3));
  }
  return x;
}

}  // namespace

Regression random_regression(Random& random, const std::string& loss) {
  const Index rows = random.between(6, 18);
  const Index cols = random.between(3, 12);
  const Eigen::MatrixXd x = random_columns_of_kinds(random, rows, cols);
  RegressionOptions options;
  options.loss = loss;
  options.weights = random.chance(0.5) ? "bh" : random.chance(0.5) ? "oscar" : "lasso";
  options.q = random.uniform(0.05, 0.9);
  options.strength = std::pow(10, random.uniform(-2, -0.05));
  options.intercept = random.chance(0.7);
  options.standardize = random.chance(0.7);
  options.nonnegative = random.chance(0.2);
  if (random.chance(0.3)) options.ridge = std::pow(10, random.uniform(-3, 1));
  if (random.chance(0.3)) options.observation_weights = (2 * random_vector(random, rows)).array().exp();
  if (random.chance(0.3) && loss != "multinomial") options.offset = random_vector(random, rows);
  if (loss == "cox") {
    options.events = Vector::NullaryExpr(rows, [&](Index) { return random.chance(0.7) ? 1 : 0; });
    options.events[0] = 1;
  }
  if (random.chance(0.2) && cols > 3) options.unpenalized = {cols - 1};
  if (!options.standardize) options.strength *= 0.5;
  return make_regression(Design::dense(x), random_response(random, loss, rows), options);
}

}  // namespace tyto
