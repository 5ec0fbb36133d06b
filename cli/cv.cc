#include "tyto/select/cv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/coefficients.h"
#include "cli/commands.h"
#include "cli/grid_args.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"
#include "cli/report/words.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/select/cv_state.h"

namespace tyto::cli {
namespace {

struct CvArgs : RegressionArgs {
  CvOptions cv;
  std::string error = "mse", fold_file, resume;
};

void add_options(CLI::App& app, CvArgs& args) {
  CvOptions& cv = args.cv;
  args.add_weights(app);
  app.add_option("--q", cv.qs,
                 "Shape parameter of bh and gaussian, in (0, 1] [0.1]; of several, Q,Q,..., the best is "
                 "chosen. Not a false discovery rate: the strength is chosen by error")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--slope", cv.slopes,
                 "Slope of oscar, weights from 1 + S to 1 [1]; of several, S,S,..., the best is chosen")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--gamma", cv.gammas,
         "Relax the fits: 0 least squares on their clusters, 1 the fits themselves, else a mixture; of "
         "several, G,G,..., the best is chosen [off]")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option* folds = app.add_option("--folds", cv.folds, "Number of folds; as many as rows: leave one out");
  folds->capture_default_str();
  app.add_option("--fold-file", args.fold_file, "File with a whole number for each row, its fold")
      ->excludes(folds);
  app.add_option("--repeats", cv.repeats, "How often, each time with other folds")->capture_default_str();
  app.add_option("--error", args.error,
                 "What is measured on the rows held out: " + joined(error_measure_names()))
      ->capture_default_str();
  app.add_option("--resume", args.resume,
                 "File that keeps finished folds: the same command goes on from there after it was stopped");
  add_grid(app, cv.path);
  want_whole_numbers(app, {"--folds", "--repeats"});
  args.add_solver(app);
  app.get_option("--seed")->description("Seed of the folds, and of spgd");
  args.add_outputs(app);
  app.get_option("--coefficients")
      ->description(
          "Write the non-zero coefficients of the best model as CSV; 'tyto coef' writes those of the others");
  app.footer(
      std::string("best: the strength with the least error; what --coefficients, the report, 'tyto coef' and "
                  "'tyto predict' take unless told otherwise.\n"
                  "one-se: the largest strength whose error is within one standard error of the best.\n"
                  "Loss: gaussian (squared error). --tolerance and --max-epochs are for each fit, "
                  "--max-seconds is for all.\n"
                  "Example:\n  tyto cv data.csv --target y --weights bh --q 0.05,0.1,0.2 --model cv.json\n"
                  "  tyto predict cv.json new.csv --choose one-se") +
      kFitExitCodes);
}

// One number for each row of the files; those of rows that were left out go with them.
Folds read_folds(const std::string& path, const Dataset& data) {
  const Vector numbers = read_column(path, "fold-file");
  const Index rows = data.design.rows() + std::ssize(data.dropped_rows);
  if (numbers.size() != rows)
    throw InvalidArgument(fmt::format("fold-file: want {} numbers, one for each row of the data, got {}",
                                      rows, numbers.size()));
  std::vector<Index> labels;
  for (Index row = 0; row < rows; ++row) {
    if (std::ranges::binary_search(data.dropped_rows, row)) continue;
    if (std::abs(numbers[row]) > 1e9 || numbers[row] != std::floor(numbers[row]))
      throw InvalidArgument(fmt::format("fold-file: want whole numbers, got {}", numbers[row]));
    labels.push_back(static_cast<Index>(numbers[row]));
  }
  return renumbered(labels);
}

std::string in_words(ErrorMeasure measure) {
  if (measure == ErrorMeasure::kMae) return "mean absolute error";
  return measure == ErrorMeasure::kMse ? "mean squared error" : "R2";
}

std::string chosen_line(const char* what, const std::vector<Model>& models, const CrossValidation& cv,
                        Index step) {
  const auto k = static_cast<std::size_t>(step);
  const PathStep& fit = cv.chosen().path.steps[k];
  const std::string clusters = clusters_in_words(models[k]);
  return fmt::format("{:<15}  step {}, alpha {:.7g}: {} {:.6g} +- {:.3g}, {} non-zeros in {} clusters\n{}",
                     what, step, fit.alpha, name(cv.measure), cv.chosen().error[k],
                     cv.chosen().standard_error[k], fit.nonzeros(), fit.clusters,
                     clusters.empty() ? "" : fmt::format("{:17}{}\n", "", clusters));
}

// "slope 1 is the best of 0, 1, 20: mse 2.3, 2.1, 2.6", a line for each parameter that was compared.
std::string comparison_lines(const CrossValidation& cv) {
  const auto list = [](const std::vector<double>& numbers) {
    std::vector<std::string> texts;
    for (const double number : numbers) texts.push_back(fmt::format("{:.6g}", number));
    return joined(texts);
  };
  std::string text;
  for (const Comparison& one : comparisons(cv))
    text += fmt::format("{} {:.6g} is the best of {}: {} {}\n", one.name, one.chosen, list(one.values),
                        name(cv.measure), list(one.errors));
  return text;
}

