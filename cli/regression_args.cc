#include "cli/regression_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "cli/report/words.h"
#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/data/text.h"
#include "tyto/problem/screening.h"

namespace tyto::cli {
namespace {

template <class Table>
std::string table(const Table& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n    {:<8} {}", row.name, row.summary);
  return text;
}

Vector read_weights(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw InvalidArgument("weights: want " + joined(weight_names()) + " or a file, got '" + path + "'");
  return read_column(path, "weights");
}

Index find_feature(const Dataset& dataset, const std::string& name) {
  const auto found = std::ranges::find(dataset.names, name);
  if (found != dataset.names.end()) {
    if (std::ranges::count(dataset.names, name) > 1)
      throw InvalidArgument("unpenalized: want the number of one column, got '" + name +
                            "', which several are named");
    return found - dataset.names.begin();
  }
  Index number = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number >= dataset.design.cols())
    throw InvalidArgument(
        fmt::format("unpenalized: want a feature by name, or by number from 0 to {}, got '{}'",
                    dataset.design.cols() - 1, name));
  return number;
}

}  // namespace

std::string described(const Model& model) {
  const std::string& response = model.response_name;
  return fmt::format("{} rows x {} features, response {}, weights {}", model.n, model.p,
                     response.empty() ? "without a name" : "'" + printable(response) + "'",
                     printable(shape_in_words(model.options)));
}

const char* const kFitExitCodes =
    "\nExit code: 0 done; 1 stopped before the tolerance; 2 a mistake in the options or the data; 130 "
    "interrupted.";
const char* const kShapeHelp =
    "Shape parameter of bh and gaussian, in (0, 1]; a false discovery rate is aimed at only where the "
    "strength is the level of the noise ('tyto fit --sigma')";
const char* const kNothingCorrelated =
    "tyto: warning: nothing is left in the model: no feature is correlated with the response, or the "
    "response is constant\n";

void RegressionArgs::add_weights(CLI::App& app) {
  data.add(app);
  app.add_option(
         "--weights", regression.weights,
         "Shape of the weights: " + joined(weight_names()) + ", or a file with one number for each column")
      ->capture_default_str();
}

void RegressionArgs::add_q(CLI::App& app) {
  app.add_option("--q", regression.q, kShapeHelp)->capture_default_str();
  app.add_option("--slope", regression.slope, "Slope of oscar: weights from 1 + S to 1")
      ->capture_default_str();
}

void RegressionArgs::add_solver(CLI::App& app) {
  fit.threads = hardware_threads();
  app.add_flag("--no-intercept", no_intercept, "Fit no intercept");
  app.add_flag("--no-standardize", no_standardize, "Leave the columns on their own scale");
  data.add_observation_weights(app);
  app.add_option(
         "--unpenalized", unpenalized,
         "Columns that the penalty leaves alone, by name, or by number as in the results: NAME,NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--ridge", regression.ridge,
                 "Adds R/2 times the sum of the squared coefficients (of standardised columns)")
      ->capture_default_str();
  app.add_flag("--nonnegative", regression.nonnegative, "Coefficients >= 0, but for unpenalised ones");
  app.add_option("--solver", fit.solver,
                 fmt::format("Solver:\n    auto     the best one there is: now {}{}",
                             find_solver("auto").name, table(solvers())))
      ->capture_default_str();
  app.add_option("--screening", fit.screening,
                 "Rule that proves coefficients zero:" + table(screening_rules()))
      ->capture_default_str();
  app.add_option("--tolerance", fit.tolerance, "Stop when the duality gap <= T * objective")
      ->capture_default_str();
  app.add_option("--max-epochs", fit.max_epochs, "Stop after so many epochs")->capture_default_str();
  app.add_option("--max-seconds", fit.max_seconds, "Stop after so many seconds");
  app.add_option("--threads", fit.threads, "Threads; the result is the same for any number [all cores]");
  app.add_option("--seed", fit.stochastic.seed, "Seed of spgd")->capture_default_str();
  app.add_option("--batch", fit.stochastic.batch, "Rows in a mini-batch of spgd [from the data]");
  app.add_option("--inner-steps", fit.stochastic.inner_steps, "Steps of spgd in an epoch [from the data]");
  app.add_option("--step-size", fit.stochastic.step_size, "Step size of spgd [from the data]");
  want_whole_numbers(app, {"--max-epochs", "--threads", "--seed", "--batch", "--inner-steps"});
}

void RegressionArgs::add_outputs(CLI::App& app) {
  app.add_option("--model", model, "Write the model (JSON) to this file; - is standard output");
  app.add_option("--json", json, "Write the whole result (JSON) with the trace of the solver");
  app.add_option("--coefficients", coefficients, "Write the non-zero coefficients as CSV");
  app.add_option("--report", report, "Write a page (HTML) to look at: certificate, groups, charts");
  app.add_flag("--quiet", quiet, "No progress and no summary");
}

void RegressionArgs::prepare() {
  regression.intercept = !no_intercept, regression.standardize = !no_standardize;
  validate(fit);
  if (!(regression.ridge >= 0 && std::isfinite(regression.ridge)))
    throw InvalidArgument(fmt::format("ridge: want a finite number >= 0, got {}", regression.ridge));
  find_solver(fit.solver), screening_rule(fit.screening);
  check_outputs({json, model, coefficients, report}, data.inputs({regression.weights}));
  if (!is_weight_name(regression.weights)) regression.weight_values = read_weights(regression.weights);
}

Dataset RegressionArgs::read() const {
  Dataset dataset = data.read(data.options());
  if (!quiet) print_warnings(dataset.warnings);
  if (!dataset.dropped_rows.empty() && !quiet)
    fmt::print(stderr, "tyto: {} of {} rows were left out for missing values\n", dataset.dropped_rows.size(),
               dataset.dropped_rows.size() + static_cast<std::size_t>(dataset.design.rows()));
  return dataset;
}

void RegressionArgs::complete(const Dataset& dataset) {
  regression.observation_weights = dataset.weights;
  regression.unpenalized.clear();
  for (const std::string& name : unpenalized) regression.unpenalized.push_back(find_feature(dataset, name));
}

Regression RegressionArgs::make(const Dataset& dataset) {
  complete(dataset);
  return make_regression(dataset.design, dataset.response, regression, Work(fit.threads));
}

void RegressionArgs::label(Model& fitted, const Dataset& dataset) const {
  fitted.target = data.target, fitted.dropped = data.drop;
  (dataset.weights_name.empty() ? fitted.weights_file : fitted.weights_column) =
      dataset.weights_name.empty() ? data.observation_weights : dataset.weights_name;
  fitted.missing_dropped = data.options().missing == Missing::kDropRows;
}

void RegressionArgs::finish(Outputs& outputs, const Dataset& dataset, std::string_view summary) const {
  if (!quiet && dataset.response_by_name)
    outputs.add_summary(fmt::format("target: column '{}' (by its name)\n", printable(dataset.response_name)));
  if (!quiet) outputs.add_summary(summary);
  outputs.commit();
}

}  // namespace tyto::cli
