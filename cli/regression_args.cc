#include "cli/regression_args.h"

#include <fmt/core.h>

#include <filesystem>

#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
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

}  // namespace

std::string described(const Model& model) {
  const std::string& response = model.response_name;
  return fmt::format("{} rows x {} features, response {}, weights {}", model.n, model.p,
                     response.empty() ? "without a name" : "'" + response + "'", model.options.weights);
}

const char* const kFitExitCodes =
    "\nExit code: 0 done; 1 stopped before the tolerance; 2 a mistake in the options or the data; 130 "
    "interrupted.";
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
  app.add_option("--q", regression.q, "False discovery rate that bh and gaussian aim at")
      ->capture_default_str();
}

void RegressionArgs::add_solver(CLI::App& app) {
  fit.threads = hardware_threads();
  app.add_flag("--no-intercept", no_intercept, "Fit no intercept");
  app.add_flag("--no-standardize", no_standardize, "Leave the columns on their own scale");
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
  find_solver(fit.solver), screening_rule(fit.screening);
  check_outputs({json, model, coefficients, report}, data.inputs({regression.weights}));
  if (!is_weight_name(regression.weights)) regression.weight_values = read_weights(regression.weights);
}

Dataset RegressionArgs::read() const {
  Dataset dataset = data.read(data.options());
  if (!dataset.dropped_rows.empty() && !quiet)
    fmt::print(stderr, "tyto: {} of {} rows were left out for missing values\n", dataset.dropped_rows.size(),
               dataset.dropped_rows.size() + static_cast<std::size_t>(dataset.design.rows()));
  return dataset;
}

Regression RegressionArgs::make(const Dataset& dataset) const {
  return make_regression(dataset.design.with_threads(fit.threads), dataset.response, regression);
}

void RegressionArgs::label(Model& fitted) const {
  fitted.target = data.target, fitted.dropped = data.drop;
  fitted.missing_dropped = data.options().missing == Missing::kDropRows;
}

void RegressionArgs::print_summary(std::string_view text) const {
  const bool occupied = json == "-" || model == "-" || coefficients == "-" || report == "-";
  if (!quiet) fmt::print(occupied ? stderr : stdout, "{}", text);
}

}  // namespace tyto::cli
