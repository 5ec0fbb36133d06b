#include <fmt/core.h>

#include <cmath>

#include "tyto/loss/row_loss.h"

namespace tyto {
namespace {

// f = u^2 / 2 where |u| <= delta, else delta |u| - delta^2 / 2, with u = y - eta: outliers count less.
struct Huber {
  static constexpr std::string_view kName = "huber";
  static constexpr double kFarthest = std::numeric_limits<double>::infinity();
  static constexpr double kLongestStep = std::numeric_limits<double>::infinity();

  double delta = 1.35;

  void check(const LossData& data) const {
    if (!(delta > 0 && std::isfinite(delta)))
      throw InvalidArgument(fmt::format("huber-delta: want a number > 0, got {}", delta));
    for (Index i = 0; i < data.response.size(); ++i)
      if (!std::isfinite(data.response[i]))
        throw InvalidArgument(
            fmt::format("response: row {}: want a finite number, got {}", i, data.response[i]));
  }

  RowPoint at(double y, double eta) const {
    const double u = y - eta;
    const double magnitude = std::abs(y) + std::abs(eta);
    if (std::abs(u) <= delta) return {0.5 * u * u, u, 1, magnitude};
    return {delta * (std::abs(u) - 0.5 * delta), std::copysign(delta, u), kOutlier * delta / std::abs(u),
            delta};
  }
  // f - s psi u + (s psi)^2 / 2, with psi = -f'
  double divergence(double y, double eta, double scale) const {
    const double u = y - eta;
    const double rest = 1 - scale;
    if (std::abs(u) <= delta) return std::abs(scale * u) <= delta ? 0.5 * rest * rest * u * u : kInfinity;
    if (std::abs(scale) > 1) return kInfinity;
    return rest * delta * (std::abs(u) - 0.5 * (1 + scale) * delta);
  }
  double largest_curvature(double, double, double, double) const { return 1; }
  double start(double mean) const { return mean; }

 private:
  // f'' is 0 there. A step would go as far as other rows let it; this share of the curvature of the parabola
  // that majorises f keeps it short, and costs a step or two at the end.
  static constexpr double kOutlier = 0.01;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
};

}  // namespace

std::shared_ptr<const Loss> make_huber(LossData data) {
  const Huber huber{data.huber_delta};
  return std::make_shared<const RowLoss<Huber>>(std::move(data), huber);
}

}  // namespace tyto
