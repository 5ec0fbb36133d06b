#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <optional>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/model_args.h"
#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

struct PredictArgs {
  ModelArgs model;
  std::string output = "-", json, type = "response";
  DataArgs data;
  bool quiet = false;
};

// A measure of the predictions, and how it is shown.
struct Measured {
  std::string field, words;
  double value;
};

std::vector<Measured> squared_errors(const Eigen::MatrixXd& prediction, const Vector& response) {
  const Vector residual = response - prediction.col(0);
  const double variance = (response.array() - response.mean()).square().mean();
  const double mse = residual.squaredNorm() / static_cast<double>(residual.size());
  const double mae = residual.cwiseAbs().mean();
  return {{"mse", "", mse},
          {"rmse", fmt::format("RMSE {:.6g}", std::sqrt(mse)), std::sqrt(mse)},
          {"mae", fmt::format("MAE {:.6g}", mae), mae},
          {"r2", fmt::format("R2 {:.4g}", 1 - mse / variance), 1 - mse / variance}};
}

// The model's loss, for its value of a row alone. New data may be all of one class, or all zeros, which
// nothing could be fitted to: the loss is bound to a row more of each class.
std::shared_ptr<const Loss> loss_of(const Model& model, const Vector& response) {
  const Index more = std::max<Index>(2, std::ssize(model.classes));
  Vector extended(response.size() + more);
  extended << response, Vector::LinSpaced(more, 0, static_cast<double>(more - 1));
  return find_loss(model.options.loss)
      .make({extended, {}, {}, {}, model.options.huber_delta, {}, std::ssize(model.classes)});
}

// Of times to an event, where the new data has both.
std::vector<Measured> survival_measures(const Vector& predictor, const Dataset& data) {
  const Vector weights = Vector::Ones(predictor.size());
  const Survival rows{data.response, data.events, weights};
  const double c = concordance(rows, predictor);
  const double deviance = partial_deviance(rows, predictor) / weights.sum();
  return {{"deviance", fmt::format("deviance {:.6g}", deviance), deviance},
          {"c_index", fmt::format("C-index {:.4g}", c), c}};
}

// By the measures of the model's loss.
std::vector<Measured> measure(const Model& model, const Eigen::MatrixXd& predictor, const Dataset& data) {
  if (model.options.loss == "cox") return survival_measures(predictor, data);
  if (model.options.loss == "gaussian") return squared_errors(predictor, data.response);
  const Vector response = encoded_response(model, data);
  const auto loss = loss_of(model, response);
  const HeldOut rows{*loss, response, Vector::Ones(response.size()), 1};
  std::vector<ErrorMeasure> wanted{ErrorMeasure::kDeviance};
  wanted.push_back(model.classes.empty() ? ErrorMeasure::kMae : ErrorMeasure::kMisclassification);
  if (model.classes.size() == 2) wanted.push_back(ErrorMeasure::kAuc);
  std::vector<Measured> result;
  for (const ErrorMeasure one : wanted) {
    const double value = score(one, rows, predictor);
    result.push_back({std::string(name(one)), fmt::format("{} {:.6g}", in_words(one), value), value});
  }
  return result;
}

std::vector<std::string> of_type(const std::string& type, const Model& model,
                                 const Eigen::MatrixXd& predictor) {
  std::vector<std::string> cells;
  if (type == "class") {
    for (const std::string& label : predicted_class(model, predictor))
      cells.push_back(model.labels.empty() ? label : csv_text(label));
    return cells;
  }
  const Eigen::MatrixXd values = type == "link" ? predictor : mean_response(model, predictor);
  for (Index i = 0; i < values.rows(); ++i) {
    std::string line;
    for (Index c = 0; c < values.cols(); ++c) line += fmt::format("{}{}", c > 0 ? "," : "", values(i, c));
    cells.push_back(std::move(line));
  }
  return cells;
}

// The names of the columns: of several classes, their labels.
std::string header_of(const std::string& type, const Model& model) {
  if (type == "class" || !model.has_several_classes()) return "prediction";
  std::string line;
  for (Index c = 0; c < std::ssize(model.classes); ++c)
    line += (c > 0 ? "," : "") + csv_text(model.class_word(c));
  return line;
}

// The column of the model's response, by name or, where there are no names, by number. Where it was a file
// beside the old data, that is not the response of the new.
std::optional<std::string> response_of_new_data(const Model& model) {
  if (!model.response_name.empty()) return model.response_name;
  if (!model.response_file.empty()) return model.response_file;  // which is no column of any data
  if (model.target.empty() || model.target.find_first_not_of("0123456789") != std::string::npos) return {};
  return model.target;
}

// Then the first line of new data is one of numbers too, which would be taken for data.
bool has_numbers_as_names(const Model& model) {
  const auto is_numeric = [](const Coefficient& c) {
    double value = 0;
    return is_number(c.name, value);
  };
  double value = 0;
  return is_number(model.response_name, value) && std::ranges::all_of(model.coefficients, is_numeric);
}

