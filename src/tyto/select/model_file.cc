// Models as JSON, with the names of docs/cli.md: the model file and the result of a fit are one document, and
// those of a path hold an array of what differs from strength to strength.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/select/model.h"

namespace tyto {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kModelFormat = "tyto-model-1";
constexpr const char* kFitFormat = "tyto-fit-1";
constexpr const char* kPathModelFormat = "tyto-path-model-1";
constexpr const char* kPathFormat = "tyto-path-1";
constexpr const char* kCvModelFormat = "tyto-cv-model-1";
constexpr const char* kCvFormat = "tyto-cv-1";

// What all strengths of a path have in common.
Json setting(const Model& model, const char* format) {
  const RegressionOptions& o = model.options;
  Json json{{"format", format},
            {"n", model.n},
            {"p", model.p},
            {"loss", "gaussian"},
            {"weights", o.weights},
            {"q", o.q},
            {"slope", o.slope},
            {"fit_intercept", o.intercept},
            {"standardize", o.standardize},
            {"unpenalized", o.unpenalized},
            {"ridge", o.ridge},
            {"nonnegative", o.nonnegative},
            {"weights_column", model.weights_column},
            {"weights_file", model.weights_file},
            {"target", model.target},
            {"dropped", model.dropped},
            {"missing", model.missing_dropped ? "drop-rows" : "refuse"},
            {"response", model.response_name},
            {"solver", model.solver},
            {"screening", model.screening},
            {"tolerance", model.tolerance}};
  if (o.weight_values.size() > 0)
    json["weight_values"] = std::vector<double>(o.weight_values.begin(), o.weight_values.end());
  return json;
}

// What belongs to one strength.
Json outcome(const Model& model) {
  Json columns = Json::array(), clusters = Json::array(), names = Json::array();
  for (const Coefficient& c : model.coefficients) {
    columns.push_back({c.column, c.value});
    clusters.push_back(c.cluster);
    names.push_back(c.name);
  }
  if (std::ranges::all_of(model.coefficients, [](const Coefficient& c) { return c.name.empty(); }))
    names.clear();
  Json json{{"alpha", model.alpha},
            {"status", model.status},
            {"primal", model.primal},
            {"dual", model.dual},
            {"gap", model.gap},
            {"relative_gap", model.relative_gap},
            {"nonzeros", model.coefficients.size()},
            {"clusters", model.clusters()},
            {"intercept", model.intercept},
            {"coefficients", std::move(columns)},
            {"cluster_of", std::move(clusters)},
            {"names", std::move(names)}};
  if (model.relaxed)
    json.update({{"gamma", model.relaxed->gamma},
                 {"penalized_intercept", model.relaxed->penalized_intercept},
                 {"penalized", model.relaxed->penalized},
                 {"relaxed_intercept", model.relaxed->relaxed_intercept},
                 {"relaxed", model.relaxed->relaxed}});
  if (model.noise) {
    json["sigma"] = model.noise->sigma;
    if (model.noise->status)
      json.update(
          {{"sigma_iterations", model.noise->iterations}, {"sigma_status", name(*model.noise->status)}});
  }
  return json;
}

// How the solver got there.
Json course(const Fit& fit) {
  Json trace = Json::array();
  for (const TracePoint& at : fit.trace)
    trace.push_back({{"epoch", at.epoch},
                     {"seconds", at.seconds},
                     {"primal", at.primal},
                     {"gap", at.gap},
                     {"active", at.active}});
  return {{"epochs", fit.epochs},           {"passes", fit.passes},     {"seconds", fit.seconds},
          {"cpu_seconds", fit.cpu_seconds}, {"screened", fit.screened}, {"trace", std::move(trace)}};
}

// The choices by criteria, each under its name.
Json criterion_choices(const std::vector<Model>& models) {
  Json json = Json::object();
  for (const Model& model : models)
    for (const CriterionChoice& choice : model.chosen_by)
      json[std::string(name(choice.criterion))] = {
          {"step", choice.step},          {"alpha", model.alpha}, {"nonzeros", model.coefficients.size()},
          {"clusters", model.clusters()}, {"df", choice.freedom}, {"value", choice.value}};
  return json;
}

Json criteria_json(const Criteria& of) {
  return {{"df", of.freedom}, {"aic", of.aic}, {"bic", of.bic}, {"cp", of.cp ? Json(*of.cp) : Json()}};
}

// What a choice by cross-validation is.
Json choice(const std::vector<Model>& models, const CrossValidation& cv, Index step) {
  const auto k = static_cast<std::size_t>(step);
  return {{"step", step},
          {"alpha", models.at(k).alpha},
          {"q", cv.chosen().q},
          {"slope", cv.chosen().slope},
          {"gamma", cv.chosen().gamma},
          {"nonzeros", models[k].coefficients.size()},
          {"error", cv.chosen().error.at(k)},
          {"standard_error", cv.chosen().standard_error.at(k)}};
}

// What the model file and the result of a cross-validation have in common, without the fits.
Json cv_document(const std::vector<Model>& models, const CrossValidation& cv, const char* format) {
  Json json = setting(models.at(0), format);
  json.update({{"measure", name(cv.measure)},
               {"folds", cv.folds},
               {"repeats", cv.repeats},
               {"best", choice(models, cv, cv.best)},
               {"one_se", choice(models, cv, cv.one_se)}});
  return json;
}

Json curve_json(const CvCurve& curve, const CvErrors& found) {
  std::vector<double> alphas;
  for (const PathStep& step : curve.path.steps) alphas.push_back(step.alpha);
  return {{"q", curve.q},     {"slope", curve.slope}, {"gamma", found.gamma},
          {"alphas", alphas}, {"error", found.error}, {"standard_error", found.standard_error}};
}

// Those of one gamma of a fold.
Json score_json(const FoldScore& score, const CvCurve& curve, std::size_t gamma) {
  Json statuses = Json::array();
  for (const Status status : score.statuses) statuses.push_back(name(status));
  const auto begin = score.errors.begin() + static_cast<std::ptrdiff_t>(gamma * curve.path.steps.size());
  return {{"q", curve.q},
          {"slope", curve.slope},
          {"gamma", curve.by_gamma.at(gamma).gamma},
          {"repeat", score.repeat},
          {"fold", score.fold},
          {"rows", score.rows},
          {"errors", std::vector<double>(begin, begin + std::ssize(curve.path.steps))},
          {"relative_gaps", score.relative_gaps},
          {"statuses", std::move(statuses)}};
}

Json document(const Model& model, const char* format) {
  Json json = setting(model, format);
  json.update(outcome(model));
  return json;
}

// Names come from files and need not be UTF-8: bytes that are not are replaced, so that the document stays
// valid.
std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One field a line, and one strength or fold a line.
std::string dump(const Json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "{\n \"" : ",\n \"") + key + "\": ";
    if (key != "fits" && key != "scores" && key != "curves") {
      text += line(value);
      continue;
    }
    for (std::size_t k = 0; k < value.size(); ++k) text += (k == 0 ? "[\n  " : ",\n  ") + line(value[k]);
    text += "\n ]";
  }
  return text + "\n}\n";
}

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

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

