#include "tyto/select/path.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/coefficients.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"
#include "cli/report/words.h"
#include "cli/summing.h"

namespace tyto::cli {
namespace {

void add_options(CLI::App& app, RegressionArgs& args) {
  args.add(app, kPathTask);
  app.footer(std::string("--tolerance and --max-epochs are for each strength, "
                         "--max-seconds is for all.\n"
                         "Example:\n  tyto path data.csv --target y --weights bh --max-explained 0.9 --model "
                         "path.json\n"
                         "  tyto path data.csv --target y --choose bic --model path.json") +
             kFitExitCodes);
}

std::string outcome(const Path& path) {
  const auto missed = std::ranges::count_if(
      path.steps, [](const PathStep& step) { return step.fit.status != Status::kConverged; });
  const std::string what = path.stopped_by == PathStop::kNone
                               ? fmt::format("all {} strengths", path.alphas.size())
                               : fmt::format("stopped by {} after {} of {} strengths", name(path.stopped_by),
                                             path.steps.size(), path.alphas.size());
  return fmt::format("{}, {}", what,
                     missed == 0 ? "all converged" : fmt::format("{} of them not converged", missed));
}

std::string chosen_line(const Model& model, const CriterionChoice& choice) {
  const std::string clusters = clusters_in_words(model);
  return fmt::format(
      "{:<4}  step {}, alpha {:.7g}: {:.6g} with {:.4g} degrees of freedom, {} non-zeros in {} clusters\n{}",
      std::string(name(choice.criterion)) + ":", choice.step, model.alpha, choice.value, choice.freedom,
      model.coefficients.size(), model.clusters(), clusters.empty() ? "" : "      " + clusters + "\n");
}

std::string summary(const std::vector<Model>& models, const Path& path) {
  std::string text = described(models.front()) + "\n";
  if (const auto& relaxed = models.front().relaxed)
    text += fmt::format("relaxed: gamma {:.6g} between least squares on the clusters (0) and the fits (1)\n",
                        relaxed->gamma);
  if (models.front().options.loss != "gaussian") text += "explained: the share of the deviance\n";
  text += fmt::format("{:>6}  {:>12}  {:>8}  {:>8}  {:>9}  {:>12}\n", "step", "alpha", "nonzeros", "clusters",
                      "explained", "relative gap");
  for (const std::size_t k : shown_steps(path.steps.size())) {
    const PathStep& step = path.steps[k];
    text +=
        fmt::format("{:>6}  {:>12.6g}  {:>8}  {:>8}  {:>9.4f}  {:>12.2g}\n", k, step.alpha, step.nonzeros(),
                    step.clusters, step.explained, std::max(0.0, step.fit.certificate.relative_gap()));
  }
  for (const Model& model : models)
    for (const CriterionChoice& choice : model.chosen_by) text += chosen_line(model, choice);
  text += warning_lines(warnings(models));
  return text +
         fmt::format("{}; {:.4g} passes over the data, {:.3g} s\n", outcome(path), path.passes, path.seconds);
}

int exit_code(const Path& path) {
  if (path.stopped_by == PathStop::kInterrupted) return kInterrupted;
  return path.converged() ? kDone : kNotConverged;
}

std::pair<Dataset, Estimate> estimated(RegressionArgs& args) {
  if (works_on_sums(args)) return estimate_streamed(args, kPathTask, args.note);
  Dataset data = args.read();
  Progress progress(args.quiet);
  Estimate result = estimate_path(data, args.options, std::ref(progress));
  return {std::move(data), std::move(result)};
}

int run(RegressionArgs& args) {
  args.prepare(kPathTask);
  args.options.correlations =
      !args.options.choose.empty() || !args.model.empty() || !args.json.empty() || !args.report.empty();
  auto [data, result] = estimated(args);
  args.label(result.models, data);

  const auto& [regression, path, models, criteria] = result;
  if (!(regression.alpha_max > 0) && !args.quiet) fmt::print(stderr, "{}", kNothingCorrelated);
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, to_json(models));
  if (!args.json.empty()) outputs.add(args.json, to_json(models, path, criteria));
  if (!args.coefficients.empty()) outputs.add(args.coefficients, coefficients_csv(models));
  if (!args.report.empty())
    outputs.add(args.report, to_html({args.data.files, data, regression, models, path}));
  return args.finish(outputs, data, {exit_code(path), summary(models, path), outcome(path)});
}

}  // namespace

std::function<int()> define_path(CLI::App& app) {
  auto args = std::make_shared<RegressionArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
