#include "tyto/regression.h"

#include <algorithm>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/select/estimate.h"

namespace tyto {

// The data and the options in the library's own types.
struct OwlRegression::Parts {
  Dataset data;
  EstimateOptions options;
  double alpha_max = 0;
};

namespace {

RegressionOptions regression_options(const OwlOptions& words) {
  RegressionOptions result;
  result.loss = words.loss;
  result.weights = words.weight_values.size() > 0 ? "given" : words.weights;
  result.weight_values = words.weight_values;
  result.q = words.q;
  result.slope = words.slope;
  result.strength = words.strength;
  result.relative_to = parse_relative_to(words.relative_to);
  result.intercept = words.intercept;
  result.standardize = words.standardize;
  result.observation_weights = words.observation_weights;
  result.events = words.events;
  if (result.loss == "cox" && result.events.size() == 0)
    throw InvalidArgument("events: want 0 or 1 for each row with the loss cox, got none");
  result.unpenalized = words.unpenalized;
  result.ridge = words.ridge;
  result.nonnegative = words.nonnegative;
  return result;
}

EstimateOptions estimate_options(const OwlOptions& words) {
  EstimateOptions result;
  result.regression = regression_options(words);
  result.gamma = words.gamma;
  result.fit.solver = words.solver;
  result.fit.screening = words.screening;
  result.fit.tolerance = words.tolerance;
  result.fit.max_epochs = words.max_epochs;
  result.fit.max_seconds = words.max_seconds;
  result.fit.threads = words.threads;
  return result;
}

PathOptions path_options(const OwlPathOptions& words) {
  PathOptions result;
  result.steps = words.steps;
  result.ratio = words.ratio.value_or(0);
  result.max_nonzeros = words.max_nonzeros;
  return result;
}

std::vector<OwlModel> wrapped(std::vector<Model> models, const Dataset& data) {
  std::vector<OwlModel> result;
  for (Model& model : models) {
    if (data.row_weights.size() > 0) model.weights_file = "given";
    if (data.events.size() > 0) model.event_file = "given";
    result.emplace_back(std::move(model));
  }
  return result;
}

}  // namespace

OwlRegression::OwlRegression(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}

double OwlRegression::alpha_max() const { return parts_->alpha_max; }

OwlRegression make_regression(const Features& x, const Eigen::VectorXd& y, const OwlOptions& options) {
  OwlRegression::Parts parts;
  parts.options = estimate_options(options);
  parts.data.design = x.design();
  parts.data.response = y;
  parts.data.row_weights = options.observation_weights;
  parts.data.events = options.events;
  std::ranges::sort(parts.options.regression.unpenalized);
  validate(parts.options, kFitTask);
  parts.alpha_max = make_regression(x.design(), y, parts.options.regression, Work(options.threads)).alpha_max;
  return OwlRegression(std::move(parts));
}

OwlModel fit(const OwlRegression& regression) {
  const auto& [data, options, alpha_max] = regression.parts();
  return wrapped(estimate(data, options).models, data).front();
}

std::vector<OwlModel> fit_path(const OwlRegression& regression, const OwlPathOptions& words) {
  EstimateOptions options = regression.parts().options;
  options.cv.path = path_options(words);
  options.criteria = false;
  const Dataset& data = regression.parts().data;
  return wrapped(estimate_path(data, options).models, data);
}

OwlCv cross_validate(const OwlRegression& regression, const OwlCvOptions& words) {
  EstimateOptions options = regression.parts().options;
  options.cv.path = path_options(words.path);
  options.cv.folds = words.folds;
  options.cv.repeats = words.repeats;
  options.cv.seed = words.seed;
  options.cv.error = parse_error_measure(words.error);
  if (options.gamma) options.cv.gammas = {*options.gamma};
  options.gamma.reset();
  const Dataset& data = regression.parts().data;
  CvEstimate found = estimate_cv(data, options);
  OwlCv result;
  result.converged = found.cv.converged();
  if (!found.cv.complete()) return result;
  result.models = wrapped(std::move(found.models), data);
  result.errors = found.cv.chosen().error;
  result.standard_errors = found.cv.chosen().standard_error;
  result.best = static_cast<std::size_t>(found.cv.best);
  result.one_se = static_cast<std::size_t>(found.cv.one_se);
  return result;
}

}  // namespace tyto
