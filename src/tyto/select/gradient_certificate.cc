#include "tyto/select/gradient_certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/loss/rows.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

using Sums = GradientSums;

// A loss that is known by its sums at one point. With t = sum r / sum h, r - t h is orthogonal to the
// intercept, and the dual point s (r - t h) is that of means q with q - mu = (1 - s) r + s t h, so that
//   sum d(q, mu) <= c sum (q - mu)^2 / h = c ((1 - s)^2 sum r^2 / h + (1 - (1 - s)^2) t^2 sum h).
class LossOfSums final : public Loss {
 public:
  LossOfSums(const SummedLoss& row, LossPoint point, const SummedModel& model)
      : row_(row),
        point_(std::move(point)),
        response_(Vector::Constant(1, std::sqrt(model.response_square))),
        basis_(1, model.intercept ? 1 : 0) {
    const double sum = model.sums.totals(Sums::kCurvature, model.number);
    ratio_ = model.sums.totals(Sums::kRatio, model.number);
    if (model.intercept && sum > 0) shift_ = model.sums.totals(Sums::kResidual, model.number) / sum;
    off_ = shift_ * shift_ * sum;
    farthest_ = model.sums.farthest[model.number];
  }

  double shift() const { return shift_; }  // t

  std::string_view name() const override { return row_.name; }
  Index rows() const override { return 1; }
  LossPoint at(const Vector&, const Vector&) const override { return point_; }
  double curvature_bound(const LossPoint& at, double, double) const override { return at.curvature[0]; }
  bool is_quadratic() const override { return row_.any_mean; }
  const Vector& response() const override { return response_; }
  double row_value(double y, std::span<const double> eta) const override { return row_.row(y, eta[0]).value; }
  const Eigen::MatrixXd& basis() const override { return basis_; }

 protected:
  double divergence(const LossPoint&, double scale) const override {
    const double rest = 1 - scale;
    if (!row_.any_mean && !has_means(scale)) return std::numeric_limits<double>::infinity();
    return row_.divergence * (rest * rest * ratio_ + (1 - rest * rest) * off_);
  }
  double dual_curvature(const LossPoint&) const override { return 2 * row_.divergence * ratio_; }

 private:
  // Whether q = mu + (1 - s) r + s t h are means: those between y and mu + t h are, and so are those that are
  // no farther from mu than h.
  bool has_means(double scale) const {
    const bool between = scale >= 0 && scale <= 1 && std::abs(shift_) <= 1;
    return between || std::abs(1 - scale) * farthest_ + std::abs(scale * shift_) <= 1;
  }

  const SummedLoss& row_;
  LossPoint point_;
  Vector response_;
  Eigen::MatrixXd basis_;
  double ratio_ = 0;  // sum r^2 / h
  double shift_ = 0;  // t, beyond 1 of which mu + t h need not be means
  double off_ = 0;    // t^2 sum h
  double farthest_ = 0;
};

// The stand-in of the problem has as many rows as columns, by which (2.7) divides.
LossPoint point_of(const SummedModel& model, double stand_in_rows) {
  const double spread = std::sqrt(std::max(1.0, stand_in_rows / model.rows));
  const auto total = [&](Sums::Total which) { return model.sums.totals(which, model.number); };
  LossPoint at;
  at.value = total(Sums::kValue);
  at.residual = Vector::Constant(1, std::sqrt(total(Sums::kSquare)));
  at.curvature = Vector::Constant(1, model.sums.steepest[model.number]);
  at.coordinates = Vector::Zero(1);
  at.fitted_magnitude = std::sqrt(total(Sums::kFitted));
  at.residual_magnitude = spread * std::sqrt(total(Sums::kMagnitude));
  at.value_magnitude = at.value;
  return at;
}

}  // namespace

SummedPoint certify(const Problem& problem, const Vector& beta, const std::string& name,
                    const SummedModel& model) {
  const Sums& sums = model.sums;
  const Index k = model.number;
  const LossPoint at = point_of(model, static_cast<double>(problem.design.cols()));
  const auto loss = std::make_shared<const LossOfSums>(*find_summed_loss(name), at, model);
  SummedPoint result{{}, sums.residual.row(k)};
  if (loss->shift() != 0) {
    if (sums.curvature.size() > 0)
      result.gradient -= loss->shift() * sums.curvature.row(k).transpose();
    else
      result.gradient -= loss->shift() * sums.weight * model.means;
  }
  for (Index j = 0; j < beta.size(); ++j) result.gradient[j] /= problem.design.scale(j);
  Problem judged = problem;
  judged.loss = std::shared_ptr<const Loss>(loss);
  Vector with_ridge = result.gradient;
  add_ridge(problem, beta, with_ridge);
  DualNormAt known = evaluate_dual_norm(problem, with_ridge, nonzero_entries(beta));
  known.largest_product = std::min(0.0, with_ridge.maxCoeff());
  result.certificate = certify(judged, Iterate{beta, {}}, at, std::move(known));
  return result;
}

std::shared_ptr<const Loss> loss_of_sums(const std::string& loss, const SummedModel& model) {
  return std::make_shared<const LossOfSums>(*find_summed_loss(loss), point_of(model, 1), model);
}

}  // namespace tyto
