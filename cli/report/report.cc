// The data of a report: what its charts and tables need, and no more than a page can hold.
#include "cli/report/report.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/report/quality.h"
#include "cli/report/sample.h"
#include "cli/report/words.h"
#include "tyto/base/version.h"

namespace tyto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index kTracePoints = 3000;
constexpr std::size_t kNameBytes = 1'500'000, kShortestName = 24, kLongestName = 400;

template <class Numbers>
Json rounded_all(const Numbers& numbers) {
  Json json = Json::array();
  for (const double value : numbers) json.push_back(rounded(value));
  return json;
}

std::string shortened(const std::string& name, std::size_t limit) {
  if (name.size() <= limit) return name;
  const auto inside_character = [&](std::size_t at) { return (name[at] & '\xc0') == '\x80'; };
  std::size_t end = limit;
  while (end > 0 && inside_character(end)) --end;
  return name.substr(0, end) + "\u2026";
}

// Columns of the problem, as the data counts them.
IndexSet of_the_data(const Report& report, IndexSet columns) {
  for (Index& column : columns) column = report.regression.coefficient(column) / report.regression.predictors;
  return columns;
}

Json names_of(const Report& report, const IndexSet& columns) {
  Json json = Json::array();
  if (report.data.names.empty()) return json;
  const std::size_t limit =
      std::clamp(kNameBytes / std::max<std::size_t>(1, columns.size()), kShortestName, kLongestName);
  for (const Index column : columns)
    json.push_back(shortened(report.data.names[static_cast<std::size_t>(column)], limit));
  return json;
}

Json features(const Report& report, const IndexSet& columns) {
  Json scales = Json::array();
  for (const Index column : columns)
    scales.push_back(rounded(report.regression.problem.design.scale(column)));
  const IndexSet numbers = of_the_data(report, columns);
  Json names = names_of(report, numbers);
  if (const Index classes = report.regression.predictors; classes > 1)
    for (std::size_t k = 0; k < numbers.size(); ++k) {  // of which class, too
      if (names.size() == k) names.push_back(fmt::format("column {}", numbers[k]));
      names[k] = fmt::format("{} ({})", names[k].get<std::string>(),
                             report.models.front().class_word(columns[k] % classes));
    }
  return {{"columns", numbers}, {"names", std::move(names)}, {"scales", std::move(scales)}};
}

// [magnitude, feature, feature, ...]: a feature is its place in `columns`, or -1 - place where its
// coefficient is below 0.
Json groups(const std::vector<Group>& all, const IndexSet& columns) {
  Json json = Json::array();
  for (const Group& group : all) {
    Json members = Json::array({rounded(group.magnitude)});
    for (const Member& member : group.listed) {
      const Index place = std::ranges::lower_bound(columns, member.column) - columns.begin();
      members.push_back(member.positive ? place : -1 - place);
    }
    json.push_back(std::move(members));
  }
  return json;
}

// Their coefficients, in the order of the options.
Json unpenalized(const Model& model) {
  Json json = Json::array();
  for (const Index column : model.options.unpenalized) {
    const auto found = std::ranges::find(model.coefficients, column, &Coefficient::column);
    json.push_back(found == model.coefficients.end() ? 0.0 : rounded(found->value));
  }
  return json;
}

// [group, mean, least] of |r|, for groups of several features. Groups of a relaxed fit need not stand in the
// order of the clusters: a member says which cluster it is.
Json correlations(const Report& report, const Model& model, const std::vector<Group>& listed) {
  Json json = Json::array();
  for (std::size_t k = 0; k < listed.size(); ++k) {
    const Index classes = report.regression.predictors;
    const Index number = report.regression.coefficient(listed[k].listed.front().column);
    const auto number_of = [&](const Coefficient& c) { return c.column * classes + c.of_class; };
    const auto found = std::ranges::lower_bound(model.coefficients, number, {}, number_of);
    if (found == model.coefficients.end() || number_of(*found) != number) continue;
    if (found->cluster < 0 || found->cluster >= std::ssize(model.correlations)) continue;
    if (const auto& of = model.correlations[static_cast<std::size_t>(found->cluster)])
      json.push_back({k, rounded(of->mean), rounded(of->least)});
  }
  return json;
}

