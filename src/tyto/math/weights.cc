#include "tyto/math/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"

namespace tyto {
namespace {

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

// x with P(N(0,1) > x) = tail, 0 < tail <= 1/2: Newton's method on the logarithm of the tail, which is
// concave in x, so that the iterates fall to x from any start above it. The error of a step is about the
// square of the step.
double normal_quantile_above(double tail, double start) {
  double x = start;
  for (int i = 0; i < 100; ++i) {
    const double above = 0.5 * std::erfc(x / std::numbers::sqrt2);
    const double step = std::log(above / tail) * above / normal_density(x);
    x += step;
    if (std::abs(step) <= 1e-9 * x || x <= 0) break;
  }
  return std::max(x, 0.0);
}

// The same a little further on, where the tail is larger by `rise`: four terms of its series.
double next_quantile(double x, double rise) {
  const double u = rise / normal_density(x);
  return x - u * (1 - u / 2 * (x - u / 3 * (1 + 2 * x * x - u / 4 * x * (7 + 6 * x * x))));
}

Vector oscar(const WeightContext& c) {
  return Vector::NullaryExpr(c.p, [&](Index i) {
    return 1 + c.slope * (static_cast<double>(c.p - 1 - i) / static_cast<double>(c.p));
  });
}
Vector lasso(const WeightContext& c) { return Vector::Ones(c.p); }
Vector linf(const WeightContext& c) {
  return Vector::NullaryExpr(c.p, [](Index i) { return i == 0 ? 1.0 : 0.0; });
}
Vector linear(const WeightContext& c) {
  return Vector::NullaryExpr(
      c.p, [&](Index i) { return static_cast<double>(c.p - i) / static_cast<double>(c.p); });
}
Vector bh(const WeightContext& c) {
  constexpr Index kFirstSeries = 16;  // quantiles that lie too far apart for the series
  const double step = c.q / (2 * static_cast<double>(c.p));
  Vector w(c.p);
  double above = std::sqrt(-2 * std::log(2 * step));  // P(N > x) <= exp(-x^2 / 2) / 2
  for (Index i = 0; i < c.p; ++i) {
    const double near = i < kFirstSeries ? above : next_quantile(above, step);
    const double x = normal_quantile_above(std::min(0.5, step * static_cast<double>(i + 1)), near);
    w[i] = above = std::min(x, above);
  }
  return w;
}
// bh corrected for the noise that the features already in the model add: of the i-th weight, i - 1 of them,
// with n - i degrees of freedom left. Constant from where it would rise.
Vector gaussian(const WeightContext& c) {
  Vector w = bh(c);
  double squares = 0;
  for (Index i = 1; i < c.p; ++i) {
    squares += w[i - 1] * w[i - 1];
    const auto freedom = static_cast<double>(c.n - (i + 1));
    const double corrected = w[i] * std::sqrt(1 + squares / freedom);
    if (freedom <= 0 || corrected > w[i - 1]) {
      w.tail(c.p - i).setConstant(w[i - 1]);
      break;
    }
    w[i] = corrected;
  }
  return w;
}

struct Row {
  std::string_view name;
  Vector (*make)(const WeightContext&);
};
constexpr std::array<Row, 6> kTable{{
    {"oscar", oscar},        // 1 + slope (p - i) / p: Bondell & Reich 2008; the seed paper's slope is 1
    {"lasso", lasso},        // 1
    {"linf", linf},          // 1, 0, ..., 0
    {"bh", bh},              // Phi^-1(1 - q i / (2p)): Bogdan et al. 2015
    {"gaussian", gaussian},  // Bogdan et al. 2015, section 3.2.2
    {"linear", linear},      // (p - i + 1) / p
}};

}  // namespace

std::vector<std::string> weight_names() {
  std::vector<std::string> names;
  for (const Row& row : kTable) names.emplace_back(row.name);
  return names;
}

bool is_weight_name(std::string_view name) {
  return std::ranges::any_of(kTable, [&](const Row& row) { return row.name == name; });
}

Vector make_weights(std::string_view name, const WeightContext& context) {
  if (!(context.q > 0 && context.q <= 1))
    throw InvalidArgument(fmt::format("q: want a number in (0, 1], got {}", context.q));
  if (!(context.slope >= 0 && std::isfinite(context.slope)))
    throw InvalidArgument(fmt::format("slope: want a finite number >= 0, got {}", context.slope));
  for (const Row& row : kTable)
    if (row.name == name) return row.make(context);
  throw InvalidArgument(unknown_word("weights: unknown kind", name, weight_names()));
}

}  // namespace tyto