constexpr const char* kColumns = "column,name,coefficient,cluster\n";

std::string rows(const Model& model, const std::string& before) {
  std::string csv;
  for (const Coefficient& c : model.coefficients)
    csv += before + std::to_string(c.column) + "," + quoted(c.name) + "," + Json(c.value).dump() + "," +
           std::to_string(c.cluster) + "\n";
  return csv;
}

}  // namespace

std::string to_json(const Model& model) { return dump(document(model, kModelFormat)); }

std::string to_json(const Model& model, const Fit& fit) {
  Json json = document(model, kFitFormat);
  json.update(course(fit));
  return dump(json);
}

std::string to_json(const std::vector<Model>& models) {
  Json json = setting(models.at(0), kPathModelFormat);
  json.update(criterion_choices(models));
  for (const Model& model : models) json["fits"].push_back(outcome(model));
  return dump(json);
}

std::string to_json(const std::vector<Model>& models, const Path& path,
                    const std::vector<Criteria>& criteria) {
  Json json = setting(models.at(0), kPathFormat);
  json.update(criterion_choices(models));
  json.update({{"alpha_max", path.alpha_max},
               {"steps", path.alphas.size()},
               {"ratio", path.ratio},
               {"stopped_by", name(path.stopped_by)},
               {"passes", path.passes},
               {"seconds", path.seconds},
               {"cpu_seconds", path.cpu_seconds}});
  for (std::size_t k = 0; k < models.size(); ++k) {
    Json fit = outcome(models[k]);
    fit["explained"] = path.steps.at(k).explained;
    fit.update(criteria_json(criteria.at(k)));
    fit.update(course(path.steps[k].fit));
    json["fits"].push_back(std::move(fit));
  }
  return dump(json);
}

std::string model_json(const std::vector<Model>& models, const CrossValidation& cv) {
  Json json = cv_document(models, cv, kCvModelFormat);
  for (const Model& model : models) json["fits"].push_back(outcome(model));
  return dump(json);
}

std::string to_json(const std::vector<Model>& models, const CrossValidation& cv) {
  const CvCurve& curve = cv.chosen();
  Json json = cv_document(models, cv, kCvFormat);
  json.update({{"alpha_max", curve.path.alpha_max},
               {"steps", curve.path.alphas.size()},
               {"ratio", curve.path.ratio},
               {"stopped_by", name(curve.path.stopped_by)},
               {"worst_fold_gap", cv.worst_gap()},
               {"passes", cv.passes},
               {"seconds", cv.seconds},
               {"cpu_seconds", cv.cpu_seconds}});
  for (const CvCurve& one : cv.curves)
    for (const CvErrors& found : one.by_gamma) json["curves"].push_back(curve_json(one, found));
  for (const FoldScore& score : cv.scores) {
    const CvCurve& of = cv.curves.at(static_cast<std::size_t>(score.shape));
    for (std::size_t gamma = 0; gamma < of.by_gamma.size(); ++gamma)
      json["scores"].push_back(score_json(score, of, gamma));
  }
  for (std::size_t k = 0; k < models.size(); ++k) {
    Json fit = outcome(models[k]);
    fit["explained"] = curve.path.steps.at(k).explained;
    fit["error"] = curve.error.at(k), fit["standard_error"] = curve.standard_error.at(k);
    fit.update(course(curve.path.steps[k].fit));
    json["fits"].push_back(std::move(fit));
  }
  return dump(json);
}

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

std::string coefficients_csv(const Model& model) { return kColumns + rows(model, ""); }

std::string coefficients_csv(const std::vector<Model>& models) {
  std::string csv = std::string("step,alpha,") + kColumns;
  for (std::size_t k = 0; k < models.size(); ++k)
    csv += rows(models[k], std::to_string(k) + "," + Json(models[k].alpha).dump() + ",");
  return csv;
}

}  // namespace tyto
