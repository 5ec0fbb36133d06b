#include "tyto/loss/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tyto {

// The formula of the gap for every loss (14.4): no difference of large numbers.
double Loss::gap(const LossPoint& at, const GapTerms& terms, double scale) const {
  const double rest = 1 - scale;
  return divergence(at, scale) + 0.5 * rest * rest * terms.ridge_square +
         (terms.norm - scale * terms.product);
}

double Loss::dual_curvature(const LossPoint& at) const {
  return (at.residual.array().square() / at.curvature.array().max(std::numeric_limits<double>::min())).sum();
}

double Loss::column_norm(std::span<const Index>, std::span<const double> values) const {
  return Eigen::Map<const Vector>(values.data(), std::ssize(values)).norm();
}

// gap(s) is convex; at s = 1 its slope is -product, and its curvature the sum of r_i^2 / f''_i,
// for a sum over rows. Where J° > 1 the largest feasible s is taken.
DualPoint Loss::best_dual(const LossPoint& at, const GapTerms& terms) const {
  const double most = terms.dual_norm > 0 ? 1 / terms.dual_norm : std::numeric_limits<double>::infinity();
  double scale = std::min(1.0, most);
  double found = gap(at, terms, scale);
  if (most > 1 || terms.product < 0) {
    const double curvature = dual_curvature(at) + terms.ridge_square;
    double step = curvature > 0 ? terms.product / curvature : 0;
    for (int attempt = 0; attempt < 8 && step != 0; ++attempt, step /= 4) {
      const double other = std::clamp(1 + step, 0.0, most);
      const double value = gap(at, terms, other);
      if (!(value < found)) continue;
      scale = other;
      found = value;
      break;
    }
  }
  const double primal = at.value + 0.5 * terms.ridge_square + terms.norm;
  if (!std::isfinite(found)) return {0, primal, 0};
  return {scale, found, primal - found};
}

void Loss::apply_root(const LossPoint& at, Eigen::MatrixXd& columns) const {
  columns = at.curvature.cwiseSqrt().asDiagonal() * columns;
}

Vector Loss::working_residual(const LossPoint& at) const {
  return at.residual.cwiseQuotient(at.curvature.cwiseSqrt());
}

double Loss::dual_fall(const LossPoint& at, const GapTerms& terms, double scale, double excess) const {
  if (!(excess > 0)) return 0;
  return std::max(0.0, gap(at, terms, scale / (1 + excess)) - gap(at, terms, scale));
}

}  // namespace tyto
