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
  const auto classes = std::ssize(model.intercepts);
  std::vector<Index> class_of = whole_numbers_at(json, "class_of");
  if (classes == 1) class_of.assign(coefficients.size(), 0);
  if (class_of.size() != coefficients.size()) throw DataError("expected one class for each coefficient");
  if (clusters.size() != coefficients.size() || (!names.empty() && names.size() != coefficients.size()))
    throw DataError("expected one cluster and one name for each coefficient");
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    const auto [column, value] = coefficients[k];
    const Index of_class = class_of[k];
    if (of_class < 0 || of_class >= classes)
      throw DataError("expected classes by number as class_of, got " + std::to_string(of_class));
    const bool rises =
        k == 0 || std::pair(coefficients[k - 1].first, class_of[k - 1]) < std::pair(column, of_class);
    if (column < 0 || column >= model.p || !rises)
      throw DataError("expected coefficients of increasing columns below p, got column " +
                      std::to_string(column));
    if (clusters[k] < -1 || clusters[k] / classes >= model.p)
      throw DataError("expected clusters from -1 to p - 1, got " + std::to_string(clusters[k]));
    model.coefficients.push_back({column, value, clusters[k], names.empty() ? "" : names[k], of_class});
  }
}

// Numbers, or words, which stand for 0, 1, ...; and an intercept for each of more than two.
void parse_classes(const Json& json, Model& model) {
  if (!json.contains("classes")) return;
  const Json& classes = json["classes"];
  const bool words = classes.is_array() && !classes.empty() && classes[0].is_string();
  if (words) model.labels = classes.get<std::vector<std::string>>();
  if (!words) model.classes = numbers_at(json, "classes");
  for (std::size_t k = 0; k < model.labels.size(); ++k) model.classes.push_back(static_cast<double>(k));
  std::vector<std::string> known;
  for (Index k = 0; k < std::ssize(model.classes); ++k) known.push_back(model.class_word(k));
  std::ranges::sort(known);
  const bool many = find_loss(model.options.loss).labels == LossRow::Labels::kMany;
  if (!known.empty() && (many ? known.size() < 3 : known.size() != 2))
    throw DataError(many ? "expected three classes or more" : "expected two classes");
  if (std::ranges::adjacent_find(known) != known.end()) throw DataError("expected classes that differ");
}

void parse_intercepts(const Json& json, Model& model) {
  const bool many = find_loss(model.options.loss).labels == LossRow::Labels::kMany;
  if (many && model.classes.empty()) throw DataError("expected classes");
  model.intercepts = many ? numbers_at(json, "intercept") : std::vector<double>{number_at(json, "intercept")};
  if (many && model.intercepts.size() != model.classes.size())
    throw DataError("expected an intercept for each class");
}

// How columns were read: what became of missing values and of words.
void parse_columns(const Json& json, Model& model) {
  const auto missing = kMissingWords.find(json.at("missing").get<std::string>());
  if (!missing) throw DataError("expected " + joined(kMissingWords.all()) + " as missing");
  model.missing = *missing;
  if (!json.contains("one_hot")) return;
  for (const Json& one : json["one_hot"]) {
    OneHot words{one.at("column").get<std::string>(), one.at("words").get<std::vector<std::string>>()};
    if (words.words.empty() || !std::ranges::is_sorted(words.words) ||
        std::ranges::adjacent_find(words.words) != words.words.end())
      throw DataError("expected words in alphabetical order, each once, in one_hot");
    model.one_hot.push_back(std::move(words));
  }
}

void parse_fill(const Json& json, Model& model) {
  if (model.missing != Missing::kMean) return;
  model.fill = numbers_at(json, "fill");
  if (model.fill.size() != model.coefficients.size())
    throw DataError("expected one number of fill for each coefficient");
}

Model parse(const Json& json) {
  Model model;
  model.n = size_at(json, "n");
  model.p = size_at(json, "p");
  model.options = parse_options(json, model.p);
  model.alpha = model.options.strength;
  model.weights_column = json.value("weights_column", "");
  model.weights_file = json.value("weights_file", "");
  model.offset_column = json.value("offset_column", "");
  model.offset_file = json.value("offset_file", "");
  model.event_column = json.value("event_column", "");
  model.event_file = json.value("event_file", "");
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
  model.from_moments = json.value("certificate_of", "") == "moments";
  model.target = json.at("target").get<std::string>();
  model.response_file = json.value("response_file", "");
  model.dropped = json.at("dropped").get<std::vector<std::string>>();
  parse_columns(json, model);
  model.response_name = json.at("response").get<std::string>();
  parse_classes(json, model);
  parse_intercepts(json, model);
  parse_coefficients(json, model);
  parse_fill(json, model);
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
