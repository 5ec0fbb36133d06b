#include "tyto/select/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/math/entries.h"
#include "tyto/select/score.h"

namespace tyto {
namespace {

constexpr Index kNone = -1;

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
  model.n = data.rows();
  model.p = data.design.cols();
  model.options = options;
  model.alpha = regression.alpha;
  model.solver = find_solver(fit_options.solver).name;
  model.screening = fit_options.screening;
  model.status = name(fit.status);
  model.tolerance = fit_options.tolerance;
  model.primal = c.primal;
  model.dual = c.dual;
  model.gap = c.gap;
  model.relative_gap = c.relative_gap();
  model.rounding = c.rounding;
  model.response_name = data.response_name;
  const auto [coefficients, intercepts] =
      regression.on_data_scale(SparseBeta(beta.sparseView()), fit.solution.coordinates);
  model.classes = regression.classes;
  model.labels = data.labels;
  model.intercepts.assign(intercepts.begin(), intercepts.end());
  std::vector<Index> cluster(static_cast<std::size_t>(coefficients.size()), kNone);
  for (std::size_t k = 0; k < fit.cluster.size(); ++k)
    cluster[static_cast<std::size_t>(regression.coefficient(c.support[k]))] = fit.cluster[k];
  for (SparseBeta::InnerIterator it(coefficients); it; ++it) {
    const Index column = it.index() / regression.predictors;
    const auto place = static_cast<std::size_t>(column);
    model.coefficients.push_back({column, it.value(), cluster[static_cast<std::size_t>(it.index())],
                                  data.names.empty() ? "" : data.names[place],
                                  it.index() % regression.predictors});
    if (!data.means.empty()) model.fill.push_back(data.means[place]);
  }
  model.one_hot = data.one_hot;
  return model;
}

void relax(Model& model, const Regression& regression, const Relaxation& relaxation) {
  const SparseBeta& beta = relaxation.least_squares.beta;
  const double gamma = relaxation.gamma;
  const auto [relaxed, intercepts] = regression.on_data_scale(beta);
  RelaxedCoefficients both{gamma, model.intercept(), intercepts[0], {}, {}};
  const auto mix = [&](double penalized, double loose) { return (1 - gamma) * loose + gamma * penalized; };
  for (Coefficient& c : model.coefficients) {
    both.penalized.push_back(c.value);
    both.relaxed.push_back(relaxed.coeff(c.column));
    c.value = mix(c.value, relaxed.coeff(c.column));
  }
  model.intercepts = {mix(model.intercept(), both.relaxed_intercept)};
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
  words.q = cv.chosen().q;
  words.slope = cv.chosen().slope;
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

std::string Model::class_word(Index number) const {
  const auto place = static_cast<std::size_t>(number);
  return labels.empty() ? fmt::format("{}", classes.at(place)) : labels.at(place);
}

Eigen::MatrixXd mean_response(const Model& model, Eigen::MatrixXd predictor) {
  const auto mean = find_loss(model.options.loss).mean;
  std::vector<double> row(static_cast<std::size_t>(predictor.cols()));
  for (Index i = 0; i < predictor.rows(); ++i) {
    std::ranges::copy(predictor.row(i), row.begin());
    mean(row);
    std::ranges::copy(row, predictor.row(i).begin());
  }
  return predictor;
}

std::vector<std::string> predicted_class(const Model& model, const Eigen::MatrixXd& predictor) {
  if (model.classes.empty())
    throw InvalidArgument("type: want response or link for a model without classes, got class");
  std::vector<std::string> predicted;
  for (Index i = 0; i < predictor.rows(); ++i)
    predicted.push_back(model.class_word(most_likely(predictor.row(i).transpose())));
  return predicted;
}

Vector encoded_response(const Model& model, const Dataset& data) {
  if (model.classes.empty()) return data.response;
  if (data.labels.empty() != model.labels.empty())
    throw InvalidArgument(fmt::format("response: want the classes of the model, which are {}, got {}",
                                      model.labels.empty() ? "numbers" : "words",
                                      data.labels.empty() ? "numbers" : "words"));
  Vector numbers(data.response.size());
  for (Index i = 0; i < numbers.size(); ++i) {
    const double value = data.response[i];
    const auto place = [&](const auto& all, const auto& wanted) {
      return std::ranges::find(all, wanted) - all.begin();
    };
    const auto number = data.labels.empty()
                            ? place(model.classes, value)
                            : place(model.labels, data.labels[static_cast<std::size_t>(value)]);
    if (number == std::ssize(model.classes))
      throw InvalidArgument(fmt::format("response: row {}: want a class of the model, got {}", i,
                                        data.labels.empty()
                                            ? fmt::format("{}", value)
                                            : in_quotes(data.labels[static_cast<std::size_t>(value)])));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

Eigen::MatrixXd predict(const Model& model, const Dataset& data) {
  if (model.has_offset() && data.offset.size() != data.design.rows())
    throw InvalidArgument("offset: want one for the new rows, as the model was fitted with one, got none");
  const IndexSet columns = positions(model, data);
  // In the order of the model, whatever that of the data is: the same bits.
  const auto count = std::ssize(model.intercepts);
  Eigen::MatrixXd prediction(data.design.rows(), count);
  for (Index c = 0; c < count; ++c) {
    Vector one = Vector::Constant(data.design.rows(), model.intercepts[static_cast<std::size_t>(c)]);
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (model.coefficients[k].of_class == c) data.design.axpy(columns[k], model.coefficients[k].value, one);
    if (data.offset.size() > 0) one += data.offset;
    prediction.col(c) = one;
  }
  return prediction;
}

}  // namespace tyto
