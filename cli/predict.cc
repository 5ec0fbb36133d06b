#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <optional>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/model_args.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

struct PredictArgs {
  ModelArgs model;
  std::string output = "-", json;
  DataArgs data;
  bool quiet = false;
};

struct Errors {
  double mse, mae, r2;
};
Errors measure(const Vector& prediction, const Vector& response) {
  const Vector residual = response - prediction;
  const double variance = (response.array() - response.mean()).square().mean(),
               mse = residual.squaredNorm() / static_cast<double>(residual.size());
  return {mse, residual.cwiseAbs().mean(), 1 - mse / variance};
}

// The column of the model's response, by name or, where there are no names, by number. Where it was a file
// beside the old data, that is not the response of the new.
std::optional<std::string> response_of_new_data(const Model& model) {
  if (!model.response_name.empty()) return model.response_name;
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

int run(const PredictArgs& args) {
  check_outputs({args.output, args.json}, args.data.inputs({args.model.file}));
  const ChosenModel chosen = args.model.load();
  const Model& model = chosen.model;
  ReadOptions options = args.data.options();
  options.target_optional = args.data.target.empty();
  if (!options.target) {
    options.target = response_of_new_data(model);
    options.target_from_model = true;
  }
  if (options.header == Header::kAuto && has_numbers_as_names(model)) options.header = Header::kYes;
  if (options.drop.empty()) options.drop = model.dropped;
  if (!model.weights_column.empty()) options.drop.push_back(model.weights_column);
  options.features = model.p;
  for (const Coefficient& c : model.coefficients)
    if (!c.name.empty()) options.used.push_back(c.name);
  const Dataset data = args.data.read(options);
  const Vector prediction = predict(model, data);

  std::string csv = "prediction\n";  // one line a row of the data, NA for rows that were left out
  auto dropped = data.dropped_rows.begin();
  for (Index row = 0, next = 0; next < prediction.size() || dropped != data.dropped_rows.end(); ++row) {
    const bool left_out = dropped != data.dropped_rows.end() && *dropped == row;
    csv += left_out ? "NA\n" : fmt::format("{}\n", prediction[next]);
    if (left_out)
      ++dropped;
    else
      ++next;
  }
  std::string errors, summary;
  if (data.response.size() > 0) {
    const Errors e = measure(prediction, data.response);
    errors = fmt::format(",\"mse\":{},\"rmse\":{},\"mae\":{},\"r2\":{}", json_number(e.mse),
                         json_number(std::sqrt(e.mse)), json_number(e.mae), json_number(e.r2));
    summary = fmt::format(
        "{}: alpha {:.7g}, {} non-zero coefficients; {} rows: RMSE {:.6g}, MAE {:.6g}, R2 {:.4g}\n",
        chosen.in_words, model.alpha, model.coefficients.size(), prediction.size(), std::sqrt(e.mse), e.mae,
        e.r2);
  }
  Outputs outputs;
  outputs.add(args.output, csv);
  outputs.add(args.json,
              fmt::format("{{\"format\":\"tyto-prediction-1\",\"n\":{}{}}}\n", prediction.size(), errors));
  outputs.commit();
  if (!args.quiet) print(stderr, summary);
  return kDone;
}

}  // namespace

std::function<int()> define_predict(CLI::App& app) {
  auto args = std::make_shared<PredictArgs>();
  args->model.add(app);
  args->data.add(app);
  app.add_option("--output", args->output, "Where the predictions go, as CSV")->capture_default_str();
  app.add_option("--json", args->json, "Write the errors (mse, rmse, mae, r2) as JSON");
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
