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
#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/select/noise.h"

namespace tyto::cli {
namespace {

struct FitArgs : RegressionArgs {
  std::string relative_to = "alpha-max", sigma;
  std::optional<double> gamma;
};

void add_options(CLI::App& app, FitArgs& args) {
  args.add_weights(app);
  args.add_q(app);
  CLI::Option* strength = app.add_option("--strength", args.regression.strength,
                                         "Multiplier of the weights, in units of --relative-to");
  strength->capture_default_str();
  CLI::Option* unit = app.add_option(
      "--relative-to", args.relative_to,
      "Unit of the strength: alpha-max (the smallest multiplier that leaves nothing in the model), "
      "correlation (max_j |x_j'y|), absolute");
  unit->capture_default_str();
  app.add_option("--sigma", args.sigma,
                 "Instead of a strength, for bh and gaussian: the standard deviation of the noise, or "
                 "'estimate'; --q is then the false discovery rate that is aimed at")
      ->excludes(strength)
      ->excludes(unit);
  app.add_option("--gamma", args.gamma,
                 "Relax the fit: 0 least squares on its clusters, 1 the fit itself, else a mixture [off]");
  args.add_solver(app);
  args.add_outputs(app);
  app.footer(std::string("Loss: gaussian (squared error).\n"
                         "Example:\n  tyto fit data.csv --target y --weights bh --q 0.1 --strength 0.05 "
                         "--model model.json") +
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

std::string summary(const Model& model, const Fit& fit) {
  std::string text = fmt::format(
      "{}, alpha {:.6g}, intercept {:.6g}\n"
      "{}: relative gap {:.2g} (objective {:.10g}) after {} epochs, {:.3g} s\n"
      "{} of {} coefficients are not zero, in {} clusters; screening proved {} zero\n",
      described(model), model.alpha, model.intercept, model.status, std::max(0.0, model.relative_gap),
      model.primal, fit.epochs, fit.seconds, model.coefficients.size(), model.p, model.clusters(),
      fit.screened);
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

constexpr const char* kEstimate = "estimate";

// The noise level that was given; none where it is to be estimated, or plays no part.
std::optional<double> parse_sigma(const std::string& text) {
  if (text.empty() || text == kEstimate) return {};
  double sigma = 0;
  if (!CLI::detail::lexical_cast(text, sigma) || !(sigma > 0 && std::isfinite(sigma)))
    throw InvalidArgument("sigma: want a number > 0 or 'estimate', got '" + text + "'");
  return sigma;
}

// What was fitted: the regression at its strength, and where that came from.
struct Fitted {
  Regression regression;
  Fit fit;
  std::optional<Noise> noise;
};

Fitted solve(const FitArgs& args, const Regression& regression, const Observer& observer) {
  if (args.sigma == kEstimate) {
    NoiseFit found = fit_estimating_noise(regression, args.fit, observer);
    return {std::move(found.regression), std::move(found.fit), found.noise};
  }
  const std::optional<double> sigma = parse_sigma(args.sigma);
  Fitted result{sigma ? at_noise(regression, *sigma) : regression, {}, {}};
  if (sigma) result.noise = Noise{*sigma};
  result.fit = fit(result.regression.problem, args.fit, nullptr, observer);
  return result;
}

int exit_code(const Fitted& result) {
  if (result.fit.status == Status::kInterrupted) return kInterrupted;
  const bool settled = !result.noise || result.noise->settled();
  return settled && result.fit.status == Status::kConverged ? kDone : kNotConverged;
}

void prepare(FitArgs& args) {
  args.regression.relative_to = parse_relative_to(args.relative_to);
  if (args.gamma) validate_gamma(*args.gamma, args.regression.nonnegative);
  parse_sigma(args.sigma);
  args.prepare();
  if (!args.sigma.empty()) validate_noise_weights(args.regression);
}

int run(FitArgs& args) {
  prepare(args);
  const Dataset data = args.read();
  const Regression regression = args.make(data);
  const Fitted result = [&] {
    Progress progress(args.quiet);
    return solve(args, regression, std::ref(progress));
  }();
  std::vector<Model> models{make_model(data, args.regression, result.regression, result.fit, args.fit)};
  correlate_clusters(data, models);
  Model& model = models.front();
  args.label(model, data);
  model.noise = result.noise;
  Path path = as_path(result.regression, result.fit, model);
  if (args.gamma) {
    relax(result.regression, *args.gamma, path, Work(args.fit.threads));
    relax(model, result.regression, *path.steps.front().relaxation);
  }

  if (model.coefficients.empty() && !args.quiet)
    fmt::print(stderr, "{}", empty_model_warning(result.regression));
  Outputs outputs;
  if (!args.model.empty()) outputs.add(args.model, to_json(model));
  if (!args.json.empty()) outputs.add(args.json, to_json(model, result.fit));
  if (!args.coefficients.empty()) outputs.add(args.coefficients, coefficients_csv(model));
  if (!args.report.empty())
    outputs.add(args.report, to_html({args.data.files, data, result.regression, models, path}));
  args.finish(outputs, data, summary(model, result.fit));
  return exit_code(result);
}

}  // namespace

std::function<int()> define_fit(CLI::App& app) {
  auto args = std::make_shared<FitArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
