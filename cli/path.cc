#include "tyto/select/path.h"

#include <fmt/core.h>

#include <algorithm>
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
#include "tyto/select/criteria.h"
#include "tyto/select/noise.h"

namespace tyto::cli {
namespace {

struct PathArgs : RegressionArgs {
  PathOptions path;
  std::optional<double> gamma, sigma;
  std::vector<std::string> choose;
};

void add_options(CLI::App& app, PathArgs& args) {
  args.add_weights(app);
  args.add_q(app);
  add_grid(app, args.path);
  app.add_option("--choose", args.choose,
                 "Mark the strength that a criterion chooses: aic, bic, cp, or several")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--sigma", args.sigma,
                 "Standard deviation of the noise, for cp [from the weakest penalty, where p < n]");
  app.add_option(
      "--gamma", args.gamma,
      "Relax the fits: 0 least squares on their clusters, 1 the fits themselves, else a mixture [off]");
  args.add_solver(app);
  args.add_outputs(app);
  app.footer(
      std::string("Loss: gaussian (squared error). --tolerance and --max-epochs are for each strength, "
                  "--max-seconds is for all.\n"
                  "Example:\n  tyto path data.csv --target y --weights bh --max-explained 0.9 --model "
                  "path.json\n"
                  "  tyto path data.csv --target y --choose bic --model path.json") +
      kFitExitCodes);
}

std::string ending(const Path& path) {
  const auto missed = std::ranges::count_if(
      path.steps, [](const PathStep& step) { return step.fit.status != Status::kConverged; });
  const std::string what = path.stopped_by == PathStop::kNone
                               ? fmt::format("all {} strengths", path.alphas.size())
                               : fmt::format("stopped by {} after {} of {} strengths", name(path.stopped_by),
                                             path.steps.size(), path.alphas.size());
  return fmt::format("{}, {}; {:.4g} passes over the data, {:.3g} s\n", what,
                     missed == 0 ? "all converged" : fmt::format("{} of them not converged", missed),
                     path.passes, path.seconds);
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
  return text + ending(path);
}

int exit_code(const Path& path) {
  if (path.stopped_by == PathStop::kInterrupted) return kInterrupted;
  return path.converged() ? kDone : kNotConverged;
}

// Refuses options that cannot go together before anything is read; returns the criteria that are to choose.
std::vector<Criterion> prepare(PathArgs& args) {
  validate(args.path);
  if (args.gamma) validate_gamma(*args.gamma, args.regression.nonnegative);
  if (args.sigma) validate_sigma(*args.sigma);
  std::vector<Criterion> criteria;
  for (const std::string& text : args.choose) {
    criteria.push_back(parse_criterion(text));
    if (std::ranges::count(criteria, criteria.back()) > 1)
      throw InvalidArgument("choose: want each criterion once, got " + text + " twice");
  }
  args.prepare();
  return criteria;
}

int run(PathArgs& args) {
  const std::vector<Criterion> choosing = prepare(args);
  const Dataset data = args.read();
  const Regression regression = args.make(data);
  if (std::ranges::count(choosing, Criterion::kCp) > 0 && !args.sigma && cp_needs_sigma(regression.problem))
    throw InvalidArgument(
        "choose: cp needs the noise level where there are as many columns as rows: want --sigma");
  Path path = [&] {
    Progress progress(args.quiet);
    return fit_path(regression, args.path, args.fit, std::ref(progress));
  }();
  if (args.gamma) relax(regression, *args.gamma, path, Work(args.fit.threads));
  const std::vector<Criteria> found = criteria(path, regression.problem, args.sigma, Work(args.fit.threads));
  std::vector<Model> models = make_models(data, args.regression, regression, path, args.fit);
  const bool shown = !choosing.empty() || !args.model.empty() || !args.json.empty() || !args.report.empty();
  if (shown) correlate_clusters(data, models);
  for (Model& model : models) args.label(model, data);
  for (const Criterion criterion : choosing) {
    const CriterionChoice choice = choose(found, criterion, regression.problem.design.total_weight());
    models[static_cast<std::size_t>(choice.step)].chosen_by.push_back(choice);
  }

  if (!(regression.alpha_max > 0) && !args.quiet) fmt::print(stderr, "{}", kNothingCorrelated);
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, to_json(models));
  if (!args.json.empty()) outputs.add(args.json, to_json(models, path, found));
  if (!args.coefficients.empty()) outputs.add(args.coefficients, coefficients_csv(models));
  if (!args.report.empty())
    outputs.add(args.report, to_html({args.data.files, data, regression, models, path}));
  args.finish(outputs, data, summary(models, path));
  return exit_code(path);
}

}  // namespace

std::function<int()> define_path(CLI::App& app) {
  auto args = std::make_shared<PathArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
