#include <fmt/core.h>

#include <cmath>

#include "tyto/loss/row_loss.h"

namespace tyto {
namespace {

// y log(y) + (1 - y) log(1 - y)
double negative_entropy(double y) { return y > 0 && y < 1 ? y * std::log(y) + (1 - y) * std::log1p(-y) : 0; }

// f = log(1 + exp(eta)) - y eta: labels 0 and 1, or proportions between them.
struct Binomial {
  static constexpr std::string_view kName = "binomial";
  static constexpr double kFarthest = 700;   // exp overflows
  static constexpr double kLongestStep = 3;  // the curvature may change by exp of it

  static void check(const LossData& data) {
    bool below = false;
    bool above = false;
    for (Index i = 0; i < data.response.size(); ++i) {
      const double y = data.response[i];
      if (!(y >= 0 && y <= 1))
        throw InvalidArgument(
            fmt::format("response: row {}: want a class or a share from 0 to 1, got {}", i, y));
      if (data.roots.size() > 0 && data.roots[i] == 0) continue;
      below = below || y < 1;
      above = above || y > 0;
    }
    if (!below || !above) throw InvalidArgument("response: want two classes, got one");
  }

  static RowPoint at(double y, double eta) {
    const double small = std::exp(-std::abs(eta));  // of the less likely class, up to the factor
    const double likely = 1 / (1 + small);
    const double unlikely = small * likely;
    const double mu = eta >= 0 ? likely : unlikely;
    const double rest = eta >= 0 ? unlikely : likely;  // 1 - mu
    const double value = std::log1p(small) + (eta >= 0 ? (1 - y) * eta : -y * eta) + negative_entropy(y);
    const double residual = y * rest - (1 - y) * mu;
    return {std::max(value, 0.0), residual, mu * rest, (y * rest + (1 - y) * mu) * (1 + std::abs(eta))};
  }

  // q - mu = (1 - s) (y - mu), over mu and over 1 - mu.
  static double divergence(double y, double eta, double scale) {
    const double small = std::exp(-std::abs(eta));
    const double likely = 1 / (1 + small);
    const double unlikely = small * likely;
    const double rest = 1 - scale;
    const double mu = eta >= 0 ? likely : unlikely;
    const double nu = eta >= 0 ? unlikely : likely;
    const double up = y > 0 ? y * std::exp(-eta) - (1 - y) : -1;   // (y - mu) / mu
    const double down = y < 1 ? (1 - y) * std::exp(eta) - y : -1;  // (mu - y) / nu
    return mu * relative_entropy(rest * up) + nu * relative_entropy(rest * down);
  }
  // Pinsker's inequality: 2 (q - q*)^2 <= d(q, q*).
  static double largest_curvature(double, double, double, double) { return 0.25; }
  static double start(double mean) { return std::log(mean / (1 - mean)); }
};

}  // namespace

std::shared_ptr<const Loss> make_binomial(LossData data) {
  return std::make_shared<const RowLoss<Binomial>>(std::move(data));
}

RowPoint binomial_row(double y, double eta) { return Binomial::at(y, eta); }

}  // namespace tyto
