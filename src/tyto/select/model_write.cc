#include <algorithm>

#include "tyto/data/text.h"
#include "tyto/select/model.h"
#include "tyto/select/model_formats.h"
#include "tyto/select/option_json.h"

namespace tyto {
namespace {

// What all strengths of a path have in common.
Json setting(const Model& model, const char* format) {
  const RegressionOptions& o = model.options;
  Json json{{"format", format}, {"n", model.n}, {"p", model.p}};
  write_options(o, json);
  if (o.loss != "huber") json.erase("huber_delta");
  json.update({{"weights_column", model.weights_column},
               {"weights_file", model.weights_file},
               {"target", model.target},
               {"dropped", model.dropped},
               {"missing", kMissingWords.name(model.missing)},
               {"response", model.response_name}});
  write_options(FitOptions{model.tolerance, model.solver, model.screening}, json);
  if (!model.response_file.empty()) json["response_file"] = model.response_file;
  if (!model.offset_column.empty()) json["offset_column"] = model.offset_column;
  if (!model.offset_file.empty()) json["offset_file"] = model.offset_file;
  if (!model.event_column.empty()) json["event_column"] = model.event_column;
  if (!model.event_file.empty()) json["event_file"] = model.event_file;
  for (const OneHot& words : model.one_hot)
    json["one_hot"].push_back({{"column", words.column}, {"words", words.words}});
  if (!model.labels.empty())
    json["classes"] = model.labels;
  else if (!model.classes.empty())
    json["classes"] = model.classes;
  if (o.weight_values.size() > 0) json["weight_values"] = option_json(o.weight_values);
  return json;
}

// Of each cluster [mean, least] of |r|, null for one feature; and the clusters that are ties by coincidence.
Json correlations_json(const Model& model) {
  Json each = Json::array(), ties = Json::array();
  for (std::size_t k = 0; k < model.correlations.size(); ++k) {
    const auto& found = model.correlations[k];
    each.push_back(found ? Json{found->mean, found->least} : Json());
    if (found && found->coincidental()) ties.push_back(k);
  }
  return {{"cluster_correlation", std::move(each)}, {"coincidental_clusters", std::move(ties)}};
}

// What belongs to one strength.
Json outcome(const Model& model) {
  Json columns = Json::array(), clusters = Json::array(), names = Json::array(), classes = Json::array();
  for (const Coefficient& c : model.coefficients) {
    columns.push_back({c.column, c.value});
    classes.push_back(c.of_class);
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
            {"rounding", model.rounding},
            {"relative_gap", model.relative_gap},
            {"nonzeros", model.coefficients.size()},
            {"clusters", model.clusters()},
            {"intercept", model.has_several_classes() ? Json(model.intercepts) : Json(model.intercept())},
            {"coefficients", std::move(columns)},
            {"cluster_of", std::move(clusters)},
            {"names", std::move(names)}};
  if (model.from_moments) json["certificate_of"] = "moments";
  if (model.has_several_classes()) json["class_of"] = std::move(classes);
  if (model.missing == Missing::kMean) json["fill"] = model.fill;
  if (std::ssize(model.correlations) == model.clusters()) json.update(correlations_json(model));
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
          {"clusters", model.clusters()}, {"df", choice.freedom}, {"value", choice.value},
          {"rows", choice.rows}};
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

Json compared(const CrossValidation& cv) {
  Json json = Json::array();
  for (const Comparison& one : comparisons(cv))
    json.push_back(
        {{"name", one.name}, {"values", one.values}, {"errors", one.errors}, {"chosen", one.chosen}});
  return json;
}

// What the model file and the result of a cross-validation have in common, without the fits.
Json cv_document(const std::vector<Model>& models, const CrossValidation& cv, const char* format) {
  Json json = setting(models.at(0), format);
  json.update({{"measure", name(cv.measure)},
               {"folds", cv.folds},
               {"repeats", cv.repeats},
               {"compared", compared(cv)},
               {"warnings", warnings(models)},
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
  json["warnings"] = warnings({model});
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

// Of several classes, one more column says which.
std::string header(const Model& model) {
  return std::string(model.has_several_classes() ? "class," : "") + "column,name,coefficient,cluster\n";
}

std::string rows(const Model& model, const std::string& before) {
  std::string csv;
  for (const Coefficient& c : model.coefficients)
    csv += before + (model.has_several_classes() ? csv_text(model.class_word(c.of_class)) + "," : "") +
           std::to_string(c.column) + "," + csv_text(c.name) + "," + Json(c.value).dump() + "," +
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
  json["warnings"] = warnings(models);
  for (const Model& model : models) json["fits"].push_back(outcome(model));
  return dump(json);
}

std::string to_json(const std::vector<Model>& models, const Path& path,
                    const std::vector<Criteria>& criteria) {
  Json json = setting(models.at(0), kPathFormat);
  json.update(criterion_choices(models));
  json["warnings"] = warnings(models);
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
    fit["error"] = curve.error.at(k);
    fit["standard_error"] = curve.standard_error.at(k);
    fit.update(course(curve.path.steps[k].fit));
    json["fits"].push_back(std::move(fit));
  }
  return dump(json);
}

std::string coefficients_csv(const Model& model) { return header(model) + rows(model, ""); }

std::string coefficients_csv(const std::vector<Model>& models) {
  std::string csv = "step,alpha," + header(models.front());
  for (std::size_t k = 0; k < models.size(); ++k)
    csv += rows(models[k], std::to_string(k) + "," + Json(models[k].alpha).dump() + ",");
  return csv;
}

}  // namespace tyto
