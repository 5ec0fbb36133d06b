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
    throw InvalidArgument(fmt::format("weights: want {} numbers, one for each {}, got {}", p,
                                      design.classes() > 1 ? "column and class" : "column",
                                      options.weight_values.size()));
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
  if (options.offset.size() > 0 && options.offset.size() != raw.rows())
    throw InvalidArgument(
        fmt::format("offset: want {} numbers, one for each row, got {}", raw.rows(), options.offset.size()));
  for (Index i = 0; i < options.offset.size(); ++i)
    if (!std::isfinite(options.offset[i]))
      throw InvalidArgument(
          fmt::format("offset: row {}: want a finite number, got {}", i, options.offset[i]));
  if (options.events.size() > 0 && options.loss != "cox")
    throw InvalidArgument("event: want none with the loss " + options.loss + ", which has no censored rows");
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

// Projects the unpenalised columns out of the design, and says which of them do not depend on those before.
// Returns the rounding norms of these, as they are stored.
std::vector<double> take_out(const IndexSet& unpenalized, Design& design, IndexSet& free, const Work& work) {
  std::vector<double> rounding_norms;
  for (const Index j : unpenalized) {
    const double rounding_norm = design.rounding_norms()[j] * design.scale(j);
    const Index before = design.basis().cols();
    design = design.without(j, work);
    if (design.basis().cols() == before) continue;
    free.push_back(j);
    rounding_norms.push_back(rounding_norm);
  }
  return rounding_norms;
}

// The constant (if it is projected out) and the unpenalised columns as coordinates of the design's basis.
Eigen::MatrixXd triangle(const Design& design, bool constant, std::span<const Index> unpenalized) {
  const Index count = design.basis().cols();
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(count, count);
  for (Index k = 0; k < std::ssize(unpenalized); ++k)
    result.col(k + (constant ? 1 : 0)) = design.offsets().col(unpenalized[static_cast<std::size_t>(k)]);
  return result;
}

// The labels that a response of classes has. What has nearly as many as rows is none.
std::vector<double> different(const Vector& response) {
  constexpr std::size_t kFew = 20;
  std::vector<double> labels(response.begin(), response.end());
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  if (labels.size() == 1)
    throw InvalidArgument(fmt::format("response: want at least two classes, got one: {}", labels[0]));
  if (labels.size() > kFew && 2 * std::ssize(labels) > response.size())
    throw InvalidArgument(fmt::format("response: want classes, most of more than one row, got {} in {} rows",
                                      labels.size(), response.size()));
  return labels;
}

double unit(const Regression& regression, RelativeTo relative_to) {
  const Problem& problem = regression.problem;
  if (relative_to == RelativeTo::kAbsolute) return 1;
  const Vector& correlation = problem.at_zero->correlation;
  if (relative_to == RelativeTo::kCorrelation) return correlation.lpNorm<Eigen::Infinity>();
  const bool nothing =
      problem.penalty.nonnegative() ? !(correlation.array() > 0).any() : !(correlation.array() != 0).any();
  if (regression.alpha_max == 0 && !nothing)
    throw InvalidArgument(
        "weights: want smaller ones: the multiplier that leaves nothing is below all doubles");
  return regression.alpha_max;
}

// Where no column is correlated with the response the solution is 0 for every multiplier, and any unit will
// do.
double multiplier(const Regression& regression, const RegressionOptions& options) {
  const double base = unit(regression, options.relative_to);
  const double alpha = options.strength * (base > 0 ? base : 1);
  if (!std::isfinite(alpha)) throw InvalidArgument("strength: the multiplier of the weights is not finite");
  if (alpha == 0 && options.strength > 0)
    throw InvalidArgument("strength: the multiplier of the weights is below all doubles");
  return alpha;
}

}  // namespace

std::string_view name(RelativeTo unit) { return kRelativeTo.name(unit); }

std::vector<std::string> relative_to_names() { return kRelativeTo.all(); }

RelativeTo parse_relative_to(std::string_view text) {
  if (const auto found = kRelativeTo.find(text)) return *found;
  throw InvalidArgument("relative-to: want alpha-max, correlation or absolute, got '" + std::string(text) +
                        "'");
}

std::vector<double> classes_of(const std::string& loss, const Vector& response) {
  const LossRow::Labels labels = find_loss(loss).labels;
  if (labels == LossRow::Labels::kNone || response.size() == 0) return {};
  if (labels == LossRow::Labels::kMany) return different(response);
  const double low = response.minCoeff();
  const double high = response.maxCoeff();
  const bool two = (response.array() == low || response.array() == high).all() && low < high;
  if (two) return {low, high};
  const bool one_class = low == high && (low == 0 || low == 1);
  if (low >= 0 && high <= 1 && !one_class) return {};
  throw InvalidArgument(low == high ? fmt::format("response: want two classes, got one: {}", low)
                                    : "response: want two classes, or shares from 0 to 1, got more values");
}

