#include "tyto/select/regression.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

constexpr Names kRelativeTo({
    std::pair<std::string_view, RelativeTo>{"alpha-max", RelativeTo::kAlphaMax},
    {"correlation", RelativeTo::kCorrelation},
    {"absolute", RelativeTo::kAbsolute},
});

SortedL1 shape(const RegressionOptions& options, const Design& design) {
  const Index n = std::llround(std::min(design.total_weight(), 1e15)), p = design.cols();
  if (options.weight_values.size() == 0)
    return SortedL1(make_weights(options.weights, {n, p, options.q, options.slope}), options.nonnegative);
  if (options.weight_values.size() != p)
    throw InvalidArgument("weights: want " + std::to_string(p) + " numbers, one for each column, got " +
                          std::to_string(options.weight_values.size()));
  return SortedL1(options.weight_values, options.nonnegative);
}

void check(const Design& raw, const Vector& response, const RegressionOptions& options) {
  if (raw.rows() == 0 || raw.cols() == 0) throw InvalidArgument("data: want at least one row and one column");
  if (response.size() != raw.rows())
    throw InvalidArgument("response: want " + std::to_string(raw.rows()) + " numbers, got " +
                          std::to_string(response.size()));
  if (!(options.strength > 0 && std::isfinite(options.strength)))
    throw InvalidArgument(fmt::format("strength: want a number > 0, got {}", options.strength));
  for (const Index j : options.unpenalized)
    if (j < 0 || j >= raw.cols() || std::ranges::count(options.unpenalized, j) > 1)
      throw InvalidArgument(
          fmt::format("unpenalized: want columns from 0 to {}, each once, got {}", raw.cols() - 1, j));
  const Vector& weights = options.observation_weights;
  for (Index i = 0; i < weights.size(); ++i)
    if (!(weights[i] >= 0 && std::isfinite(weights[i])))
      throw InvalidArgument(
          fmt::format("observation-weights: row {}: want a finite number >= 0, got {}", i, weights[i]));
  if (std::ssize(options.unpenalized) == raw.cols())
    throw InvalidArgument("unpenalized: want at least one column that is penalised, got none");
}

// The mean of a constant response is that constant, free of rounding: centred, it is exactly 0.
double mean(const Vector& response, const Design& design) {
  const Vector& roots = design.roots();
  const Vector counted = roots.size() == 0 ? response : Vector(response(nonzero_entries(roots)));
  if (counted.minCoeff() == counted.maxCoeff()) return counted[0];
  if (roots.size() == 0) return response.mean();
  return roots.array().square().matrix().dot(response) / design.total_weight();
}

// The response beside the design: weighted like its rows, and without what lies along its basis, of which the
// coordinates are returned. Twice, as rounding leaves something the first time; much, where the mean is
// large.
Projection::Response take_out(const Design& design, bool intercept, Vector& y) {
  Projection::Coordinates along = Projection::Coordinates::Zero(design.basis().cols());
  if (intercept) {
    const double constant = mean(y, design);
    y.array() -= constant;
    along[0] = constant;
  }
  if (design.roots().size() > 0) y = (design.roots().array() > 0).select(design.roots().cwiseProduct(y), 0);
  double norm = y.norm();
  for (int twice = 0; twice < 2; ++twice) {
    const Vector rest = design.coordinates(y);
    along += rest.cast<long double>();
    y -= design.basis() * rest;
  }
  // What rounding leaves of a response that unpenalised columns explain is nothing; it counts as an error.
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double left = y.norm();
  if (along.size() > (intercept ? 1 : 0) && left <= static_cast<double>(y.size() + 16) * kEpsilon * norm) {
    y.setZero();
    norm += left / kEpsilon;
  }
  return {std::move(along), norm};
}

