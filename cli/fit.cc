#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/problem/screening.h"
#include "tyto/select/model.h"

namespace tyto::cli {
namespace {

struct FitArgs {
  DataArgs data;
  RegressionOptions regression;
  FitOptions fit;
  std::string relative_to = "alpha-max";
  bool no_intercept = false, no_standardize = false, quiet = false;
  std::string json, model, coefficients;
};

template <class Table>
std::string table(const Table& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n    {:<8} {}", row.name, row.summary);
  return text;
}

void add_options(CLI::App& app, FitArgs& args) {
  args.fit.threads = hardware_threads();
  args.data.add(app);
  app.add_option(
         "--weights", args.regression.weights,
         "Shape of the weights: " + joined(weight_names()) + ", or a file with one number for each column")
      ->capture_default_str();
  app.add_option("--q", args.regression.q, "False discovery rate that bh and gaussian aim at")
      ->capture_default_str();
  app.add_option("--strength", args.regression.strength,
                 "Multiplier of the weights, in units of --relative-to")
      ->capture_default_str();
  app.add_option(
         "--relative-to", args.relative_to,
         "Unit of the strength: alpha-max (the smallest multiplier that leaves nothing in the model), "
         "correlation (max_j |x_j'y|), absolute")
      ->capture_default_str();
  app.add_flag("--no-intercept", args.no_intercept, "Fit no intercept");
  app.add_flag("--no-standardize", args.no_standardize, "Leave the columns on their own scale");
  app.add_option("--solver", args.fit.solver,
                 "Solver:\n    auto     the best one there is: now apgd" + table(solvers()))
      ->capture_default_str();
  app.add_option("--screening", args.fit.screening,
                 "Rule that proves coefficients zero:" + table(screening_rules()))
      ->capture_default_str();
  app.add_option("--tolerance", args.fit.tolerance, "Stop when the duality gap <= T * objective")
      ->capture_default_str();
  app.add_option("--max-epochs", args.fit.max_epochs, "Stop after so many epochs")->capture_default_str();
  app.add_option("--max-seconds", args.fit.max_seconds, "Stop after so many seconds");
  app.add_option("--threads", args.fit.threads, "Threads; the result is the same for any number [all cores]");
  app.add_option("--seed", args.fit.stochastic.seed, "Seed of spgd")->capture_default_str();
  app.add_option("--batch", args.fit.stochastic.batch, "Rows in a mini-batch of spgd [from the data]");
  app.add_option("--inner-steps", args.fit.stochastic.inner_steps,
                 "Steps of spgd in an epoch [from the data]");
  app.add_option("--step-size", args.fit.stochastic.step_size, "Step size of spgd [from the data]");
  app.add_option("--model", args.model, "Write the model (JSON) to this file; - is standard output");
  app.add_option("--json", args.json, "Write the whole result (JSON) with the trace of the solver");
  app.add_option("--coefficients", args.coefficients, "Write the non-zero coefficients as CSV");
  app.add_flag("--quiet", args.quiet, "No progress and no summary");
  want_whole_numbers(app, {"--max-epochs", "--threads", "--seed", "--batch", "--inner-steps"});
  app.footer(
      "Loss: gaussian (squared error).\n"
      "Example:\n  tyto fit data.csv --target y --weights bh --q 0.1 --strength 0.05 --model model.json\n"
      "Exit code: 0 done; 1 stopped before the tolerance; 2 a mistake in the options or the data; 130 "
      "interrupted.");
}

std::string summary(const Model& model, const Fit& fit) {
  std::string text = fmt::format(
      "{} rows x {} features, response {}, weights {} times {:.6g}, intercept {:.6g}\n"
      "{}: relative gap {:.2g} (objective {:.10g}) after {} epochs, {:.3g} s\n"
      "{} of {} coefficients are not zero, in {} clusters; screening proved {} zero\n",
      model.n, model.p, model.response_name.empty() ? "without a name" : "'" + model.response_name + "'",
      model.options.weights, model.alpha, model.intercept, model.status, std::max(0.0, model.relative_gap),
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

Vector read_weights(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw InvalidArgument("weights: want " + joined(weight_names()) + " or a file, got '" + path + "'");
  const Dataset file = read({path}, {.format = "csv", .target_optional = true, .features = 1});
  if (file.design.cols() != 1 || file.response.size() > 0)
    throw InvalidArgument("weights: want one number in each line of " + path);
  Vector weights(file.design.rows());
  file.design.for_each_entry(0, [&](Index row, double value) { weights[row] = value; });
  return weights;
}

std::string empty_model_warning(const Regression& regression) {
  if (!(regression.alpha_max > 0))
    return "tyto: warning: nothing is left in the model: no feature is correlated with the response, or the "
           "response is constant\n";
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
  RegressionOptions& regression_options = args.regression;
  regression_options.relative_to = parse_relative_to(args.relative_to);
  regression_options.intercept = !args.no_intercept, regression_options.standardize = !args.no_standardize;
  validate(args.fit);
  find_solver(args.fit.solver), screening_rule(args.fit.screening);
  check_outputs({args.json, args.model, args.coefficients}, args.data.inputs({args.regression.weights}));
  if (!is_weight_name(regression_options.weights))
    regression_options.weight_values = read_weights(regression_options.weights);
  const Dataset data = args.data.read(args.data.options());
  if (!data.dropped_rows.empty() && !args.quiet)
    fmt::print(stderr, "tyto: {} of {} rows were left out for missing values\n", data.dropped_rows.size(),
               data.dropped_rows.size() + static_cast<std::size_t>(data.design.rows()));
  const Regression regression =
      make_regression(data.design.with_threads(args.fit.threads), data.response, regression_options);
  const Fit result = [&] {
    Progress progress(args.quiet);
    return fit(regression.problem, args.fit, nullptr, std::ref(progress));
  }();
  Model model = make_model(data, regression_options, regression, result, args.fit);
  model.target = args.data.target, model.dropped = args.data.drop;
  model.missing_dropped = args.data.options().missing == Missing::kDropRows;

  if (model.coefficients.empty() && !args.quiet) fmt::print(stderr, "{}", empty_model_warning(regression));
  if (!args.model.empty()) write_output(args.model, to_json(model));
  if (!args.json.empty()) write_output(args.json, to_json(model, result));
  if (!args.coefficients.empty()) write_output(args.coefficients, coefficients_csv(model));
  const bool occupied = args.json == "-" || args.model == "-" || args.coefficients == "-";
  if (!args.quiet) fmt::print(occupied ? stderr : stdout, "{}", summary(model, result));
  return exit_code(result.status);
}

}  // namespace

std::function<int()> define_fit(CLI::App& app) {
  auto args = std::make_shared<FitArgs>();
  add_options(app, *args);
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
