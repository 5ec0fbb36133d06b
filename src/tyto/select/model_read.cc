#include <algorithm>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/select/model.h"
#include "tyto/select/model_formats.h"

namespace tyto {
namespace {

void parse_relaxed(const Json& json, Model& model) {
  if (!json.contains("gamma")) return;
  RelaxedCoefficients both{json["gamma"].get<double>(), json.at("penalized_intercept").get<double>(),
                           json.at("relaxed_intercept").get<double>(),
                           json.at("penalized").get<std::vector<double>>(),
                           json.at("relaxed").get<std::vector<double>>()};
  if (!(both.gamma >= 0 && both.gamma <= 1)) throw DataError("expected gamma in [0, 1]");
  if (both.penalized.size() != model.coefficients.size() || both.relaxed.size() != model.coefficients.size())
    throw DataError("expected one penalized and one relaxed number for each coefficient");
  model.relaxed = std::move(both);
}

Model parse(const Json& json) {
  Model model;
  for (const char* size : {"n", "p"})
    if (!json.at(size).is_number_unsigned() || json.at(size) == 0)
      throw DataError(std::string("expected a whole number > 0 as ") + size + ", got " +
                      json.at(size).dump().substr(0, 40));
  model.n = json.at("n").get<Index>(), model.p = json.at("p").get<Index>();
  RegressionOptions& o = model.options;
  o.weights = json.at("weights").get<std::string>();
  o.q = json.at("q").get<double>(), o.slope = json.value("slope", 1.0);
  o.intercept = json.at("fit_intercept").get<bool>(), o.standardize = json.at("standardize").get<bool>();
  o.unpenalized = json.value("unpenalized", IndexSet());
  for (const Index column : o.unpenalized)
    if (column < 0 || column >= model.p || std::ranges::count(o.unpenalized, column) > 1 ||
        std::ssize(o.unpenalized) == model.p)
      throw DataError("expected some of the columns below p as unpenalized, each once, got " +
                      std::to_string(column));
  o.ridge = json.value("ridge", 0.0), o.nonnegative = json.value("nonnegative", false);
  model.weights_column = json.value("weights_column", ""),
  model.weights_file = json.value("weights_file", "");
  o.relative_to = RelativeTo::kAbsolute;
  o.strength = model.alpha = json.at("alpha").get<double>();
  if (json.contains("weight_values")) {
    const auto values = json["weight_values"].get<std::vector<double>>();
    o.weight_values = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  }
  model.solver = json.at("solver").get<std::string>(),
  model.screening = json.at("screening").get<std::string>();
  model.status = json.at("status").get<std::string>(), model.tolerance = json.at("tolerance").get<double>();
  model.primal = json.at("primal").get<double>(), model.dual = json.at("dual").get<double>();
  model.gap = json.at("gap").get<double>(), model.relative_gap = json.at("relative_gap").get<double>();
  model.target = json.at("target").get<std::string>();
  model.dropped = json.at("dropped").get<std::vector<std::string>>();
  model.missing_dropped = json.at("missing") == "drop-rows";
  model.response_name = json.at("response").get<std::string>();
  model.intercept = json.at("intercept").get<double>();
  const auto clusters = json.at("cluster_of").get<std::vector<Index>>();
  const auto names = json.at("names").get<std::vector<std::string>>();
  const auto coefficients = json.at("coefficients").get<std::vector<std::pair<Index, double>>>();
  if (clusters.size() != coefficients.size() || (!names.empty() && names.size() != coefficients.size()))
    throw DataError("expected one cluster and one name for each coefficient");
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    const auto [column, value] = coefficients[k];
    if (column < 0 || column >= model.p || (k > 0 && column <= coefficients[k - 1].first))
      throw DataError("expected coefficients of increasing columns below p, got column " +
                      std::to_string(column));
    model.coefficients.push_back({column, value, clusters[k], names.empty() ? "" : names[k]});
  }
  parse_relaxed(json, model);
  if (json.contains("sigma")) {
    model.noise = {json["sigma"].get<double>()};
    if (json.contains("sigma_status"))
      model.noise->status = parse_noise_status(json["sigma_status"].get<std::string>()),
      model.noise->iterations = json.at("sigma_iterations").get<Index>();
  }
  return model;
}

// Which of the models this choice is.
std::size_t chosen_step(const Json& json, const std::string& key, std::size_t models) {
  const Json& step = json.at(key).at("step");
  if (!step.is_number_unsigned() || step >= models)
    throw DataError("expected the number of a strength as step of " + key);
  return step.get<std::size_t>();
}

// The models that cross-validation chose.
void mark(const Json& json, std::vector<Model>& models) {
  models[chosen_step(json, "best", models.size())].best = true;
  models[chosen_step(json, "one_se", models.size())].one_se = true;
}

// The models of a path that a criterion chose.
void mark_by_criteria(const Json& json, std::vector<Model>& models) {
  for (const std::string& key : criterion_names()) {
    if (!json.contains(key)) continue;
    const std::size_t step = chosen_step(json, key, models.size());
    models[step].chosen_by.push_back({parse_criterion(key), static_cast<Index>(step),
                                      json[key].at("df").get<double>(), json[key].at("value").get<double>()});
  }
}

}  // namespace

std::vector<Model> load_models(const std::string& path) {
  Json json = Json::parse(read_whole(path), nullptr, false);
  if (json.is_discarded() || !json.is_object())
    throw DataError(path + ": expected a tyto model (JSON), got something else");
  const std::string format =
      json.value("format", Json()).is_string() ? json["format"].get<std::string>() : "";
  const bool one = format == kModelFormat || format == kFitFormat;
  const bool chosen = format == kCvModelFormat || format == kCvFormat;
  if (!one && !chosen && format != kPathModelFormat && format != kPathFormat)
    throw DataError(path + ": expected format " + kModelFormat + ", " + kFitFormat + ", " + kPathModelFormat +
                    ", " + kPathFormat + ", " + kCvModelFormat + " or " + kCvFormat + ", got '" +
                    format.substr(0, 40) + "'");
  try {
    if (one) return {parse(json)};
    const Json fits = std::move(json.at("fits"));
    for (const char* key : {"fits", "curves", "scores"}) json.erase(key);
    std::vector<Model> models;
    for (const Json& fit : fits) {
      Json whole = fit;
      whole.update(json);  // what holds for all strengths, none can deny
      models.push_back(parse(whole));
    }
    if (models.empty()) throw DataError("expected at least one strength in fits, got none");
    if (chosen)
      mark(json, models);
    else
      mark_by_criteria(json, models);
    return models;
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.out_of_range.403] key 'n' not found"
    throw DataError(path + ": damaged model: " + what.substr(std::min(what.size(), what.find("] ") + 2)));
  } catch (const DataError& error) {
    throw DataError(path + ": damaged model: " + error.what());
  }
}

}  // namespace tyto
