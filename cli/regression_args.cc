#include "cli/regression_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/option_flags.h"
#include "cli/report/words.h"
#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

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
                     response.empty() ? "without a name" : "'" + printable(response) + "'",
                     printable(shape_in_words(model.options)));
}

const char* const kFitExitCodes =
    "\nExit code: 0 done; 1 stopped before the tolerance; 2 a mistake in the options or the data; 130 "
    "interrupted.";
const char* const kNothingCorrelated =
    "tyto: warning: nothing is left in the model: no feature is correlated with the response, or the "
    "response is constant\n";

std::vector<std::size_t> shown_steps(std::size_t count) {
  constexpr std::size_t kShown = 12;
  std::vector<std::size_t> shown;
  const std::size_t rows = std::min(kShown, count);
  for (std::size_t row = 0; row < rows; ++row)
    shown.push_back(rows == 1 ? 0 : row * (count - 1) / (rows - 1));
  return shown;
}

void RegressionArgs::add(CLI::App& app, Task task, const std::function<void(std::string_view)>& after) {
  options.fit.threads = hardware_threads();
  data.add(app);
  add_options(app, options, task, [&](std::string_view last) {
    if (last == "standardize") data.add_observation_weights(app);
    if (after) after(last);
  });
  app.add_option("--model", model, "Write the model (JSON) to this file; - is standard output");
  app.add_option("--json", json, "Write the whole result (JSON) with the trace of the solver");
  app.add_option("--coefficients", coefficients, "Write the non-zero coefficients as CSV");
  app.add_option("--report", report, "Write a page (HTML) to look at: certificate, groups, charts");
  app.add_flag("--quiet", quiet, "No progress and no summary");
}

void RegressionArgs::prepare(Task task) {
  validate(options, task);
  RegressionOptions& regression = options.regression;
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

void RegressionArgs::label(std::vector<Model>& models, const Dataset& dataset) const {
  const bool named = !dataset.weights_name.empty();
  for (Model& fitted : models) {
    fitted.target = data.target;
    fitted.dropped = data.drop;
    (named ? fitted.weights_column : fitted.weights_file) =
        named ? dataset.weights_name : data.observation_weights;
    fitted.missing_dropped = data.options().missing == Missing::kDropRows;
  }
}

void RegressionArgs::finish(Outputs& outputs, const Dataset& dataset, std::string_view summary) const {
  if (!quiet && dataset.response_by_name)
    outputs.add_summary(fmt::format("target: column '{}' (by its name)\n", printable(dataset.response_name)));
  if (!quiet) outputs.add_summary(summary);
  outputs.commit();
}

}  // namespace tyto::cli
