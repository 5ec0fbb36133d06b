#include "tyto/select/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/problem/screening.h"
#include "tyto/select/relax.h"

namespace tyto {
namespace {

constexpr unsigned kOneShape = kFitTask | kPathTask;
constexpr unsigned kGrid = kPathTask | kCvTask;
constexpr unsigned kAll = kFitTask | kPathTask | kCvTask;

// "name  summary", a line for each row of a table.
template <class Table>
std::string lines(const Table& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n    {:<9} {}", row.name, row.summary);
  return text;
}

using R = RegressionOptions;
using F = FitOptions;
using S = StochasticOptions;
using P = PathOptions;
using C = CvOptions;
using E = EstimateOptions;

std::string weights_but(const EstimateOptions& options, std::initializer_list<std::string_view> shapes) {
  const std::string& weights = options.regression.weights;
  if (std::ranges::find(shapes, weights) != shapes.end()) return "";
  return is_weight_name(weights) ? weights + " weights" : "weights from a file";
}
std::string without_q(const EstimateOptions& options) { return weights_but(options, {"bh", "gaussian"}); }
std::string without_slope(const EstimateOptions& options) { return weights_but(options, {"oscar"}); }
std::string without_batches(const EstimateOptions& options) {
  const std::string_view solver = find_solver(options.fit.solver).name;
  return solver == "spgd" ? "" : fmt::format("solver {}", solver);
}

std::vector<Option> shape_options() {
  return {
      {"weights",
       kAll,
       &R::weights,
       "Shape of the weights: " + joined(weight_names()) + ", or a file with one number for each column",
       {"weights"}},
      {"weight-values", kNoTask, &R::weight_values, "The weights themselves"},
      {"q",
       kOneShape,
       &R::q,
       "Shape parameter of bh and gaussian, in (0, 1]; a false discovery rate is aimed at only where the "
       "strength is the level of the noise ('tyto fit --sigma')",
       {"q"},
       {"q", "(0, 1]"},
       true,
       without_q},
      {"slope",
       kOneShape,
       &R::slope,
       "Slope of oscar: weights from 1 + S to 1",
       {"slope", false},
       {"slope", "[0, inf)"},
       true,
       without_slope},
      {"q",
       kCvTask,
       &C::qs,
       "Shape parameter of bh and gaussian, in (0, 1] [0.1]; of several, Q,Q,..., the best is chosen. Not a "
       "false discovery rate: the strength is chosen by error",
       {},
       {},
       true,
       without_q},
      {"slope",
       kCvTask,
       &C::slopes,
       "Slope of oscar, weights from 1 + S to 1 [1]; of several, S,S,..., the best is chosen",
       {},
       {},
       true,
       without_slope},
      {"gamma", kCvTask, &C::gammas,
       "Relax the fits: 0 least squares on their clusters, 1 the fits themselves, else a mixture; of "
       "several, G,G,..., the best is chosen [off]"},
  };
}

std::vector<Option> strength_options() {
  return {
      {"strength", kFitTask, &R::strength, "Multiplier of the weights, in units of --relative-to"},
      {"relative-to", kFitTask, &R::relative_to,
       "Unit of the strength: alpha-max (the smallest multiplier that leaves nothing in the model), "
       "correlation (max_j |x_j'y|), absolute"},
  };
}

std::vector<Option> fold_options() {
  return {
      {"folds", kCvTask, &C::folds, "Number of folds; as many as rows: leave one out"},
      {"repeats", kCvTask, &C::repeats, "How often, each time with other folds"},
      {"error", kCvTask, &C::error,
       "What is measured on the rows held out: " + joined(error_measure_names())},
  };
}

std::vector<Option> grid_options() {
  return {
      {"alphas", kNoTask, &P::alphas, "The strengths themselves, the largest first"},
      {"steps",
       kGrid,
       &P::steps,
       "Number of strengths, evenly spaced in their logarithms",
       {},
       {"n_alphas", "[1, 100000]"}},
      {"ratio",
       kGrid,
       &P::ratio,
       "The last strength as a fraction of alpha-max, the first [0.01 where p >= n, else 0.0001]",
       {},
       {"eps", "(0, 1)", true}},
      {"max-explained",
       kGrid,
       &P::max_explained,
       "Stop after a model that explains this fraction of the variance [off]",
       {},
       {"max_explained", "(0, 1]", true}},
      {"min-change",
       kGrid,
       &P::min_change,
       "Stop after a model that explains less than this more than the one before [off]",
       {},
       {"min_change", "(0, 1]", true}},
      {"max-nonzeros",
       kGrid,
       &P::max_nonzeros,
       "Stop after a model with so many non-zero coefficients [off]",
       {},
       {"max_nonzeros", "[1, inf)", true}},
      {"max-clusters",
       kGrid,
       &P::max_clusters,
       "Stop after a model with so many clusters [off]",
       {},
       {"max_clusters", "[1, inf)", true}},
  };
}

std::vector<Option> choice_options() {
  return {
      {"choose", kPathTask, &E::choose,
       "Mark the strength that a criterion chooses: aic, bic, cp, or several"},
      {"criteria", kNoTask, &E::criteria, "Whether the criteria of a path are computed"},
      {"sigma", kFitTask, &E::noise,
       "Instead of a strength, for bh and gaussian: the standard deviation of the noise, or "
       "'estimate'; --q is then the false discovery rate that is aimed at"},
      {"sigma", kPathTask, &NoiseOption::sigma,
       "Standard deviation of the noise, for cp [from the weakest penalty, where p < n]"},
      {"gamma", kFitTask, &E::gamma,
       "Relax the fit: 0 least squares on its clusters, 1 the fit itself, else a mixture [off]"},
      {"gamma", kPathTask, &E::gamma,
       "Relax the fits: 0 least squares on their clusters, 1 the fits themselves, else a mixture [off]"},
  };
}

std::vector<Option> problem_options() {
  return {
      {"loss", kAll, &R::loss, "Loss, by what the response is:" + lines(losses()), {"loss", false}, {"loss"}},
      {"huber-delta",
       kAll,
       &R::huber_delta,
       "Of the loss huber: where squares end, in units of the response",
       {"huber_delta", false},
       {"huber_delta", "(0, inf)"}},
      {"intercept", kAll, &R::intercept, "Fit no intercept", {"fit_intercept"}, {"fit_intercept"}},
      {"standardize",
       kAll,
       &R::standardize,
       "Leave the columns on their own scale",
       {"standardize"},
       {"standardize"}},
      {"observation-weights", kNoTask, &R::observation_weights, "How often each row counts"},
      {"unpenalized", kAll, &E::unpenalized,
       "Columns that the penalty leaves alone, by name, or by number as in the results: NAME,NAME,..."},
      {"unpenalized",
       kNoTask,
       &R::unpenalized,
       "Columns that the penalty leaves alone, by number",
       {"unpenalized", false}},
      {"ridge",
       kAll,
       &R::ridge,
       "Adds R/2 times the sum of the squared coefficients (of standardised columns)",
       {"ridge", false},
       {"ridge", "[0, inf)", false, true}},
      {"nonnegative",
       kAll,
       &R::nonnegative,
       "Coefficients >= 0, but for unpenalised ones",
       {"nonnegative", false},
       {"positive"}},
  };
}

std::vector<Option> solver_options() {
  return {
      {"solver",
       kAll,
       &F::solver,
       fmt::format("Solver:\n    auto      the best one there is: now {}{}", find_solver("auto").name,
                   lines(solvers())),
       {"solver"},
       {"solver"}},
      {"screening",
       kAll,
       &F::screening,
       "Rule that proves coefficients zero:" + lines(screening_rules()),
       {"screening"},
       {"screening"}},
      {"variant", kAll, &F::variant, "Variant of the solver:" + lines(solver_variants())},
      {"tolerance",
       kAll,
       &F::tolerance,
       "Stop when the duality gap <= T * objective",
       {"tolerance"},
       {"tol", "(0, 1)"}},
      {"max-epochs", kAll, &F::max_epochs, "Stop after so many epochs", {}, {"max_iter", "[0, inf)"}},
      {"max-seconds",
       kAll,
       &F::max_seconds,
       "Stop after so many seconds",
       {},
       {"max_seconds", "(0, inf)", true},
       false},
      {"threads",
       kAll,
       &F::threads,
       "Threads; the result is the same for any number [all cores]",
       {},
       {},
       false},
      {"seed", kOneShape, &S::seed, "Seed of spgd", {}, {}, true, without_batches},
      {"seed", kCvTask, &S::seed, "Seed of the folds, and of spgd"},
      {"batch",
       kAll,
       &S::batch,
       "Rows in a mini-batch of spgd [from the data]",
       {},
       {},
       true,
       without_batches},
      {"inner-steps",
       kAll,
       &S::inner_steps,
       "Steps of spgd in an epoch [from the data]",
       {},
       {},
       true,
       without_batches},
      {"step-size", kAll, &S::step_size, "Step size of spgd [from the data]", {}, {}, true, without_batches},
  };
}

void validate_task(const EstimateOptions& options, Task task) {
  const bool nonnegative = options.regression.nonnegative;
  const std::string& loss = options.regression.loss;
  const bool relaxes = options.gamma || (task == kCvTask && !options.cv.gammas.empty());
  if (relaxes && loss != "gaussian") throw no_relaxed_fit(loss);
  if (options.noise.asked() && loss != "gaussian")
    throw InvalidArgument("sigma: want none with the loss " + loss + ", which has no level of the noise");
  if (std::ranges::count(options.choose, Criterion::kCp) > 0 && loss != "gaussian")
    throw InvalidArgument("choose: want aic or bic with the loss " + loss + ", got cp");
  if (task == kCvTask) resolved(options.cv.error, loss);
  if (task == kCvTask) {
    validate(options.cv);
    for (const double gamma : options.cv.gammas) validate_gamma(gamma, nonnegative);
    return;
  }
  if (task == kPathTask) validate(options.cv.path);
  if (options.gamma) validate_gamma(*options.gamma, nonnegative);
  if (options.noise.sigma) validate_sigma(*options.noise.sigma);
  for (const Criterion criterion : options.choose)
    if (std::ranges::count(options.choose, criterion) > 1)
      throw InvalidArgument(fmt::format("choose: want each criterion once, got {} twice", name(criterion)));
}

}  // namespace

NoiseOption parse_noise(const std::string& text) {
  if (text == "estimate") return {{}, true};
  char* end = nullptr;
  const auto sigma = static_cast<double>(std::strtold(text.c_str(), &end));
  if (text.empty() || end != text.c_str() + text.size() || !(sigma > 0 && std::isfinite(sigma)))
    throw InvalidArgument("sigma: want a number > 0 or 'estimate', got '" + text + "'");
  return {sigma};
}

const std::vector<Option>& options() {
  static const std::vector<Option> table = [] {
    std::vector<Option> all;
    const auto add = [&](const char* group, const std::vector<Option>& part) {
      for (const Option& option : part) {
        all.push_back(option);
        all.back().group = group;
      }
    };
    add("Penalty", shape_options());
    add("Penalty", strength_options());
    add("Cross-validation", fold_options());
    add("Path", grid_options());
    add("Choice and relaxed fits", choice_options());
    add("Model", problem_options());
    add("Solver", solver_options());
    return all;
  }();
  return table;
}

std::vector<std::string> without_effect(const EstimateOptions& options, Task task,
                                        const std::function<bool(const std::string& name)>& given) {
  std::vector<std::string> sentences;
  for (const Option& option : tyto::options()) {
    if ((option.tasks & task) == 0 || option.without_effect == nullptr || !given(option.name)) continue;
    const std::string beside = option.without_effect(options);
    if (!beside.empty()) sentences.push_back(fmt::format("--{} has no effect with {}", option.name, beside));
  }
  return sentences;
}

std::string underscored(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

void validate(const EstimateOptions& options, Task task) {
  validate_task(options, task);
  validate(options.fit);
  const double ridge = options.regression.ridge;
  if (!(ridge >= 0 && std::isfinite(ridge)))
    throw InvalidArgument(fmt::format("ridge: want a finite number >= 0, got {}", ridge));
  find_loss(options.regression.loss);
  check_variant(options.fit.solver, options.fit.variant);
  screening_rule(options.fit.screening);
  if (task == kFitTask && options.noise.asked()) validate_noise_weights(options.regression);
}

}  // namespace tyto
