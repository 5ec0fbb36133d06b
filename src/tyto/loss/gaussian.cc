#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/loss/loss.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

double dot(const Vector& a, const Vector& b) { return kernels::dot(a.data(), b.data(), a.size()); }

// 1/2 ||y - fitted||^2. The intercept and unpenalised columns are projected out of y beforehand.
class Gaussian final : public Loss {
 public:
  explicit Gaussian(Vector y) : y_(std::move(y)), norm_(std::sqrt(dot(y_, y_))) {}

  std::string_view name() const override { return "gaussian"; }
  Index rows() const override { return y_.size(); }
  bool is_quadratic() const override { return true; }
  const Vector& response() const override { return y_; }
  double row_value(double y, std::span<const double> eta) const override {
    return 0.5 * (y - eta[0]) * (y - eta[0]);
  }
  const Eigen::MatrixXd& basis() const override { return none_; }
  double curvature_bound(const LossPoint&, double, double) const override { return 1; }

  LossPoint at(const Vector& fitted, const Vector&) const override {
    LossPoint point{y_ - fitted};
    const double rr = dot(point.residual, point.residual);
    point.value = 0.5 * rr;
    point.fitted_magnitude = norm_;
    point.residual_magnitude = std::sqrt(rr);
    return point;
  }

  // The best scale is in closed form. With a ridge, r has p more rows, which are 0 in y.
  DualPoint best_dual(const LossPoint& at, const GapTerms& terms) const override {
    const double rr = 2 * at.value + terms.ridge_square;
    const double ry = product_with_response(at);
    const auto [scale, gap] =
        quadratic_gap(rr, ry, terms.norm, terms.product, terms.dual_norm, terms.nonnegative);
    return {scale, gap, scale * ry - 0.5 * scale * scale * rr};
  }

  double dual_fall(const LossPoint& at, const GapTerms& terms, double scale, double excess) const override {
    const double rr = 2 * at.value + terms.ridge_square;
    const double share = excess < 1 ? excess / (1 + excess) : 1 - 1 / (1 + excess);
    const double off = std::abs(scale) * share;
    return off * std::abs(product_with_response(at) - scale * rr) + 0.5 * off * off * rr;
  }

 protected:
  double divergence(const LossPoint& at, double scale) const override {
    return (1 - scale) * (1 - scale) * at.value;
  }

 private:
  double product_with_response(const LossPoint& at) const {
    return at.response_product ? *at.response_product : dot(at.residual, y_);
  }

  Vector y_;
  double norm_;
  Eigen::MatrixXd none_;
};

}  // namespace

// With r'y = r'r + r'Xb the gap needs no difference of large numbers:
//   gap = P(b) - D(s r) = (1 - s)^2 ||r||^2 / 2 + J(b) - s b'X'r.
Gap quadratic_gap(double rr, double ry, double norm, double product, double bound, bool nonnegative) {
  double best = rr > 0 ? ry / rr : 0;
  if (nonnegative) best = std::max(best, 0.0);  // J° of -X'r is another number
  const double scale = bound * std::abs(best) <= 1 ? best : std::copysign(1 / bound, best);
  return {scale, 0.5 * (1 - scale) * (1 - scale) * rr + (norm - scale * product)};
}

std::shared_ptr<const Loss> gaussian_loss(Vector y) { return std::make_shared<const Gaussian>(std::move(y)); }

}  // namespace tyto
