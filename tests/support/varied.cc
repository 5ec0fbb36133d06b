#include "tests/support/varied.h"

#include <cmath>

#include "tests/support/zoo.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Eigen::MatrixXd grouped(Random& random, Eigen::MatrixXd x) {
  const Index groups = random.between(1, 4);
  const Eigen::MatrixXd latent = random_matrix(random, x.rows(), groups);
  const double noise = std::pow(10, random.uniform(-3, 0));
  for (Index j = 0; j < x.cols(); ++j) {
    const double sign = random.chance(0.3) ? -1 : 1;
    x.col(j) = sign * latent.col(random.below(groups)) + noise * x.col(j);
  }
  return x;
}

Eigen::MatrixXd duplicated(Random& random, Eigen::MatrixXd x) {
  for (Index j = 1; j < x.cols(); ++j) {
    if (random.chance(0.4)) {
      const double sign = random.chance(0.3) ? -1 : 1;
      x.col(j) = sign * x.col(random.below(j));
    }
    if (random.chance(0.05)) x.col(j).setConstant(random.chance(0.5) ? 0 : 1);
  }
  return x;
}

// Smooth curves in j, as spectra are: columns differ from their neighbours in the last digits.
Eigen::MatrixXd smooth(Random& random, const Eigen::MatrixXd& x) {
  const Index modes = std::min<Index>(x.cols(), random.between(2, 6));
  Eigen::MatrixXd curves(modes, x.cols());
  for (Index m = 0; m < modes; ++m)
    for (Index j = 0; j < x.cols(); ++j)
      curves(m, j) = std::cos(static_cast<double>(m * j) / static_cast<double>(x.cols()));
  return random_matrix(random, x.rows(), modes) * curves + 1e-4 * x;
}

Eigen::MatrixXd varied_matrix(Random& random, Index n, Index p) {
  Eigen::MatrixXd x = random_matrix(random, n, p);
  const Index kind = random.below(9);
  if (kind == 1) x = grouped(random, x);
  if (kind == 2) x = duplicated(random, x);
  if (kind == 3) x = smooth(random, x);
  if (kind == 4) x = x.col(0) * random_vector(random, p).transpose() + 1e-3 * x;
  if (kind == 5) x = random_float_exact(random, n, p, random.uniform(0.05, 0.5));
  if (kind == 6) x = x.array() / (0.02 + random_matrix(random, n, p).array().abs());  // heavy tails
  if (kind == 7)
    for (Index j = 0; j < p; ++j) x.col(j) *= std::pow(10, random.uniform(-4, 4));
  if (kind == 8) {
    const double rho = random.uniform(0.5, 0.999);
    for (Index j = 1; j < p; ++j) x.col(j) = rho * x.col(j - 1) + std::sqrt(1 - rho * rho) * x.col(j);
  }
  return x;
}

// Data as they come: X in some storage, y.
struct Raw {
  Design design;
  Vector y;
};

Raw varied_data(Random& random, Index most_rows, Index most_cols) {
  const Index n = random.between(1, most_rows), p = random.between(1, most_cols);
  Eigen::MatrixXd x = varied_matrix(random, n, p);
  const auto storage = static_cast<Storage>(random.below(3));
  if (storage == Storage::kFloat) x = x.cast<float>().cast<double>();
  Vector y = random_vector(random, n);
  if (random.chance(0.7)) {
    y *= 0.3;
    for (int k = 0; k < 4; ++k) {
      const Index j = random.below(p);
      if (x.col(j).norm() > 0)
        y += random.normal() * std::sqrt(static_cast<double>(n)) * x.col(j).normalized();
    }
  }
  if (random.chance(0.1)) y = y.array() / (0.02 + random_vector(random, n).array().abs());
  return {stored(x, storage), y};
}

Vector varied_shape(Random& random, Index n, Index p) {
  Vector shape = random_weights(random, p);
  if (const std::vector<std::string> names = weight_names(); random.chance(0.8))
    shape = make_weights(names[static_cast<std::size_t>(random.below(std::ssize(names)))],
                         {n, p, random.uniform(0.01, 0.5)});
  return shape;
}

void choose_strength(Random& random, Problem& problem) {
  const double most = alpha_max(problem);
  problem.penalty = problem.penalty.scaled(most > 0 ? std::pow(10, random.uniform(-3, 0)) * most : 1);
}

}  // namespace

Problem varied_problem(Random& random, Index most_rows, Index most_cols) {
  auto [design, y] = varied_data(random, most_rows, most_cols);
  if (random.chance(0.5)) {
    design = design.standardized(true, true);
    y.array() -= y.mean();
  }
  Problem problem{design, gaussian_loss(y), SortedL1(varied_shape(random, design.rows(), design.cols()))};
  choose_strength(random, problem);
  return problem;
}

Problem extended_problem(Random& random, Index most_rows, Index most_cols) {
  auto [design, y] = varied_data(random, most_rows, most_cols);
  const Index n = design.rows();
  Vector weights;
  if (random.chance(0.5)) {
    weights = Vector::Ones(n);
    for (Index i = 1; i < n; ++i) weights[i] = random.chance(0.2) ? 0 : random.uniform(0.1, 3);
    y = y.cwiseProduct(weights.cwiseSqrt());
  }
  const bool center = random.chance(0.5), scale = random.chance(0.5);
  design = design.standardized(center, scale, weights);
  for (Index left = random.chance(0.5) ? random.between(1, 3) : 0; left > 0 && design.cols() > 1; --left) {
    const Index gone = random.below(design.cols());
    IndexSet others;
    for (Index j = 0; j < design.cols(); ++j)
      if (j != gone) others.push_back(j);
    design = design.without(gone).select(others);
  }
  for (int twice = 0; twice < 2; ++twice) y -= design.basis() * design.coordinates(y);
  if (y.norm() < 1e-10) y.setZero();
  const Index p = design.cols();
  Problem problem{design, gaussian_loss(y), SortedL1(varied_shape(random, n, p), random.chance(0.5))};
  if (random.chance(0.5))
    problem.ridge = std::pow(10, random.uniform(-6, 1)) *
                    std::max(1e-3, design.norms().squaredNorm() / static_cast<double>(p));
  choose_strength(random, problem);
  return problem;
}

}  // namespace tyto
