#include "tyto/select/regression.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "tyto/base/error.h"

namespace tyto {
namespace {

constexpr std::array<std::pair<std::string_view, RelativeTo>, 3> kRelativeTo{{
    {"alpha-max", RelativeTo::kAlphaMax},
    {"correlation", RelativeTo::kCorrelation},
    {"absolute", RelativeTo::kAbsolute},
}};

SortedL1 shape(const RegressionOptions& options, Index n, Index p) {
  if (options.weight_values.size() == 0) return SortedL1(make_weights(options.weights, {n, p, options.q}));
  if (options.weight_values.size() != p)
    throw InvalidArgument("weights: want " + std::to_string(p) + " numbers, one for each column, got " +
                          std::to_string(options.weight_values.size()));
  return SortedL1(options.weight_values);
}

double unit(const Problem& problem, const Regression& regression, RelativeTo relative_to) {
  if (relative_to == RelativeTo::kAbsolute) return 1;
  if (relative_to == RelativeTo::kAlphaMax) return regression.alpha_max;
  Vector correlation;
  problem.design.transpose_multiply(problem.y, correlation);
  return correlation.lpNorm<Eigen::Infinity>();
}

}  // namespace

std::vector<std::string> relative_to_names() {
  std::vector<std::string> names;
  for (const auto& [name, value] : kRelativeTo) names.emplace_back(name);
  return names;
}

RelativeTo parse_relative_to(std::string_view text) {
  for (const auto& [name, value] : kRelativeTo)
    if (name == text) return value;
  throw InvalidArgument("relative-to: want alpha-max, correlation or absolute, got '" + std::string(text) +
                        "'");
}

Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options) {
  if (raw.rows() == 0 || raw.cols() == 0) throw InvalidArgument("data: want at least one row and one column");
  if (response.size() != raw.rows())
    throw InvalidArgument("response: want " + std::to_string(raw.rows()) + " numbers, got " +
                          std::to_string(response.size()));
  if (!(options.strength > 0 && std::isfinite(options.strength)))
    throw InvalidArgument(fmt::format("strength: want a number > 0, got {}", options.strength));
  // The mean of a constant response is that constant, free of rounding: centred, it is exactly 0.
  const bool constant = response.minCoeff() == response.maxCoeff();
  const double mean = !options.intercept ? 0 : constant ? response[0] : response.mean();
  const SortedL1 weights = shape(options, raw.rows(), raw.cols());
  Regression result{
      {raw.standardized(options.intercept, options.standardize), response.array() - mean, weights}, weights};
  validate(result.problem);
  result.response_mean = mean;
  result.alpha_max = alpha_max(result.problem);
  // Where no column is correlated with the response the solution is 0 for every multiplier, and any unit will
  // do.
  const double base = unit(result.problem, result, options.relative_to);
  result.alpha = options.strength * (base > 0 ? base : 1);
  if (!std::isfinite(result.alpha))
    throw InvalidArgument("strength: the multiplier of the weights is not finite");
  result.problem.penalty = result.shape.scaled(result.alpha);
  return result;
}

Regression Regression::at(double multiplier) const {
  Regression other = *this;
  other.alpha = multiplier;
  other.problem.penalty = shape.scaled(multiplier);
  return other;
}

Vector Regression::coefficients(const Vector& beta) const {
  return beta.cwiseQuotient(problem.design.scales());
}

double Regression::intercept(const Vector& beta) const {
  return response_mean - coefficients(beta).dot(problem.design.centers());
}

}  // namespace tyto
