#include "tyto/select/path.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/grid_args.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"

namespace tyto::cli {
namespace {

struct PathArgs : RegressionArgs {
  PathOptions path;
};

void add_options(CLI::App& app, PathArgs& args) {
  args.add_weights(app);
  args.add_q(app);
  add_grid(app, args.path);
  args.add_solver(app);
  args.add_outputs(app);
  app.footer(
      std::string("Loss: gaussian (squared error). --tolerance and --max-epochs are for each strength, "
                  "--max-seconds is for all.\n"
                  "Example:\n  tyto path data.csv --target y --weights bh --max-explained 0.9 --model "
                  "path.json") +
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

std::string summary(const Model& model, const Path& path) {
  std::string text = described(model) + "\n";
  text += fmt::format("{:>6}  {:>12}  {:>8}  {:>8}  {:>9}  {:>12}\n", "step", "alpha", "nonzeros", "clusters",
                      "explained", "relative gap");
  for (const std::size_t k : shown_steps(path.steps.size())) {
    const PathStep& step = path.steps[k];
    text +=
        fmt::format("{:>6}  {:>12.6g}  {:>8}  {:>8}  {:>9.4f}  {:>12.2g}\n", k, step.alpha, step.nonzeros(),
                    step.clusters, step.explained, std::max(0.0, step.fit.certificate.relative_gap()));
  }
  return text + ending(path);
}

int exit_code(const Path& path) {
  if (path.stopped_by == PathStop::kInterrupted) return kInterrupted;
  return path.converged() ? kDone : kNotConverged;
}

int run(PathArgs& args) {
  validate(args.path);
  args.prepare();
  const Dataset data = args.read();
  const Regression regression = args.make(data);
  const Path path = [&] {
    Progress progress(args.quiet);
    return fit_path(regression, args.path, args.fit, std::ref(progress));
  }();
  std::vector<Model> models = make_models(data, args.regression, regression, path, args.fit);
  for (Model& model : models) args.label(model, data);

  if (!(regression.alpha_max > 0) && !args.quiet) fmt::print(stderr, "{}", kNothingCorrelated);
  if (!args.model.empty()) write_output(args.model, to_json(models));
  if (!args.json.empty()) write_output(args.json, to_json(models, path));
  if (!args.coefficients.empty()) write_output(args.coefficients, coefficients_csv(models));
  if (!args.report.empty())
    write_output(args.report, to_html({args.data.files, data, regression, models, path}));
  args.print_summary(summary(models.front(), path));
  return exit_code(path);
}

}  // namespace

std::function<int()> define_path(CLI::App& app) {
  auto args = std::make_shared<PathArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
