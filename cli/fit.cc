#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/coefficients.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/regression_args.h"
#include "cli/report/report.h"
#include "cli/report/words.h"
#include "cli/summing.h"
#include "tyto/base/names.h"

namespace tyto::cli {
namespace {

void add_options(CLI::App& app, RegressionArgs& args) {
  args.add(app, kFitTask);
  app.get_option("--sigma")
      ->excludes(app.get_option("--strength"))
      ->excludes(app.get_option("--relative-to"));
  app.footer(std::string("Example:\n  tyto fit data.csv --target y --weights bh --q 0.1 --strength 0.05 "
                         "--model model.json\n"
                         "  tyto fit patients.csv --target relapse --loss binomial --model model.json\n"
                         "  tyto fit claims.csv --target claims --loss poisson --offset log_years") +
             kFitExitCodes);
}

std::string noise_in_words(const Model& model) {
  const Noise& noise = *model.noise;
  std::string text = fmt::format("noise level {:.6g}, as given\n", noise.sigma);
  if (noise.status)
    text = fmt::format("noise level {:.6g}, estimated: {} after {} iterations\n", noise.sigma,
                       name(*noise.status), noise.iterations);
  const std::string rate = rate_in_words(model);
  return rate.empty() ? text : text + rate + "\n";
}

std::string summary(const Model& model, const Fit& fit, const Estimate& result) {
  const double explained = result.path.steps.front().explained;
  std::string text = fmt::format(
      "{}, alpha {:.6g}{}, {}\n"
      "{}: relative gap {:.2g} (objective {:.10g}) after {} epochs, {:.3g} s\n"
      "{}, in {} clusters; screening proved {} zero\n",
      described(model), model.alpha, in_alpha_max(model.alpha, result.regression.alpha_max),
      intercepts_in_words(model), model.status, std::max(0.0, model.relative_gap), model.primal, fit.epochs,
      fit.seconds, count_in_words(model), model.clusters(), fit.screened);
  text += explained_in_words(model, explained) + "\n";
  if (model.noise) text += noise_in_words(model);
  if (model.relaxed)
    text += fmt::format("relaxed: gamma {:.6g} between least squares on the clusters (0) and the fit (1)\n",
                        model.relaxed->gamma);
  constexpr std::size_t kShown = 10;
  return text + warning_lines(warnings({model})) + coefficient_table(model, kShown);
}

std::string empty_model_warning(const Regression& regression) {
  if (!(regression.alpha_max > 0)) return kNothingCorrelated;
  return fmt::format(
      "tyto: warning: nothing is left in the model: the multiplier {:.6g} is {:.3g} times the smallest one "
      "that leaves "
      "nothing (alpha-max {:.6g}); try a smaller --strength\n",
      regression.alpha, regression.alpha / regression.alpha_max, regression.alpha_max);
}

int exit_code(const Estimate& result) {
  if (result.fit().status == Status::kInterrupted) return kInterrupted;
  const std::optional<Noise>& noise = result.models.front().noise;
  const bool settled = !noise || noise->settled();
  return settled && result.fit().status == Status::kConverged ? kDone : kNotConverged;
}

// Why the exit code is not 0.
std::string reason(const Model& model) {
  const double relative = std::max(0.0, model.relative_gap);
  if (model.status != name(Status::kConverged))
    return fmt::format(
        "the fit stopped before its tolerance {:.2g}: {}, relative gap {:.2g}, rounding {:.2g}",
        model.tolerance, model.status, relative,
        model.primal > 0 ? model.rounding / model.primal : model.rounding);
  return joined(warnings({model}));
}

std::pair<Dataset, Estimate> estimated(RegressionArgs& args) {
  if (works_on_sums(args)) return estimate_streamed(args, kFitTask, args.note);
  Dataset data = args.read();
  Progress progress(args.quiet);
  Estimate result = estimate(data, args.options, std::ref(progress));
  return {std::move(data), std::move(result)};
}

int run(RegressionArgs& args) {
  args.prepare(kFitTask);
  args.options.correlations = true;
  auto [data, result] = estimated(args);
  args.label(result.models, data);

  const Model& model = result.models.front();
  if (model.coefficients.empty() && result.fit().status == Status::kConverged && !args.quiet)
    fmt::print(stderr, "{}", empty_model_warning(result.regression));
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, to_json(model));
  if (!args.json.empty()) outputs.add(args.json, to_json(model, result.fit()));
  if (!args.coefficients.empty()) outputs.add(args.coefficients, coefficients_csv(model));
  if (!args.report.empty())
    outputs.add(args.report, to_html({args.data.files, data, result.regression, result.models, result.path}));
  const std::string text = summary(model, result.fit(), result);
  return args.finish(outputs, data, {exit_code(result), text, reason(model)});
}

}  // namespace

std::function<int()> define_fit(CLI::App& app) {
  auto args = std::make_shared<RegressionArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