Json fit(const Report& report, std::size_t k, const std::vector<Group>& listed, const IndexSet& columns) {
  const PathStep& step = report.path.steps[k];
  const Model& model = report.models[k];
  const double total = report.regression.problem.design.total_weight();
  const bool squares = model.options.loss == "gaussian";
  Json json{
      {"alpha", step.alpha},
      {"status", model.status},
      {"primal", model.primal},
      {"dual", model.dual},
      {"gap", model.gap},
      {"rounding", step.fit.certificate.rounding},
      {"intercept",
       model.has_several_classes() ? rounded_all(model.intercepts) : Json(rounded(model.intercept()))},
      {"unpenalized", unpenalized(model)},
      {"explained", rounded(step.explained)},
      {squares ? "rmse" : "deviance", rounded(squares ? step.residual_norm / std::sqrt(total)
                                                      : step.residual_norm * step.residual_norm / total)},
      {"nonzeros", step.nonzeros()},
      {"clusters", step.clusters},
      {"epochs", step.fit.epochs},
      {"seconds", rounded(step.fit.seconds)},
      {"screened", step.fit.screened},
      {"groups", groups(listed, columns)},
      {"correlations", correlations(report, model, listed)}};
  if (!listed.empty() && std::ssize(listed.back().listed) < listed.back().size)
    json["last_group"] = {listed.back().size, listed.back().positive};  // of which not all are listed
  return json;
}

Json lines(const Path& path, const IndexSet& drawn, const IndexSet& columns) {
  Json places = Json::array(), values = Json::array();
  for (const Index column : drawn) {
    places.push_back(std::ranges::lower_bound(columns, column) - columns.begin());
    Json line = Json::array();
    for (const PathStep& step : path.steps) {
      const double value = step.beta.coeff(column);
      value == 0 ? line.push_back(0) : line.push_back(rounded(value));
    }
    values.push_back(std::move(line));
  }
  return {{"features", std::move(places)}, {"values", std::move(values)}};
}

Json rows(const Report& report) {
  const IndexSet drawn = drawn_rows(report.data, report.regression, report.path);
  const auto at = [&](const Vector& v) {
    Json json = Json::array();
    for (const Index row : drawn) json.push_back(rounded(v[row]));
    return json;
  };
  Json predictions = Json::array();
  for (const PathStep& step : report.path.steps)
    predictions.push_back(at(predicted(report.data, report.regression, step)));
  return {{"rows", drawn},
          {"observed", at(observed(report.data, report.regression))},
          {"predicted", std::move(predictions)}};
}

// The epochs of all strengths, one after the other; of very many, some at even distances and the last of
// each.
Json trace(const Path& path) {
  Index epochs = 0;
  for (const PathStep& step : path.steps) epochs += std::ssize(step.fit.trace);
  const Index stride = 1 + epochs / kTracePoints;
  Json seconds = Json::array(), gaps = Json::array(), active = Json::array(), steps = Json::array();
  double before = 0;
  Index seen = 0;
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    const Fit& fit = path.steps[k].fit;
    for (const TracePoint& at : fit.trace) {
      if (seen++ % stride != 0 && &at != &fit.trace.back()) continue;
      seconds.push_back(rounded(before + at.seconds));
      gaps.push_back(rounded(at.primal > 0 ? std::max(0.0, at.gap) / at.primal : 0));
      active.push_back(at.active);
      steps.push_back(k);
    }
    before += fit.seconds;
  }
  return {{"epochs", epochs},
          {"seconds", std::move(seconds)},
          {"relative_gap", std::move(gaps)},
          {"active", std::move(active)},
          {"step", std::move(steps)}};
}

Json errors(const ReportedErrors& found) {
  Json folds = Json::array();
  for (const auto& fold : found.folds) folds.push_back(rounded_all(fold));
  Json compared = Json::array();
  for (const Comparison& one : found.compared)
    compared.push_back({{"name", one.name},
                        {"values", one.values},
                        {"errors", rounded_all(one.errors)},
                        {"chosen", one.chosen}});
  return {{"measure", found.measure},
          {"mean", rounded_all(found.mean)},
          {"standard_error", rounded_all(found.standard_error)},
          {"folds", std::move(folds)},
          {"compared", std::move(compared)},
          {"repeats", found.repeats},
          {"best", found.best},
          {"one_se", found.within_one_standard_error}};
}

