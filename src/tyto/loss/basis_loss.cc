#include "tyto/loss/basis_loss.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"

namespace tyto {
namespace {

constexpr int kMostSteps = 200;
constexpr int kMostCuts = 40;          // halvings of a step
constexpr double kValueNoise = 1e-10;  // of the value: a rise by less may be rounding

}  // namespace

InvalidArgument BasisLoss::no_minimum() {
  return InvalidArgument(
      "response: want one that the intercept and the unpenalised columns alone cannot explain "
      "entirely: there the loss has no minimum");
}

LossPoint BasisLoss::at(const Vector& fitted, const Vector& guess) const {
  const Index free = data_.basis.cols();
  if (free == 0) return evaluated(fitted, Vector());
  if (guess.size() == free) {
    LossPoint point = minimised(fitted, guess);
    if (solved(point)) return corrected(std::move(point));
  }
  LossPoint point = minimised(fitted, start(fitted));
  if (solved(point)) return corrected(std::move(point));
  point.value = std::numeric_limits<double>::infinity();  // so far away that nothing can be said
  return point;
}

Vector BasisLoss::predictor(const Vector& fitted, const Vector& coordinates) const {
  Vector eta = fitted;
  if (coordinates.size() > 0) eta += data_.basis * coordinates;
  for (Index i = 0; i < rows(); ++i) eta[i] = root(i) > 0 ? offset(i) + eta[i] / root(i) : 0;
  return eta;
}

Eigen::MatrixXd BasisLoss::information(const LossPoint& point) const {
  Eigen::MatrixXd curved(data_.basis.rows(), data_.basis.cols());
  for (Index k = 0; k < curved.cols(); ++k) curved.col(k) = times_curvature(point, data_.basis.col(k));
  return data_.basis.transpose() * curved;
}

double BasisLoss::slope(const LossPoint& point) const {
  return (data_.basis.transpose() * point.residual).lpNorm<Eigen::Infinity>();
}

// How small the slope can be: it is a sum of products that round.
double BasisLoss::slope_error(const LossPoint& point) const {
  return 64 * rounding::kEpsilon * data_.basis.colwise().norm().maxCoeff() * point.residual_magnitude;
}

bool BasisLoss::solved(const LossPoint& point) const {
  return std::isfinite(point.value) && point.eta.lpNorm<Eigen::Infinity>() < reach_.farthest &&
         slope(point) <= 1e4 * slope_error(point);
}

LossPoint BasisLoss::minimised(const Vector& fitted, Vector c) const {
  LossPoint point = evaluated(fitted, std::move(c));
  for (int step = 0; step < kMostSteps && std::isfinite(point.value); ++step) {
    const double before = slope(point);
    if (before <= slope_error(point)) break;
    const Eigen::LDLT<Eigen::MatrixXd> factor(information(point));
    Vector direction = factor.solve(data_.basis.transpose() * point.residual);
    if (!direction.allFinite()) break;
    shorten(direction);
    LossPoint next = evaluated(fitted, point.coordinates + direction);
    // Near the minimum, rounding hides a fall of the value; the slope still shows it.
    const double slack = 1e-14 * point.value;
    const double noise = kValueNoise * point.value;
    const auto falls = [&] {
      return next.value <= point.value + slack ||
             (next.value <= point.value + noise && slope(next) < 0.5 * before);
    };
    for (int cut = 0; cut < kMostCuts && !falls(); ++cut) {
      direction /= 2;
      next = evaluated(fitted, point.coordinates + direction);
    }
    if (!falls()) break;
    const double after = slope(next);
    if (!(after < before) && !(next.value < point.value - slack)) break;
    point = std::move(next);
  }
  return point;
}

void BasisLoss::shorten(Vector& direction) const {
  const Vector change = data_.basis * direction;
  double most = 0;
  for (Index i = 0; i < rows(); ++i)
    if (root(i) > 0) most = std::max(most, std::abs(change[i]) / root(i));
  if (most > reach_.longest_step) direction *= reach_.longest_step / most;
}

// What rounding leaves of B'r is taken out along the curvature, which keeps the dual point in its domain
// (14.5).
LossPoint BasisLoss::corrected(LossPoint point) const {
  const Eigen::LDLT<Eigen::MatrixXd> factor(information(point));
  const Vector shift = factor.solve(data_.basis.transpose() * point.residual);
  if (shift.allFinite()) point.residual -= times_curvature(point, data_.basis * shift);
  return point;
}

}  // namespace tyto