Vector encoded(const Vector& response, const std::vector<double>& classes) {
  if (classes.empty()) return response;
  return response.unaryExpr([&](double label) {
    return static_cast<double>(std::ranges::lower_bound(classes, label) - classes.begin());
  });
}

std::string loss_for(const std::string& loss, const Vector& response) {
  const bool many = find_loss(loss).labels == LossRow::Labels::kMany;
  return many && classes_of(loss, response).size() == 2 ? "binomial" : loss;
}

Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options,
                           const Work& work) {
  check(raw, response, options);
  Regression result;
  const LossRow& loss = find_loss(loss_for(options.loss, response));
  result.has_intercept = options.intercept && loss.intercept;
  result.centered = options.intercept || !loss.intercept;
  result.origin = options.origin;
  Design design = raw.standardized(result.centered, options.standardize, options.observation_weights, work);
  validate(design, response);
  const std::vector<double> rounding_norms = take_out(options.unpenalized, design, result.free, work);
  const Eigen::MatrixXd coordinates = triangle(design, result.centered, result.free);
  result.columns = raw.cols();
  result.penalized = Selection::first(raw.cols());
  if (!options.unpenalized.empty()) {
    IndexSet unpenalized = options.unpenalized;
    std::ranges::sort(unpenalized);
    const IndexSet penalized = all_but(unpenalized, raw.cols());
    design = design.select(penalized);
    result.penalized = penalized;
  }
  result.classes = classes_of(options.loss, response);
  Vector y = encoded(response, result.classes);
  if (loss.labels == LossRow::Labels::kMany) {
    result.predictors = std::ssize(result.classes);
    design = design.for_classes(result.predictors);
  }
  Projection::Response along{Projection::Coordinates::Zero(design.basis().cols() * result.predictors), 0};
  if (loss.name == "gaussian") {
    if (options.offset.size() > 0) y -= options.offset;
    along = take_out(design, options.intercept, y);
  }
  result.shape = shape(options, design);
  result.problem = {design,
                    loss.make({std::move(y), design.roots(), options.offset, design.basis(),
                               options.huber_delta, options.events, result.predictors}),
                    result.shape, options.ridge};
  if (design.basis().cols() > 0)
    result.problem.projection = std::make_shared<const Projection>(
        coordinates, Vector::Map(rounding_norms.data(), std::ssize(rounding_norms)), std::move(along));
  validate(result.problem);
  result.problem.at_zero = std::make_shared<AtZero>(at_zero(result.problem, work));
  result.alpha_max = result.problem.at_zero->dual_norm;
  result.alpha = multiplier(result, options);
  result.problem.penalty = result.shape.scaled(result.alpha);
  return result;
}

Regression Regression::at(double multiplier) const {
  Regression other = *this;
  other.alpha = multiplier;
  other.problem.penalty = shape.scaled(multiplier);
  return other;
}

DataScale Regression::on_data_scale(const SparseBeta& beta, Vector coordinates) const {
  const Design& design = problem.design;
  if (coordinates.size() == 0 && !problem.loss->is_quadratic())
    coordinates = loss_at(problem, make_iterate(problem, beta)).coordinates;
  std::vector<std::pair<Index, double>> all;
  IndexSet support;
  for (SparseBeta::InnerIterator it(beta); it; ++it) {
    all.emplace_back(coefficient(it.index()), it.value() / design.scale(it.index()));
    support.push_back(it.index());
  }
  Vector others;  // the intercept and the unpenalised coefficients
  if (problem.projection) {
    const Vector values = Vector::Map(beta.valuePtr(), beta.nonZeros());
    others = problem.projection->coefficients(design, support, values, coordinates).values;
  }
  const Index first = centered ? 1 : 0;
  const Index each = first + std::ssize(free);
  DataScale result{SparseBeta(columns * predictors), Vector::Zero(predictors)};
  for (Index c = 0; c < predictors; ++c) {
    if (has_intercept) result.intercepts[c] = others[c * each];
    for (Index k = 0; k < std::ssize(free); ++k)
      all.emplace_back(free[static_cast<std::size_t>(k)] * predictors + c, others[c * each + first + k]);
  }
  std::ranges::sort(all);
  result.coefficients.reserve(std::ssize(all));
  for (const auto& [column, value] : all) result.coefficients.insertBack(column) = value;
  if (origin && has_intercept) {
    long double intercept = result.intercept() + origin->response;
    for (const auto& [column, value] : all) intercept -= origin->columns[column] * value;
    result.intercepts[0] = static_cast<double>(intercept);
  }
  return result;
}

}  // namespace tyto
