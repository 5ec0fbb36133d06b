#include "tyto/select/cv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/coefficients.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"
#include "cli/report/words.h"
#include "cli/summing.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/select/cv_state.h"

namespace tyto::cli {
namespace {

struct CvArgs : RegressionArgs {
  std::string fold_file, resume;
};

void add_options(CLI::App& app, CvArgs& args) {
  args.add(app, kCvTask, [&](std::string_view last) {
    if (last == "folds")
      app.add_option("--fold-file", args.fold_file, "File with a whole number for each row, its fold")
          ->excludes(app.get_option("--folds"));
    if (last == "error")
      app.add_option(
          "--resume", args.resume,
          "File that keeps finished folds: the same command goes on from there after it was stopped");
  });
  app.get_option("--coefficients")
      ->description(
          "Write the non-zero coefficients of the best model as CSV; 'tyto coef' writes those of the others");
  app.footer(
      std::string("best: the strength with the least error; what --coefficients, the report, 'tyto coef' and "
                  "'tyto predict' take unless told otherwise.\n"
                  "one-se: the largest strength whose error is within one standard error of the best.\n"
                  "--tolerance and --max-epochs are for each fit, "
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

std::string chosen_line(const char* what, const std::vector<Model>& models, const CrossValidation& cv,
                        Index step) {
  const auto k = static_cast<std::size_t>(step);
  const PathStep& fit = cv.chosen().path.steps[k];
  const std::string clusters = clusters_in_words(models[k]);
  return fmt::format(
      "{:<15}  step {}, alpha {:.7g}: {} {:.6g} +- {:.3g}, {} non-zeros in {} clusters, {}\n{}", what, step,
      fit.alpha, name(cv.measure), cv.chosen().error[k], cv.chosen().standard_error[k], fit.nonzeros(),
      fit.clusters, explained_in_words(models[k], fit.explained),
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

std::string outcome(const CrossValidation& cv) {
  return fmt::format("{}; largest relative gap {:.2g}, with its rounding",
                     cv.converged() ? "all fits converged" : "not all fits converged",
                     std::max(0.0, cv.worst_gap()));
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
  const Model& best = models[static_cast<std::size_t>(cv.best)];
  if (const std::string selected = selected_in_words(best); !selected.empty())
    text += fmt::format("the best selects {}{}\n", selected, in_alpha_max(best.alpha, curve.path.alpha_max));
  text += "'tyto predict', 'tyto coef', --coefficients and the report take the best, unless told otherwise\n";
  text += warning_lines(warnings(models));
  const std::string times = cv.repeats > 1 ? fmt::format(", {} times", cv.repeats) : "";
  return text + fmt::format("{} folds{}, {}; {:.4g} passes over the data, {:.3g} s\n", cv.folds, times,
                            outcome(cv), cv.passes, cv.seconds);
}

std::string page(const CvArgs& args, const Dataset& data, const CrossValidation& cv,
                 const std::vector<Model>& models) {
  const CvCurve& curve = cv.chosen();
  const ReportedErrors errors = reported_errors(cv);
  return to_html({args.data.files, data, curve.regression, models, curve.path, &errors});
}

int report_unfinished(const CvArgs& args, const CrossValidation& cv) {
  const auto folds =
      std::max<std::size_t>(1, cv.curves.size()) * static_cast<std::size_t>(cv.folds * cv.repeats);
  say(fmt::format("stopped by {} after {} of {} folds, nothing is chosen; {}", name(cv.stopped_by),
                  cv.scores.size(), folds,
                  args.resume.empty() ? "--resume FILE would keep finished folds"
                                      : "the same command goes on from " + args.resume));
  return cv.stopped_by == PathStop::kInterrupted ? kInterrupted : kNotConverged;
}

// Goes on from the file of finished folds, where there is one, and keeps it up to date.
CvEstimate estimate_resuming(const CvArgs& args, const Dataset& data) {
  const EstimateOptions& options = args.options;
  CvHooks hooks;
  std::optional<CvState> state;
  if (!args.resume.empty()) {
    state.emplace(args.resume, data.design, data.response, options.regression, options.cv, options.fit);
    hooks.finished = state->finished();
    hooks.fold_finished = [&](const FoldScore& score) { state->add(score); };
  }
  CvEstimate result = [&] {
    Progress progress(args.quiet);
    hooks.progress = std::ref(progress);
    return estimate_cv(data, options, hooks);
  }();
  if (state) state->save();
  return result;
}

void prepare(CvArgs& args) {
  args.prepare(kCvTask);
  if (args.resume == "-") throw InvalidArgument("resume: want a file, got '-'");
  check_outputs({args.json, args.model, args.coefficients, args.report, args.resume},
                args.data.inputs({args.options.regression.weights, args.fold_file}));
  args.options.cv.seed = args.options.fit.stochastic.seed;
  args.options.correlations = true;
}

std::pair<Dataset, CvEstimate> estimated(CvArgs& args) {
  if (works_on_sums(args)) {
    if (!args.fold_file.empty())
      throw InvalidArgument("fold-file: want none where rows are summed, got a file");
    if (!args.resume.empty()) throw InvalidArgument("resume: want none where rows are summed, got a file");
    return cross_validate_streamed(args, args.note);
  }
  Dataset data = args.read();
  if (!args.fold_file.empty()) args.options.cv.given = read_folds(args.fold_file, data);
  args.options = completed(args.options, data);
  CvEstimate result = estimate_resuming(args, data);
  return {std::move(data), std::move(result)};
}

int run(CvArgs& args) {
  prepare(args);
  auto [data, result] = estimated(args);
  if (!result.cv.complete()) return report_unfinished(args, result.cv);
  args.label(result.models, data);

  const auto& [cv, models] = result;
  if (!(cv.chosen().regression.alpha_max > 0) && !args.quiet) fmt::print(stderr, "{}", kNothingCorrelated);
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, model_json(models, cv));
  if (!args.json.empty()) outputs.add(args.json, to_json(models, cv));
  if (!args.coefficients.empty())
    outputs.add(args.coefficients, coefficients_csv(models[static_cast<std::size_t>(cv.best)]));
  if (!args.report.empty()) outputs.add(args.report, page(args, data, cv, models));
  return args.finish(outputs, data,
                     {cv.converged() ? kDone : kNotConverged, summary(models, cv), outcome(cv)});
}

}  // namespace

std::function<int()> define_cv(CLI::App& app) {
  auto args = std::make_shared<CvArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