std::string summary(const std::vector<Model>& models, const CrossValidation& cv) {
  const CvCurve& curve = cv.chosen();
  std::string text = described(models.front()) + "\n";
  if (models.front().relaxed && curve.by_gamma.size() == 1)
    text += fmt::format("relaxed: gamma {:.6g}, as given\n", curve.gamma);
  text += comparison_lines(cv);
  text += fmt::format("{:>6}  {:>12}  {:>8}  {:>8}  {:>12}  {:>12}\n", "step", "alpha", "nonzeros",
                      "clusters", name(cv.measure), "std. error");
  for (const std::size_t k : shown_steps(curve.path.steps.size())) {
    const PathStep& step = curve.path.steps[k];
    text += fmt::format("{:>6}  {:>12.6g}  {:>8}  {:>8}  {:>12.6g}  {:>12.3g}\n", k, step.alpha,
                        step.nonzeros(), step.clusters, curve.error[k], curve.standard_error[k]);
  }
  text += chosen_line("best:", models, cv, cv.best);
  text += chosen_line("one std. error:", models, cv, cv.one_se);
  text += "'tyto predict', 'tyto coef', --coefficients and the report take the best, unless told otherwise\n";
  text += warning_lines(warnings(models));
  const std::string times = cv.repeats > 1 ? fmt::format(", {} times", cv.repeats) : "";
  return text +
         fmt::format("{} folds{}, {}; largest relative gap {:.2g}; {:.4g} passes over the data, {:.3g} s\n",
                     cv.folds, times, cv.converged() ? "all fits converged" : "not all fits converged",
                     std::max(0.0, cv.worst_gap()), cv.passes, cv.seconds);
}

std::string page(const CvArgs& args, const Dataset& data, const CrossValidation& cv,
                 const std::vector<Model>& models) {
  const CvCurve& curve = cv.chosen();
  ReportedErrors errors;
  errors.measure = in_words(cv.measure);
  errors.mean = curve.error, errors.standard_error = curve.standard_error;
  for (const FoldScore& score : cv.scores)
    if (score.shape == cv.chosen_curve) errors.folds.push_back(curve.errors_of(score));
  errors.compared = comparisons(cv);
  errors.repeats = static_cast<std::size_t>(cv.repeats);
  errors.best = static_cast<std::size_t>(cv.best);
  errors.within_one_standard_error = static_cast<std::size_t>(cv.one_se);
  return to_html({args.data.files, data, curve.regression, models, curve.path, &errors});
}

int report_unfinished(const CvArgs& args, const CrossValidation& cv) {
  const auto folds =
      std::max<std::size_t>(1, cv.curves.size()) * static_cast<std::size_t>(cv.folds * cv.repeats);
  if (!args.quiet)
    print(stderr,
          fmt::format("tyto: stopped by {} after {} of {} folds, nothing is chosen; {}\n",
                      name(cv.stopped_by), cv.scores.size(), folds,
                      args.resume.empty() ? "--resume FILE would keep finished folds"
                                          : "the same command goes on from " + printable(args.resume)));
  return cv.stopped_by == PathStop::kInterrupted ? kInterrupted : kNotConverged;
}

int run(CvArgs& args) {
  args.cv.error = parse_error_measure(args.error);
  args.cv.seed = args.fit.stochastic.seed;
  if (args.cv.qs.size() == 1) args.regression.q = args.cv.qs.front(), args.cv.qs.clear();
  if (args.cv.slopes.size() == 1) args.regression.slope = args.cv.slopes.front(), args.cv.slopes.clear();
  validate(args.cv);
  for (const double gamma : args.cv.gammas) validate_gamma(gamma, args.regression.nonnegative);
  args.prepare();
  if (args.resume == "-") throw InvalidArgument("resume: want a file, got '-'");
  check_outputs({args.json, args.model, args.coefficients, args.report, args.resume},
                args.data.inputs({args.regression.weights, args.fold_file}));
  const Dataset data = args.read();
  if (!args.fold_file.empty()) args.cv.given = read_folds(args.fold_file, data);

  args.complete(data);
  std::optional<CvState> state;
  if (!args.resume.empty())
    state.emplace(args.resume, data.design, data.response, args.regression, args.cv, args.fit);
  CvHooks hooks;
  if (state)
    hooks.finished = state->finished(), hooks.fold_finished = [&](const FoldScore& s) { state->add(s); };
  const CrossValidation cv = [&] {
    Progress progress(args.quiet);
    hooks.progress = std::ref(progress);
    return cross_validate(data.design, data.response, args.regression, args.cv, args.fit, hooks);
  }();
  if (state) state->save();
  if (!cv.complete()) return report_unfinished(args, cv);

  std::vector<Model> models = make_models(data, args.regression, cv, args.fit);
  correlate_clusters(data, models);
  for (Model& model : models) args.label(model, data);
  if (!(cv.chosen().regression.alpha_max > 0) && !args.quiet) fmt::print(stderr, "{}", kNothingCorrelated);
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, model_json(models, cv));
  if (!args.json.empty()) outputs.add(args.json, to_json(models, cv));
  if (!args.coefficients.empty())
    outputs.add(args.coefficients, coefficients_csv(models[static_cast<std::size_t>(cv.best)]));
  if (!args.report.empty()) outputs.add(args.report, page(args, data, cv, models));
  args.finish(outputs, data, summary(models, cv));
  return cv.converged() ? kDone : kNotConverged;
}

}  // namespace

std::function<int()> define_cv(CLI::App& app) {
  auto args = std::make_shared<CvArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