// Where the model knows means, missing values become those, unless something else is asked for.
void take_missing_as_fitted(const Model& model, bool unasked, ReadOptions& options) {
  const bool knows_means = model.missing == Missing::kMean;
  if (unasked && knows_means) options.missing = Missing::kMean;
  if (options.missing == Missing::kDropColumns)
    throw InvalidArgument("missing: want refuse, mean or drop-rows for new data, got drop-columns");
  if (options.missing != Missing::kMean) return;
  if (!knows_means)
    throw InvalidArgument("missing: want mean only where the model was fitted with --missing mean, got it");
  for (std::size_t k = 0; k < model.coefficients.size(); ++k)
    options.fill.push_back({model.coefficients[k].column, model.coefficients[k].name, model.fill[k]});
  if (options.fill.empty()) options.fill.push_back({0, "", 0});  // no coefficient: nothing matters
}

// One line a row of the data, NA for rows that were left out.
std::string predictions_csv(const std::string& header, Index columns, const std::vector<std::string>& cells,
                            const IndexSet& left_out) {
  std::string csv = header + "\n";
  std::string missing = "NA";
  for (Index c = 1; c < columns; ++c) missing += ",NA";
  auto cell = cells.begin();
  auto skipped = left_out.begin();
  for (Index row = 0; cell != cells.end() || skipped != left_out.end(); ++row) {
    const bool skip = skipped != left_out.end() && *skipped == row;
    csv += (skip ? missing : *cell) + "\n";
    if (skip)
      ++skipped;
    else
      ++cell;
  }
  return csv;
}

int run(const PredictArgs& args) {
  check_outputs({args.output, args.json}, args.data.inputs({args.model.file}));
  const ChosenModel chosen = args.model.load();
  const Model& model = chosen.model;
  ReadOptions options = args.data.options();
  options.target_optional = args.data.target.empty() && args.data.response.empty();
  if (!options.target) {
    options.target = response_of_new_data(model);
    options.target_from_model = true;
  }
  if (options.header == Header::kAuto && has_numbers_as_names(model)) options.header = Header::kYes;
  if (options.drop.empty()) options.drop = model.dropped;
  if (!model.weights_column.empty()) options.drop.push_back(model.weights_column);
  take_rows_as_fitted(model, options);
  take_missing_as_fitted(model, args.data.missing.empty(), options);
  if (options.one_hot.empty()) options.one_hot = model.one_hot;
  options.features = model.p;
  for (const Coefficient& c : model.coefficients)
    if (!c.name.empty()) options.used.push_back(c.name);
  const Dataset data = args.data.read(options);
  const Eigen::MatrixXd predictor = predict(model, data);
  const std::string csv =
      predictions_csv(header_of(args.type, model), args.type == "class" ? 1 : predictor.cols(),
                      of_type(args.type, model, predictor), data.dropped_rows);
  std::string errors, summary;
  const bool complete = model.options.loss != "cox" || data.events.size() > 0;
  if (data.response.size() > 0 && complete) {
    std::vector<std::string> words;
    for (const Measured& one : measure(model, predictor, data)) {
      errors += fmt::format(",\"{}\":{}", one.field, json_number(one.value));
      if (!one.words.empty()) words.push_back(one.words);
    }
    summary = fmt::format("{}: alpha {:.7g}, {} non-zero coefficients; {} rows: {}\n", chosen.in_words,
                          model.alpha, model.coefficients.size(), predictor.rows(), joined(words));
  }
  Outputs outputs;
  outputs.add(args.output, csv);
  outputs.add(args.json,
              fmt::format("{{\"format\":\"tyto-prediction-1\",\"n\":{}{}}}\n", predictor.rows(), errors));
  if (!args.quiet) outputs.add_summary(summary);
  outputs.commit();
  return kDone;
}

}  // namespace

std::function<int()> define_predict(CLI::App& app) {
  auto args = std::make_shared<PredictArgs>();
  args->model.add(app);
  args->data.add(app);
  args->data.add_memory(app);
  args->data.add_offset(app);
  args->data.add_event(app);
  app.add_option("--output", args->output, "Where the predictions go, as CSV")->capture_default_str();
  app.add_option("--type", args->type,
                 "What is predicted: response (a number, a probability, an expected count, a relative "
                 "risk), link (the linear predictor) or class; of several classes the first two have a "
                 "column for each")
      ->capture_default_str()
      ->check(CLI::IsMember({"response", "link", "class"}));
  app.add_option("--json", args->json, "Write the errors as JSON: mse, rmse, mae, r2, or those of the loss");
  app.add_flag("--quiet", args->quiet, "No summary");
  app.footer(
      "Features are found by name where the model and the data have names, else by position. The response "
      "is\n"
      "optional. Example:\n  tyto predict model.json new.csv --output predictions.csv\n"
      "  tyto predict path.json new.csv --step 40\n"
      "  tyto predict cv.json new.csv                       the best model by cross-validation\n"
      "  tyto predict cv.json new.csv --choose one-se\n"
      "  tyto predict chosen.json new.csv --choose bic      where 'tyto path --choose bic' wrote it");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
