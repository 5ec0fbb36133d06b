#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"

namespace tyto::cli {
namespace {

struct FitArgs : RegressionArgs {
  std::string relative_to = "alpha-max";
};

void add_options(CLI::App& app, FitArgs& args) {
  args.add_weights(app);
  args.add_q(app);
  app.add_option("--strength", args.regression.strength,
                 "Multiplier of the weights, in units of --relative-to")
      ->capture_default_str();
  app.add_option(
         "--relative-to", args.relative_to,
         "Unit of the strength: alpha-max (the smallest multiplier that leaves nothing in the model), "
         "correlation (max_j |x_j'y|), absolute")
      ->capture_default_str();
  args.add_solver(app);
  args.add_outputs(app);
  app.footer(std::string("Loss: gaussian (squared error).\n"
                         "Example:\n  tyto fit data.csv --target y --weights bh --q 0.1 --strength 0.05 "
                         "--model model.json") +
             kFitExitCodes);
}

std::string summary(const Model& model, const Fit& fit) {
  std::string text = fmt::format(
      "{} times {:.6g}, intercept {:.6g}\n"
      "{}: relative gap {:.2g} (objective {:.10g}) after {} epochs, {:.3g} s\n"
      "{} of {} coefficients are not zero, in {} clusters; screening proved {} zero\n",
      described(model), model.alpha, model.intercept, model.status, std::max(0.0, model.relative_gap),
      model.primal, fit.epochs, fit.seconds, model.coefficients.size(), model.p, model.clusters(),
      fit.screened);
  std::vector<Coefficient> largest = model.coefficients;
  std::ranges::stable_sort(largest, {}, &Coefficient::cluster);
  constexpr std::size_t kShown = 10;
  if (largest.empty()) return text;
  text += fmt::format("{:>8}  {:>8}  {:>14}  {}\n", "cluster", "column", "coefficient", "name");
  for (std::size_t k = 0; k < std::min(kShown, largest.size()); ++k)
    text += fmt::format("{:>8}  {:>8}  {:>14.6g}  {}\n", largest[k].cluster, largest[k].column,
                        largest[k].value, largest[k].name);
  if (largest.size() > kShown) text += fmt::format("{:>8}  (+ {} more)\n", "...", largest.size() - kShown);
  if (model.options.standardize)
    text +=
        "Clusters are features of equal weight in the model: equal magnitude once columns are "
        "standardised.\n";
  return text;
}

std::string empty_model_warning(const Regression& regression) {
  if (!(regression.alpha_max > 0)) return kNothingCorrelated;
  return fmt::format(
      "tyto: warning: nothing is left in the model: the multiplier {:.6g} is {:.3g} times the smallest one "
      "that leaves "
      "nothing (alpha-max {:.6g}); try a smaller --strength\n",
      regression.alpha, regression.alpha / regression.alpha_max, regression.alpha_max);
}

int exit_code(Status status) {
  if (status == Status::kInterrupted) return kInterrupted;
  return status == Status::kConverged ? kDone : kNotConverged;
}

int run(FitArgs& args) {
  args.regression.relative_to = parse_relative_to(args.relative_to);
  args.prepare();
  const Dataset data = args.read();
  const Regression regression = args.make(data);
  const Fit result = [&] {
    Progress progress(args.quiet);
    return fit(regression.problem, args.fit, nullptr, std::ref(progress));
  }();
  Model model = make_model(data, args.regression, regression, result, args.fit);
  args.label(model, data);

  if (model.coefficients.empty() && !args.quiet) fmt::print(stderr, "{}", empty_model_warning(regression));
  if (!args.model.empty()) write_output(args.model, to_json(model));
  if (!args.json.empty()) write_output(args.json, to_json(model, result));
  if (!args.coefficients.empty()) write_output(args.coefficients, coefficients_csv(model));
  if (!args.report.empty()) {
    const Path path = as_path(regression, result, model);
    write_output(args.report, to_html({args.data.files, data, regression, {model}, path}));
  }
  args.print_summary(summary(model, result));
  return exit_code(result.status);
}

}  // namespace

std::function<int()> define_fit(CLI::App& app) {
  auto args = std::make_shared<FitArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