// The strengths that criteria chose, by name.
Json choices(const std::vector<Model>& models) {
  Json json = Json::object();
  for (const Model& model : models)
    for (const CriterionChoice& choice : model.chosen_by)
      json[std::string(name(choice.criterion))] = choice.step;
  return json;
}

// Where fits are relaxed, pictures show what predicts.
Path shown(Path path) {
  for (PathStep& step : path.steps) step.beta = step.predicting(), step.relaxation.reset();
  return path;
}

Json setting(const Report& report) {
  const Model& model = report.models.front();
  const Path& path = report.path;
  const RegressionOptions& o = model.options;
  return {{"format", "tyto-report-1"},
          {"version", version()},
          {"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))},
          {"files", report.files},
          {"n", model.n},
          {"p", model.p},
          {"sparse", report.data.design.is_sparse()},
          {"dropped_rows", report.data.dropped_rows.size()},
          {"response", model.response_name},
          {"loss", o.loss},
          {"huber_delta", o.huber_delta},
          {"weights", o.weights},
          {"shape", shape_in_words(o)},
          {"warnings", warnings(report.models)},
          {"coincidental_below", ClusterCorrelation::kCoincidental},
          {"intercept", o.intercept},
          {"standardize", o.standardize},
          {"ridge", o.ridge},
          {"nonnegative", o.nonnegative},
          {"observation_weights", report.data.row_weights.size() == 0 ? ""
                                  : report.data.weights_name.empty()  ? model.weights_file
                                                                      : report.data.weights_name},
          {"offset", report.data.offset_name.empty() ? model.offset_file : report.data.offset_name},
          {"event", report.data.event_name.empty() ? model.event_file : report.data.event_name},
          {"unpenalized", {{"columns", o.unpenalized}, {"names", names_of(report, o.unpenalized)}}},
          {"solver", model.solver},
          {"screening", model.screening},
          {"tolerance", model.tolerance},
          {"alpha_max", report.regression.alpha_max},
          {"steps", path.alphas.size()},
          {"stopped_by", name(path.stopped_by)},
          {"passes", rounded(path.passes)},
          {"seconds", rounded(path.seconds)}};
}

}  // namespace

std::string report_json(const Report& given) {
  const Path path = shown(given.path);
  const Report report{given.files, given.data, given.regression, given.models, path, given.errors};
  std::vector<std::vector<Group>> listed;
  for (const PathStep& step : path.steps) listed.push_back(listed_groups(step.beta, path.steps.size()));
  const IndexSet drawn = path.steps.size() > 1 ? drawn_columns(path) : IndexSet();
  const IndexSet columns = mentioned(listed, drawn);

  Json json = setting(report);
  const Model& first = report.models.front();
  if (first.relaxed) json["gamma"] = first.relaxed->gamma;
  if (first.noise) json["sigma"] = first.noise->sigma;
  if (first.noise) json["rate"] = rate_in_words(first);
  if (first.noise && first.noise->status) json["sigma_status"] = name(*first.noise->status);
  json["choices"] = choices(report.models);
  json["entered"] = entered(path);
  json["features"] = features(report, columns);
  Json fits = Json::array();
  for (std::size_t k = 0; k < path.steps.size(); ++k) fits.push_back(fit(report, k, listed[k], columns));
  json["fits"] = std::move(fits);
  json["lines"] = lines(path, drawn, columns);
  json["observations"] = rows(report);
  json["quality"] = quality(report);
  json["trace"] = trace(path);
  if (report.errors) json["errors"] = errors(*report.errors);
  // Names need not be UTF-8: bytes that are not are replaced, so that the document stays valid.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ReportedErrors reported_errors(const CrossValidation& cv) {
  const CvCurve& curve = cv.chosen();
  ReportedErrors errors;
  errors.measure = in_words(cv.measure);
  errors.mean = curve.error;
  errors.standard_error = curve.standard_error;
  for (const FoldScore& score : cv.scores)
    if (score.shape == cv.chosen_curve) errors.folds.push_back(curve.errors_of(score));
  errors.compared = comparisons(cv);
  errors.repeats = static_cast<std::size_t>(cv.repeats);
  errors.best = static_cast<std::size_t>(cv.best);
  errors.within_one_standard_error = static_cast<std::size_t>(cv.one_se);
  return errors;
}

}  // namespace tyto::cli