// The intercept (if there is one) and the unpenalised columns as coordinates of the design's basis.
Eigen::MatrixXd triangle(const Design& design, bool intercept, std::span<const Index> unpenalized) {
  const Index count = design.basis().cols();
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(count, count);
  for (Index k = 0; k < std::ssize(unpenalized); ++k)
    result.col(k + (intercept ? 1 : 0)) = design.offsets().col(unpenalized[static_cast<std::size_t>(k)]);
  return result;
}

double unit(const Problem& problem, const Regression& regression, RelativeTo relative_to) {
  if (relative_to == RelativeTo::kAbsolute) return 1;
  if (relative_to == RelativeTo::kAlphaMax) return regression.alpha_max;
  return problem.at_zero->correlation.lpNorm<Eigen::Infinity>();
}

}  // namespace

std::string_view name(RelativeTo unit) { return kRelativeTo.name(unit); }

std::vector<std::string> relative_to_names() { return kRelativeTo.all(); }

RelativeTo parse_relative_to(std::string_view text) {
  if (const auto found = kRelativeTo.find(text)) return *found;
  throw InvalidArgument("relative-to: want alpha-max, correlation or absolute, got '" + std::string(text) +
                        "'");
}

Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options,
                           const Work& work) {
  check(raw, response, options);
  Regression result;
  result.has_intercept = options.intercept;
  Design design = raw.standardized(options.intercept, options.standardize, options.observation_weights, work);
  validate(design, response);
  std::vector<double> rounding_norms;  // of the unpenalised columns, as they are stored
  for (const Index j : options.unpenalized) {
    const double rounding_norm = design.rounding_norms()[j] * design.scale(j);
    const Index before = design.basis().cols();
    design = design.without(j, work);
    if (design.basis().cols() == before) continue;
    result.free.push_back(j);
    rounding_norms.push_back(rounding_norm);
  }
  const Eigen::MatrixXd coordinates = triangle(design, options.intercept, result.free);
  result.columns = raw.cols();
  result.penalized = Selection::first(raw.cols());
  if (!options.unpenalized.empty()) {
    IndexSet unpenalized = options.unpenalized;
    std::ranges::sort(unpenalized);
    const IndexSet penalized = all_but(unpenalized, raw.cols());
    design = design.select(penalized);
    result.penalized = penalized;
  }

  Vector y = response;
  Projection::Response along = take_out(design, options.intercept, y);
  result.shape = shape(options, design);
  result.problem = {design, y, result.shape, options.ridge};
  if (design.basis().cols() > 0)
    result.problem.projection = std::make_shared<const Projection>(
        coordinates, Vector::Map(rounding_norms.data(), std::ssize(rounding_norms)), std::move(along));
  validate(result.problem);
  result.problem.at_zero = std::make_shared<AtZero>(at_zero(result.problem, work));
  result.alpha_max = result.problem.at_zero->dual_norm;
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

DataScale Regression::on_data_scale(const SparseBeta& beta) const {
  const Design& design = problem.design;
  std::vector<std::pair<Index, double>> all;
  IndexSet support;
  for (SparseBeta::InnerIterator it(beta); it; ++it) {
    all.emplace_back(penalized[it.index()], it.value() / design.scale(it.index()));
    support.push_back(it.index());
  }
  Vector others;  // the intercept and the unpenalised coefficients
  if (problem.projection) {
    const Vector values = Vector::Map(beta.valuePtr(), beta.nonZeros());
    others = problem.projection->coefficients(design, support, values).values;
  }
  const Index first = has_intercept ? 1 : 0;
  for (Index k = 0; k < std::ssize(free); ++k)
    all.emplace_back(free[static_cast<std::size_t>(k)], others[first + k]);
  std::ranges::sort(all);
  DataScale result{SparseBeta(columns), has_intercept ? others[0] : 0};
  result.coefficients.reserve(std::ssize(all));
  for (const auto& [column, value] : all) result.coefficients.insertBack(column) = value;
  return result;
}

}  // namespace tyto
