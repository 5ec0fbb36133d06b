#include <fmt/core.h>

#include <cmath>

#include "tyto/loss/row_loss.h"

namespace tyto {
namespace {

// f = exp(eta) - y eta, less its smallest value: counts, or rates with their exposure as row weight.
struct Poisson {
  static constexpr std::string_view kName = "poisson";
  static constexpr double kFarthest = 700;   // exp overflows
  static constexpr double kLongestStep = 3;  // a Newton step from below overshoots by exp of it

  static void check(const LossData& data) {
    bool any = false;
    for (Index i = 0; i < data.response.size(); ++i) {
      const double y = data.response[i];
      if (!(y >= 0 && std::isfinite(y)))
        throw InvalidArgument(fmt::format("response: row {}: want a count >= 0, got {}", i, y));
      any = any || (y > 0 && !(data.roots.size() > 0 && data.roots[i] == 0));
    }
    if (!any) throw InvalidArgument("response: want counts of which some are above 0, got none");
  }

  static RowPoint at(double y, double eta) {
    const double mu = std::exp(eta);
    return {value(y, eta, mu, 1), y - mu, mu, (y + mu) * (1 + std::abs(eta))};
  }
  static double divergence(double y, double eta, double scale) {
    return value(y, eta, std::exp(eta), 1 - scale);
  }
  // The mean of a row at the dual optimum is at most u, with d(q, u) = gap / v; d(q, u) >= (u - q)^2 / (2 u)
  // bounds it. Up to there f'' is at most u.
  static double largest_curvature(double y, double eta, double scale, double gap) {
    const double q = std::max(0.0, (1 - scale) * y + scale * std::exp(eta));
    return q + gap + std::sqrt(gap * gap + 2 * q * gap);
  }
  static double start(double mean) { return std::log(mean); }

 private:
  // d(q, mu) for q = mu + rest (y - mu)
  static double value(double y, double eta, double mu, double rest) {
    if (y == 0) return mu * relative_entropy(-rest);
    return mu * relative_entropy(rest * (y * std::exp(-eta) - 1));
  }
};

}  // namespace

std::shared_ptr<const Loss> make_poisson(LossData data) {
  return std::make_shared<const RowLoss<Poisson>>(std::move(data));
}

RowPoint poisson_row(double y, double eta) { return Poisson::at(y, eta); }

}  // namespace tyto
