#include "tyto/select/estimate.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

Index find_feature(const Dataset& data, const std::string& name) {
  const auto found = std::ranges::find(data.names, name);
  if (found != data.names.end()) {
    if (std::ranges::count(data.names, name) > 1)
      throw InvalidArgument("unpenalized: want the number of one column, got '" + name +
                            "', which several are named");
    return found - data.names.begin();
  }
  Index number = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number >= data.design.cols())
    throw InvalidArgument(
        fmt::format("unpenalized: want a feature by name, or by number from 0 to {}, got '{}'",
                    data.design.cols() - 1, name));
  return number;
}

// Where the loss is for two classes, or there is only one.
InvalidArgument wrong_classes(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    if (text.size() > 60) {
      text += ", ...";
      break;
    }
    text += (text.empty() ? "" : ", ") + in_quotes(label);
  }
  return InvalidArgument(fmt::format("response: want two classes{}, got {}: {}",
                                     labels.size() > 1 ? ", or the loss multinomial" : "",
                                     labels.size() > 1 ? "more" : "one", text));
}

Regression regression_of(const Dataset& data, const EstimateOptions& options) {
  return make_regression(data.design, data.response, options.regression, Work(options.fit.threads));
}

// Coefficients on the data's own scale, as a start for the solver.
Vector on_problem_scale(const Regression& regression, const Vector& coefficients) {
  const Index all = regression.columns * regression.predictors;
  if (coefficients.size() != all)
    throw InvalidArgument(fmt::format("start: want {} coefficients, got {}", all, coefficients.size()));
  Vector beta(regression.problem.design.cols());
  for (Index k = 0; k < beta.size(); ++k)
    beta[k] = coefficients[regression.coefficient(k)] * regression.problem.design.scale(k);
  if (regression.shape.nonnegative()) beta = beta.cwiseMax(0);
  return beta;
}

// A fit at the strength, or at the level of the noise.
NoiseFit solve(const Regression& regression, const EstimateOptions& options, const Observer& observer) {
  Vector beta;
  if (options.start.size() > 0) beta = on_problem_scale(regression, options.start);
  if (options.noise.estimate) return fit_estimating_noise(regression, options.fit, observer);
  const std::optional<double>& sigma = options.noise.sigma;
  NoiseFit result{{sigma.value_or(0)}, sigma ? at_noise(regression, *sigma) : regression, {}};
  const Vector* start = beta.size() > 0 ? &beta : nullptr;
  result.fit = fit(result.regression.problem, options.fit, start, observer);
  return result;
}

// A fit as a path of one step.
Path as_path(const Regression& regression, Fit fit, const Model& model) {
  Path path{{model.alpha}, regression.alpha_max, 1, {}};
  path.passes = fit.passes;
  path.seconds = fit.seconds;
  path.cpu_seconds = fit.cpu_seconds;
  PathStep step;
  step.alpha = model.alpha;
  step.beta = fit.solution.beta.sparseView(1, 0);
  step.clusters = model.clusters();
  step.coordinates = fit.solution.coordinates;
  step.residual_norm = deviance_root(regression.problem, fit.certificate);
  step.explained = explained(step.residual_norm, null_deviance_root(regression.problem));
  if (fit.status == Status::kInterrupted) path.stopped_by = PathStop::kInterrupted;
  if (fit.status == Status::kTimeLimit) path.stopped_by = PathStop::kMaxSeconds;
  fit.solution = {};
  step.fit = std::move(fit);
  path.steps.push_back(std::move(step));
  return path;
}

}  // namespace

EstimateOptions completed(EstimateOptions options, const Dataset& data) {
  if (data.row_weights.size() > 0) options.regression.observation_weights = data.row_weights;
  if (data.offset.size() > 0) options.regression.offset = data.offset;
  options.regression.origin = data.origin;
  if (data.events.size() > 0) options.regression.events = data.events;
  if (!find_loss(options.regression.loss).intercept) options.regression.intercept = false;
  const bool many = find_loss(options.regression.loss).labels == LossRow::Labels::kMany;
  if (data.labels.size() == 1 || (data.labels.size() > 2 && !many)) throw wrong_classes(data.labels);
  options.regression.loss = loss_for(options.regression.loss, data.response);
  for (const std::string& name : options.unpenalized)
    options.regression.unpenalized.push_back(find_feature(data, name));
  options.unpenalized.clear();
  return options;
}

void mark_choices(const EstimateOptions& options, Estimate& found) {
  for (const Criterion criterion : options.choose) {
    const CriterionChoice choice = choose(found.criteria, criterion, observations(found.regression.problem));
    found.models[static_cast<std::size_t>(choice.step)].chosen_by.push_back(choice);
  }
}

Estimate estimate(const Dataset& data, const EstimateOptions& asked, const Observer& observer) {
  validate(asked, kFitTask);
  const EstimateOptions options = completed(asked, data);
  NoiseFit found = solve(regression_of(data, options), options, observer);
  Estimate result{std::move(found.regression), {}, {}, {}};
  result.models = {make_model(data, options.regression, result.regression, found.fit, options.fit)};
  Model& model = result.models.front();
  if (options.correlations) correlate_clusters(data, result.models);
  if (options.noise.asked()) model.noise = found.noise;
  result.path = as_path(result.regression, std::move(found.fit), model);
  if (options.gamma) {
    relax(result.regression, *options.gamma, result.path, Work(options.fit.threads));
    relax(model, result.regression, *result.path.steps.front().relaxation);
  }
  return result;
}

Estimate estimate_path(const Dataset& data, const EstimateOptions& asked, const PathObserver& observer) {
  validate(asked, kPathTask);
  const EstimateOptions options = completed(asked, data);
  Estimate result{regression_of(data, options), {}, {}, {}};
  const Problem& problem = result.regression.problem;
  if (std::ranges::count(options.choose, Criterion::kCp) > 0 && !options.noise.sigma &&
      cp_needs_sigma(problem))
    throw InvalidArgument(
        "choose: cp needs the noise level where there are as many columns as rows: want --sigma");
  result.path = fit_path(result.regression, options.cv.path, options.fit, observer);
  if (options.gamma) relax(result.regression, *options.gamma, result.path, Work(options.fit.threads));
  if (options.criteria || !options.choose.empty())
    result.criteria = criteria(result.path, problem, options.noise.sigma, Work(options.fit.threads));
  result.models = make_models(data, options.regression, result.regression, result.path, options.fit);
  if (options.correlations) correlate_clusters(data, result.models);
  mark_choices(options, result);
  return result;
}

CvEstimate estimate_cv(const Dataset& data, const EstimateOptions& asked, const CvHooks& hooks) {
  validate(asked, kCvTask);
  const EstimateOptions options = completed(asked, data);
  CvEstimate result{
      cross_validate(data.design, data.response, options.regression, options.cv, options.fit, hooks), {}};
  if (!result.cv.complete()) return result;
  result.models = make_models(data, options.regression, result.cv, options.fit);
  if (options.correlations) correlate_clusters(data, result.models);
  return result;
}

}  // namespace tyto
