#include "tyto/select/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "tyto/base/error.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

constexpr Index kNone = -1;

// The number of each coefficient's cluster: the same where the magnitude is the same, 0 where it is largest.
std::vector<Index> cluster_numbers(const Vector& beta) {
  IndexSet order = nonzero_entries(beta);
  std::ranges::sort(order, std::greater<>(), [&](Index j) { return std::abs(beta[j]); });
  std::vector<Index> numbers(static_cast<std::size_t>(beta.size()), kNone);
  Index number = -1;
  double last = 0;
  for (const Index j : order) {
    if (const double magnitude = std::abs(beta[j]); magnitude != last) ++number, last = magnitude;
    numbers[static_cast<std::size_t>(j)] = number;
  }
  return numbers;
}

// Where each of the model's features stands in the data.
IndexSet positions(const Model& model, const Dataset& data) {
  const bool by_name =
      !data.names.empty() &&
      std::ranges::all_of(model.coefficients, [](const Coefficient& c) { return !c.name.empty(); });
  IndexSet result;
  if (!by_name) {
    if (data.design.cols() != model.p)
      throw InvalidArgument("data: want " + std::to_string(model.p) +
                            " feature columns, as the model was fitted on, got " +
                            std::to_string(data.design.cols()));
    for (const Coefficient& c : model.coefficients) result.push_back(c.column);
    return result;
  }
  std::unordered_map<std::string_view, Index> place;
  for (std::size_t j = 0; j < data.names.size(); ++j) place.emplace(data.names[j], static_cast<Index>(j));
  // Names that stand twice say nothing: then the position decides, if the name there is right.
  for (const Coefficient& c : model.coefficients) {
    const auto column = static_cast<std::size_t>(c.column);
    if (column < data.names.size() && data.names[column] == c.name) {
      result.push_back(c.column);
    } else if (const auto found = place.find(c.name); found != place.end()) {
      result.push_back(found->second);
    } else {
      throw InvalidArgument("data: want a column '" + c.name +
                            "', which the model uses, got none of that name");
    }
  }
  return result;
}

}  // namespace

Index Model::clusters() const {
  Index most = -1;
  for (const Coefficient& c : coefficients) most = std::max(most, c.cluster);
  return most + 1;
}

Model make_model(const Dataset& data, const RegressionOptions& options, const Regression& regression,
                 const Fit& fit, const FitOptions& fit_options) {
  const Vector& beta = fit.solution.beta;
  const Certificate& c = fit.certificate;
  Model model;
  model.n = data.design.rows(), model.p = data.design.cols();
  model.options = options;
  model.alpha = regression.alpha;
  model.solver = find_solver(fit_options.solver).name, model.screening = fit_options.screening;
  model.status = name(fit.status), model.tolerance = fit_options.tolerance;
  model.primal = c.primal, model.dual = c.dual, model.gap = c.gap, model.relative_gap = c.relative_gap();
  model.rounding = c.rounding;
  model.response_name = data.response_name;
  const auto [coefficients, intercept] = regression.on_data_scale(beta);
  model.intercept = intercept;
  const std::vector<Index> clusters = cluster_numbers(beta);
  std::vector<Index> cluster(static_cast<std::size_t>(coefficients.size()), kNone);
  for (Index k = 0; k < std::ssize(clusters); ++k)
    cluster[static_cast<std::size_t>(regression.penalized[k])] = clusters[static_cast<std::size_t>(k)];
  for (SparseBeta::InnerIterator it(coefficients); it; ++it)
    model.coefficients.push_back(
        {it.index(), it.value(), cluster[static_cast<std::size_t>(it.index())],
         data.names.empty() ? "" : data.names[static_cast<std::size_t>(it.index())]});
  return model;
}

void relax(Model& model, const Regression& regression, const Relaxation& relaxation) {
  const SparseBeta& beta = relaxation.least_squares.beta;
  const double gamma = relaxation.gamma;
  const auto [relaxed, intercept] = regression.on_data_scale(beta);
  RelaxedCoefficients both{gamma, model.intercept, intercept, {}, {}};
  const auto mix = [&](double penalized, double loose) { return (1 - gamma) * loose + gamma * penalized; };
  for (Coefficient& c : model.coefficients) {
    both.penalized.push_back(c.value), both.relaxed.push_back(relaxed.coeff(c.column));
    c.value = mix(c.value, relaxed.coeff(c.column));
  }
  model.intercept = mix(model.intercept, both.relaxed_intercept);
  model.relaxed = std::move(both);
}

std::vector<Model> make_models(const Dataset& data, const RegressionOptions& options,
                               const Regression& regression, const Path& path,
                               const FitOptions& fit_options) {
  std::vector<Model> models;
  for (const PathStep& step : path.steps) {
    models.push_back(make_model(data, options, regression.at(step.alpha), step.expanded(), fit_options));
    if (step.relaxation) relax(models.back(), regression, *step.relaxation);
  }
  return models;
}

std::vector<Model> make_models(const Dataset& data, const RegressionOptions& options,
                               const CrossValidation& cv, const FitOptions& fit_options) {
  RegressionOptions words = options;
  words.q = cv.chosen().q, words.slope = cv.chosen().slope;
  std::vector<Model> models = make_models(data, words, cv.chosen().regression, cv.chosen().path, fit_options);
  models.at(static_cast<std::size_t>(cv.best)).best = true;
  models.at(static_cast<std::size_t>(cv.one_se)).one_se = true;
  return models;
}

std::size_t find_alpha(const std::vector<Model>& models, double alpha) {
  const auto distance = [&](const Model& model) { return std::abs(model.alpha - alpha); };
  const auto nearest = std::ranges::min_element(models, {}, distance);
  if (nearest == models.end() || !(distance(*nearest) <= 1e-5 * std::abs(nearest->alpha)))
    throw InvalidArgument(
        fmt::format("alpha: want a strength of the path, got {}{}", alpha,
                    nearest == models.end() ? "" : fmt::format("; the nearest is {:.7g}", nearest->alpha)));
  return static_cast<std::size_t>(nearest - models.begin());
}

Vector predict(const Model& model, const Dataset& data) {
  const IndexSet columns = positions(model, data);
  // In the order of the model, whatever that of the data is: the same bits.
  Vector prediction = Vector::Constant(data.design.rows(), model.intercept);
  for (std::size_t k = 0; k < columns.size(); ++k)
    data.design.axpy(columns[k], model.coefficients[k].value, prediction);
  return prediction;
}

}  // namespace tyto
