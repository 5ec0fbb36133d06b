#include <algorithm>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/select/model.h"
#include "tyto/select/model_formats.h"
#include "tyto/select/option_json.h"

namespace tyto {
namespace {

void parse_relaxed(const Json& json, Model& model) {
  if (!json.contains("gamma")) return;
  RelaxedCoefficients both{number_at(json, "gamma"), number_at(json, "penalized_intercept"),
                           number_at(json, "relaxed_intercept"), numbers_at(json, "penalized"),
                           numbers_at(json, "relaxed")};
  if (!(both.gamma >= 0 && both.gamma <= 1)) throw DataError("expected gamma in [0, 1]");
  if (both.penalized.size() != model.coefficients.size() || both.relaxed.size() != model.coefficients.size())
    throw DataError("expected one penalized and one relaxed number for each coefficient");
  model.relaxed = std::move(both);
}

void parse_correlations(const Json& json, Model& model) {
  if (!json.contains("cluster_correlation")) return;
  for (const Json& pair : json["cluster_correlation"]) {
    model.correlations.emplace_back();
    if (pair.is_null()) continue;
    const ClusterCorrelation found{pair.at(0).get<double>(), pair.at(1).get<double>()};
    if (!(found.least >= 0 && found.least <= found.mean && found.mean <= 1))
      throw DataError("expected [mean, least] of |r|, from 0 to 1, or null as cluster_correlation");
    model.correlations.back() = found;
  }
}

Index size_at(const Json& json, const char* field) {
  const Json& size = json.at(field);
  if (!size.is_number_unsigned() || size == 0)
    throw DataError(std::string("expected a whole number > 0 as ") + field + ", got " +
                    size.dump().substr(0, 40));
  return whole_number_at(json, field);
}

RegressionOptions parse_options(const Json& json, Index p) {
  RegressionOptions o;
  read_options(json, o);
  for (const Index column : o.unpenalized)
    if (column < 0 || column >= p || std::ranges::count(o.unpenalized, column) > 1 ||
        std::ssize(o.unpenalized) == p)
      throw DataError("expected some of the columns below p as unpenalized, each once, got " +
                      std::to_string(column));
  o.relative_to = RelativeTo::kAbsolute;
  o.strength = number_at(json, "alpha");
  if (json.contains("weight_values")) {
    const std::vector<double> values = numbers_at(json, "weight_values");
    o.weight_values = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  }
  return o;
}

void parse_coefficients(const Json& json, Model& model) {
  const std::vector<Index> clusters = whole_numbers_at(json, "cluster_of");
  const auto names = json.at("names").get<std::vector<std::string>>();
  const auto coefficients = entries_at(json, "coefficients");
  if (clusters.size() != coefficients.size() || (!names.empty() && names.size() != coefficients.size()))
    throw DataError("expected one cluster and one name for each coefficient");
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    const auto [column, value] = coefficients[k];
    if (column < 0 || column >= model.p || (k > 0 && column <= coefficients[k - 1].first))
      throw DataError("expected coefficients of increasing columns below p, got column " +
                      std::to_string(column));
    if (clusters[k] < -1 || clusters[k] >= model.p)
      throw DataError("expected clusters from -1 to p - 1, got " + std::to_string(clusters[k]));
    model.coefficients.push_back({column, value, clusters[k], names.empty() ? "" : names[k]});
  }
}

Model parse(const Json& json) {
  Model model;
  model.n = size_at(json, "n");
  model.p = size_at(json, "p");
  model.options = parse_options(json, model.p);
  model.alpha = model.options.strength;
  model.weights_column = json.value("weights_column", "");
  model.weights_file = json.value("weights_file", "");
  FitOptions fit;
  read_options(json, fit);
  model.solver = fit.solver;
  model.screening = fit.screening;
  model.tolerance = fit.tolerance;
  model.status = json.at("status").get<std::string>();
  model.primal = number_at(json, "primal");
  model.dual = number_at(json, "dual");
  model.gap = number_at(json, "gap");
  model.rounding = number_at(json, "rounding", 0);  // of models that are older than the field
  model.relative_gap = number_at(json, "relative_gap");
  model.target = json.at("target").get<std::string>();
  model.dropped = json.at("dropped").get<std::vector<std::string>>();
  model.missing_dropped = json.at("missing") == "drop-rows";
  model.response_name = json.at("response").get<std::string>();
  model.intercept = number_at(json, "intercept");
  parse_coefficients(json, model);
  parse_relaxed(json, model);
  parse_correlations(json, model);
  if (json.contains("sigma")) {
    model.noise = {number_at(json, "sigma")};
    if (json.contains("sigma_status")) {
      model.noise->status = parse_noise_status(json["sigma_status"].get<std::string>());
      model.noise->iterations = whole_number_at(json, "sigma_iterations");
    }
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
                                      number_at(json[key], "df"), number_at(json[key], "value"),
                                      number_at(json[key], "rows", static_cast<double>(models[step].n))});
  }
}

}  // namespace

std::vector<Model> load_models(const std::string& path) {
  Json json = parse_json(read_whole(path), path);
  if (!json.is_object()) throw DataError(path + ": expected a tyto model (JSON), got something else");
  const std::string format =
      json.value("format", Json()).is_string() ? json["format"].get<std::string>() : "";
  const bool one = format == kModelFormat || format == kFitFormat;
  const bool chosen = format == kCvModelFormat || format == kCvFormat;
  if (!one && !chosen && format != kPathModelFormat && format != kPathFormat)
    throw DataError(path + ": expected format " + kModelFormat + ", " + kFitFormat + ", " + kPathModelFormat +
                    ", " + kPathFormat + ", " + kCvModelFormat + " or " + kCvFormat + ", got '" +
                    format.substr(0, 40) + "'");
  try {
    if (one && !json.contains("fits")) return {parse(json)};
    const Json fits = std::move(json.at("fits"));
    for (const char* key : {"fits", "curves", "scores"}) json.erase(key);
    std::vector<Model> models;
    if (!fits.is_array() || fits.empty()) throw DataError("expected at least one strength in fits, got none");
    if (one) throw DataError("expected no fits in the file of one model, got some");
    for (const Json& fit : fits) {
      Json whole = fit;
      whole.update(json);  // what holds for all strengths, none can deny
      models.push_back(parse(whole));
    }
    if (chosen)
      mark(json, models);
    else
      mark_by_criteria(json, models);
    return models;
  } catch (const Json::exception& error) {
    throw DataError(path + ": damaged model: " + json_fault(error));
  } catch (const DataError& error) {
    throw DataError(path + ": damaged model: " + error.what());
  }
}

}  // namespace tyto
