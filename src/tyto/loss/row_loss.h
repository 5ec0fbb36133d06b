#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "tyto/loss/basis_loss.h"

namespace tyto {

// What one row says at its linear predictor.
struct RowPoint {
  double value;      // f, less its smallest value over all eta
  double residual;   // -f'
  double curvature;  // f''
  double magnitude;  // what rounding errors of the residual are proportional to
};

// phi(t) = (1 + t) log(1 + t) - t, without loss of digits near 0; infinite below -1.
inline double relative_entropy(double t) {
  if (t < -1) return std::numeric_limits<double>::infinity();
  if (std::abs(t) < 1e-3) return 0.5 * t * t * (1 - t / 3 * (1 - t / 2 * (1 - 0.6 * t)));
  return t == -1 ? 1 : (1 + t) * std::log1p(t) - t;
}

// Stands for a curvature of 0 in steps: Newton's method cannot divide by that.
inline constexpr double kFlat = 1e-8;

// A loss that is a sum over rows, each with one linear predictor. F gives one row:
//   kName;  check(data), which throws InvalidArgument
//   kFarthest: |eta| beyond it is no minimum;  kLongestStep, in eta, of Newton's method
//   at(y, eta) -> RowPoint
//   divergence(y, eta, scale): d(q, mu) with q = (1 - scale) y + scale mu
//   largest_curvature(y, eta, scale, gap / v): a bound of f'' on the row's part of the dual ball
//   start(mean of y): the eta of a constant model, or a guess
template <class F>
class RowLoss final : public BasisLoss {
 public:
  explicit RowLoss(LossData data, F f = {})
      : BasisLoss(std::move(data), {F::kFarthest, F::kLongestStep}), f_(std::move(f)) {
    f_.check(data_);
    LossPoint null = at(Vector::Zero(rows()), {});
    if (!std::isfinite(null.value)) throw no_minimum();
    null_ = std::move(null.coordinates);
  }

  std::string_view name() const override { return F::kName; }
  double row_value(double y, std::span<const double> eta) const override { return f_.at(y, eta[0]).value; }

  double curvature_bound(const LossPoint& at, double scale, double gap) const override {
    double most = 0;
    for (Index i = 0; i < rows(); ++i)
      if (const double v = weight(i); v > 0)
        most = std::max(most, f_.largest_curvature(data_.response[i], at.eta[i], scale, gap / v));
    return most;
  }

 protected:
  double divergence(const LossPoint& at, double scale) const override {
    double sum = 0;
    for (Index i = 0; i < rows(); ++i)
      if (const double v = weight(i); v > 0) sum += v * f_.divergence(data_.response[i], at.eta[i], scale);
    return sum;
  }

  LossPoint evaluated(const Vector& fitted, Vector coordinates) const override {
    const Index n = rows();
    LossPoint point{Vector(n), Vector(n), predictor(fitted, coordinates), std::move(coordinates)};
    double squares = 0;
    double fitted_squares = 0;
    for (Index i = 0; i < n; ++i) {
      const double d = root(i);
      const double eta = point.eta[i];
      const RowPoint row = f_.at(data_.response[i], eta);
      point.residual[i] = d * row.residual;
      point.curvature[i] = row.curvature;
      point.value += d * d * row.value;
      squares += d * d * row.magnitude * row.magnitude;
      fitted_squares += d * d * eta * eta;
    }
    point.residual_magnitude = std::sqrt(squares);
    point.fitted_magnitude = std::sqrt(fitted_squares);
    point.value_magnitude = point.value;
    return point;
  }

  Vector times_curvature(const LossPoint& at, const Vector& change) const override {
    return at.curvature.cwiseProduct(change);
  }

  // Coordinates of the null model, lowered by as much as the largest fitted value would raise it.
  Vector start(const Vector& fitted) const override {
    Vector c = null_.size() > 0 ? null_ : first_guess();
    double most = 0;
    for (Index i = 0; i < rows(); ++i)
      if (root(i) > 0) most = std::max(most, fitted[i] / root(i));
    if (most > longest_step()) c += along_basis([&](Index) { return -most; });
    return c;
  }

 private:
  Vector first_guess() const {
    double total = 0;
    double sum = 0;
    for (Index i = 0; i < rows(); ++i) {
      total += weight(i);
      sum += weight(i) > 0 ? weight(i) * data_.response[i] : 0;
    }
    const double eta = f_.start(sum / total);
    return along_basis([&](Index i) { return eta - offset(i); });
  }

  // The coordinates of a linear predictor, as far as the basis has it.
  template <class Predictor>
  Vector along_basis(Predictor predictor) const {
    Vector scaled(rows());
    for (Index i = 0; i < rows(); ++i) scaled[i] = root(i) > 0 ? root(i) * predictor(i) : 0;
    Vector c(data_.basis.cols());
    for (Index k = 0; k < c.size(); ++k)
      c[k] = data_.basis.col(k).dot(scaled) / data_.basis.col(k).squaredNorm();
    return c;
  }

  F f_;
  Vector null_;  // c of the model without columns
};

}  // namespace tyto
