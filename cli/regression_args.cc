#include "cli/regression_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/option_flags.h"
#include "cli/report/words.h"
#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/base/parallel.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

Vector read_weights(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw InvalidArgument("weights: want " + joined(weight_names()) + " or a file, got '" + path + "'" +
                          did_you_mean(path, weight_names()));
  return read_column(path, "weights");
}

// " of class 'yes' against 'no'"
std::string classes_in_words(const Model& model) {
  if (model.classes.empty()) return "";
  if (model.has_several_classes()) return fmt::format(" of {} classes", model.classes.size());
  if (model.labels.empty()) return fmt::format(" of class {} against {}", model.classes[1], model.classes[0]);
  return fmt::format(" of class {} against {}", in_quotes(model.labels[1]), in_quotes(model.labels[0]));
}

}  // namespace

std::string described(const Model& model) {
  const std::string& response = model.response_name;
  const std::string& loss = model.options.loss;
  return fmt::format(
      "{} rows x {} features, response {}{}{}, weights {}", model.n, model.p,
      response.empty() ? "without a name" : "'" + printable(response) + "'",
      loss == "gaussian" ? "" : ", loss " + loss + (find_loss(loss).intercept ? "" : " (no intercept)"),
      classes_in_words(model), printable(shape_in_words(model.options)));
}

std::string in_alpha_max(double alpha, double alpha_max) {
  return alpha_max > 0 ? fmt::format(" ({:.3g} of alpha-max)", alpha / alpha_max) : "";
}

std::string explained_in_words(const Model& model, double explained) {
  if (model.options.loss == "gaussian")
    return fmt::format("R2 {:.4f} on the data fitted{}", explained,
                       model.relaxed ? ", of the fit before it is relaxed" : "");
  return fmt::format("{:.1f}% of the deviance explained", 100 * explained);
}

std::string selected_in_words(const Model& model) {
  constexpr std::size_t kShown = 8;
  std::vector<const Coefficient*> strongest;
  for (const Coefficient& c : model.coefficients)
    if (c.cluster >= 0) strongest.push_back(&c);
  std::ranges::stable_sort(strongest, {}, [](const Coefficient* c) { return c->cluster; });
  std::vector<std::string> names;
  for (const Coefficient* c : strongest)
    if (names.size() < kShown)
      names.push_back(c->name.empty() ? fmt::format("column {}", c->column) : printable(c->name));
  return joined(names) + (strongest.size() > kShown ? ", ..." : "");
}

std::string intercepts_in_words(const Model& model) {
  if (!model.has_several_classes()) return fmt::format("intercept {:.6g}", model.intercept());
  constexpr std::size_t kShown = 5;
  std::string text = "intercepts";
  for (std::size_t c = 0; c < std::min(kShown, model.intercepts.size()); ++c)
    text += fmt::format("{} {:.6g} ({})", c == 0 ? "" : ",", model.intercepts[c],
                        printable(model.class_word(static_cast<Index>(c))));
  return model.intercepts.size() > kShown ? text + ", ..." : text;
}

std::string count_in_words(const Model& model) {
  const auto classes = std::ssize(model.intercepts);
  return fmt::format("{} of {} coefficients are not zero", model.coefficients.size(), model.p * classes);
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
  app_ = &app;
  options.fit.threads = hardware_threads();
  data.add(app);
  add_options(app, options, task, [&](std::string_view last) {
    if (last == "standardize") {
      data.add_observation_weights(app);
      data.add_offset(app);
      data.add_event(app);
    }
    if (after) after(last);
  });
  app.option_defaults()->group("Results");
  app.add_option(
      "--memory", data.memory,
      "Memory to use, for data that is larger: columns of .tyto files are read as they are needed; "
      "rows of other files in blocks, as often as needed, and summed: 512M, 1G");
  app.add_option("--model", model, "Write the model (JSON) to this file; - is standard output");
  app.add_option("--json", json, "Write the whole result (JSON) with the trace of the solver");
  app.add_option("--coefficients", coefficients, "Write the non-zero coefficients as CSV");
  app.add_option("--report", report, "Write a page (HTML) to look at: certificate, groups, charts");
  app.add_flag("--quiet", quiet, "No progress, summary or warnings; where the exit code is 1, only why");
  app.option_defaults()->group("Options");
}

void RegressionArgs::prepare(Task task) {
  validate(options, task);
  RegressionOptions& regression = options.regression;
  if (regression.loss == "cox" && data.event.empty())
    throw InvalidArgument(
        "event: want --event COLUMN with the loss cox, which says whose time is that of an event");
  if (regression.loss != "cox" && !data.event.empty())
    throw InvalidArgument("event: want none with the loss " + regression.loss + ", got '" + data.event + "'");
  check_outputs({json, model, coefficients, report}, data.inputs({regression.weights}));
  if (!is_weight_name(regression.weights)) regression.weight_values = read_weights(regression.weights);
  in_vain_ =
      without_effect(options, task, [this](const std::string& name) { return app_->count("--" + name) > 0; });
}

Dataset RegressionArgs::read() const {
  ReadOptions reading = data.options();
  reading.text_labels = find_loss(options.regression.loss).labels != LossRow::Labels::kNone;
  Dataset dataset = data.read(reading);
  if (!quiet) print_warnings(dataset.warnings);
  if (!dataset.dropped_rows.empty() && !quiet)
    fmt::print(stderr, "tyto: {} of {} rows were left out for missing values\n", dataset.dropped_rows.size(),
               dataset.dropped_rows.size() + static_cast<std::size_t>(dataset.design.rows()));
  if (dataset.filled > 0 && !quiet)
    say(fmt::format("{} became the mean of their columns", count_of(dataset.filled, "missing value")));
  if (!dataset.dropped_columns.empty() && !quiet)
    say(fmt::format("{} of {} columns were left out for missing values: {}", dataset.dropped_columns.size(),
                    std::ssize(dataset.dropped_columns) + dataset.design.cols(),
                    joined(dataset.dropped_columns)));
  return dataset;
}

void RegressionArgs::label(std::vector<Model>& models, const Dataset& dataset) const {
  const bool named = !dataset.weights_name.empty();
  const bool named_offset = !dataset.offset_name.empty();
  const bool named_event = !dataset.event_name.empty();
  for (Model& fitted : models) {
    fitted.target = data.target;
    fitted.response_file = data.response;
    fitted.dropped = data.drop;
    fitted.dropped.insert(fitted.dropped.end(), dataset.dropped_columns.begin(),
                          dataset.dropped_columns.end());
    (named ? fitted.weights_column : fitted.weights_file) =
        named ? dataset.weights_name : data.observation_weights;
    (named_offset ? fitted.offset_column : fitted.offset_file) =
        named_offset ? dataset.offset_name : data.offset;
    (named_event ? fitted.event_column : fitted.event_file) = named_event ? dataset.event_name : data.event;
    fitted.missing = dataset.means.empty() ? data.options().missing : Missing::kMean;
  }
}

int RegressionArgs::finish(Outputs& outputs, const Dataset& dataset, const Ending& ending) const {
  if (!quiet && dataset.response_by_name)
    outputs.add_summary(fmt::format("target: column '{}' (by its name)\n", printable(dataset.response_name)));
  if (!quiet) outputs.add_summary(ending.summary + note);
  outputs.commit();
  if (!quiet) print_warnings(in_vain_);
  if (quiet && ending.code != kDone) say(ending.reason);
  return ending.code;
}

}  // namespace tyto::cli
