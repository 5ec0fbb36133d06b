#include <fmt/core.h>

#include <cmath>

#include "tyto/loss/row_loss.h"

namespace tyto {
namespace {

// f = max(0, 1 - m)^2 / 2 with the margin m = eta for label 1 and -eta for label 0: the support vector
// machine with squared hinge loss.
struct SquaredHinge {
  static constexpr std::string_view kName = "squared-hinge";
  static constexpr double kFarthest = std::numeric_limits<double>::infinity();
  static constexpr double kLongestStep = std::numeric_limits<double>::infinity();

  static void check(const LossData& data) {
    bool zero = false;
    bool one = false;
    for (Index i = 0; i < data.response.size(); ++i) {
      const double y = data.response[i];
      if (y != 0 && y != 1)
        throw InvalidArgument(fmt::format("response: row {}: want one of two classes, got {}", i, y));
      if (data.roots.size() > 0 && data.roots[i] == 0) continue;
      zero = zero || y == 0;
      one = one || y == 1;
    }
    if (!zero || !one) throw InvalidArgument("response: want two classes, got one");
  }

  static RowPoint at(double y, double eta) {
    const double sign = y == 1 ? 1 : -1;
    const double short_of = 1 - sign * eta;
    if (short_of <= 0) return {0, 0, kFlat, 0};
    return {0.5 * short_of * short_of, sign * short_of, 1, 1 + std::abs(eta)};
  }
  static double divergence(double y, double eta, double scale) {
    if (scale < 0) return std::numeric_limits<double>::infinity();
    return (1 - scale) * (1 - scale) * at(y, eta).value;
  }
  static double largest_curvature(double, double, double, double) { return 1; }
  static double start(double mean) { return 2 * mean - 1; }
};

}  // namespace

std::shared_ptr<const Loss> make_squared_hinge(LossData data) {
  return std::make_shared<const RowLoss<SquaredHinge>>(std::move(data));
}

}  // namespace tyto
