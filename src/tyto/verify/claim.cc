#include "tyto/verify/claim.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tyto/base/error.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

using Reals = std::vector<long double>;

void check_shape(const Claim& claim, const Dataset& data) {
  const auto wrong = [](const char* what, Index want, Index got) {
    return InvalidArgument(fmt::format("data: want {} {}, as in the model, got {}", want, what, got));
  };
  if (data.design.rows() != claim.n) throw wrong("rows", claim.n, data.design.rows());
  if (data.design.cols() != claim.p) throw wrong("feature columns", claim.p, data.design.cols());
  if (data.response.size() != claim.n)
    throw InvalidArgument("data: want a response to verify against, got none");
  if (claim.weighted && data.row_weights.size() != claim.n)
    throw InvalidArgument("data: want the observation weights that the model was fitted with, got none");
  if (claim.shifted && data.offset.size() != claim.n)
    throw InvalidArgument("data: want the offset that the model was fitted with, got none");
  if (claim.loss == "cox" && data.events.size() != claim.n)
    throw InvalidArgument("data: want the events that the model was fitted with, got none");
  if (data.names.empty() || claim.names.size() != claim.coefficients.size()) return;
  for (std::size_t k = 0; k < claim.names.size(); ++k)
    if (const auto& name = data.names[static_cast<std::size_t>(claim.coefficients[k].first)];
        name != claim.names[k])
      throw InvalidArgument(fmt::format("data: want column '{}' at place {}, got '{}'", claim.names[k],
                                        claim.coefficients[k].first, name));
}

Reals weights_of(const Json& model, Index n, Index p) {  // p: penalised, once for each class
  Vector shape;
  if (model.contains("weight_values")) {
    const std::vector<double> values = numbers_at(model, "weight_values");
    shape = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  } else {
    shape = make_weights(model.at("weights").get<std::string>(),
                         {n, p, number_at(model, "q"), number_at(model, "slope", 1)});
  }
  if (shape.size() != p) throw DataError("expected p weights, got " + std::to_string(shape.size()));
  Reals weights(shape.begin(), shape.end());
  for (long double& weight : weights) weight *= number_at(model, "alpha");
  if (!std::is_sorted(weights.rbegin(), weights.rend()) || !(weights.back() >= 0) || !(weights.front() > 0) ||
      !std::isfinite(weights.front()))
    throw DataError("expected weights that are finite, >= 0 and do not increase");
  return weights;
}

// The certificate is about the penalised fit, which a relaxed model keeps.
void take_penalized(Claim& claim, RelaxedClaim relaxed) {
  claim.constants = {relaxed.penalized_intercept};
  for (std::size_t k = 0; k < claim.coefficients.size(); ++k)
    claim.coefficients[k].second = relaxed.penalized[k];
  claim.relaxed = std::move(relaxed);
}

void check_columns(const Claim& claim) {
  std::pair<Index, Index> last{-1, 0};  // column and class
  if (claim.class_of.size() != claim.coefficients.size())
    throw DataError("expected one class for each coefficient");
  for (std::size_t k = 0; k < claim.class_of.size(); ++k) {
    const std::pair<Index, Index> now{claim.coefficients[k].first, claim.class_of[k]};
    if (now <= last || now.first < 0 || now.first >= claim.p)
      throw DataError("expected coefficients of increasing columns below p, got column " +
                      std::to_string(now.first));
    if (now.second < 0 || now.second >= claim.predictors())
      throw DataError("expected classes by number, got " + std::to_string(now.second));
    last = now;
  }
  std::vector<Index> sorted = claim.unpenalized;
  std::ranges::sort(sorted);
  if (!sorted.empty() &&
      (sorted.front() < 0 || sorted.back() >= claim.p || std::ranges::adjacent_find(sorted) != sorted.end()))
    throw DataError("expected unpenalised columns from 0 to p - 1, each once");
  if (std::ssize(sorted) >= claim.p) throw DataError("expected at least one column that is penalised");
}

void check_numbers(const Claim& claim) {
  if (!(claim.ridge >= 0)) throw DataError(fmt::format("ridge: expected a number >= 0, got {}", claim.ridge));
  if (!(claim.rounding >= 0))
    throw DataError(fmt::format("rounding: expected a number >= 0, got {}", claim.rounding));
  if (!(claim.tolerance > 0 && claim.tolerance < 1))
    throw DataError(fmt::format("tolerance: expected a number in (0, 1), got {}", claim.tolerance));
}

void read_classes(const Json& json, Claim& claim) {
  if (!json.contains("classes")) return;
  const Json& classes = json["classes"];
  const bool many = claim.loss == "multinomial";
  if (!classes.is_array() || (many ? classes.size() < 3 : classes.size() != 2))
    throw DataError(many ? "expected three classes or more" : "expected two classes");
  for (std::size_t k = 0; k < classes.size(); ++k)
    for (std::size_t l = 0; l < k; ++l)
      if (classes[k] == classes[l]) throw DataError("expected classes that differ");
  if (classes[0].is_string())
    claim.labels = classes.get<std::vector<std::string>>();
  else
    claim.classes = numbers_at(json, "classes");
}

Claim parse(const Json& json) {
  const auto given = [&](const char* key) { return !json.value(key, std::string()).empty(); };
  Claim claim;
  claim.loss = json.value("loss", std::string("gaussian"));
  claim.huber_delta = number_at(json, "huber_delta", claim.huber_delta);
  read_classes(json, claim);
  claim.n = whole_number_at(json, "n");
  claim.p = whole_number_at(json, "p");
  claim.intercept = json.at("fit_intercept").get<bool>();
  claim.centered = claim.intercept || claim.loss == "cox";
  claim.standardize = json.at("standardize").get<bool>();
  claim.nonnegative = json.value("nonnegative", false);
  claim.weighted = given("weights_column") || given("weights_file");
  claim.shifted = given("offset_column") || given("offset_file");
  claim.converged = json.at("status") == "converged";
  if (claim.loss == "multinomial") {
    claim.constants = numbers_at(json, "intercept");
    if (claim.constants.size() != std::max(claim.classes.size(), claim.labels.size()))
      throw DataError("expected an intercept for each class");
  } else {
    claim.constants = {number_at(json, "intercept")};
  }
  claim.ridge = number_at(json, "ridge", 0);
  claim.primal = number_at(json, "primal");
  claim.gap = number_at(json, "gap");
  claim.rounding = number_at(json, "rounding", 0);  // of models that are older than the field
  claim.tolerance = number_at(json, "tolerance");
  claim.unpenalized = whole_numbers_at(json, "unpenalized");
  claim.coefficients = entries_at(json, "coefficients");
  claim.class_of = whole_numbers_at(json, "class_of");
  if (claim.predictors() == 1) claim.class_of.assign(claim.coefficients.size(), 0);
  claim.names = json.at("names").get<std::vector<std::string>>();
  check_columns(claim);
  check_numbers(claim);
  if (json.contains("gamma")) take_penalized(claim, read_relaxed(json));
  return claim;
}

// Of one vector: what the message calls its place, and its name in it.
void check_finite(const Vector& values, const char* what) {
  for (Index i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw InvalidArgument(fmt::format("{}: row {}: want a finite number, got {}", what, i, values[i]));
}

void check_events(const Vector& events) {
  for (Index i = 0; i < events.size(); ++i)
    if (events[i] != 0 && events[i] != 1)
      throw InvalidArgument(fmt::format("event: row {}: want 0 or 1, got {}", i, events[i]));
}

}  // namespace

void check_finite(const Dataset& data) {
  check_finite(data.response, "response");
  check_finite(data.row_weights, "observation-weights");
  check_finite(data.offset, "offset");
  check_events(data.events);
  const auto expected = data.design.expect();
  for (Index j = 0; j < data.design.cols(); ++j)
    data.design.for_each_entry(j, [&](Index i, double x) {
      if (std::isfinite(x)) return;
      const std::string name =
          data.names.empty() ? "" : fmt::format(" ('{}')", data.names[static_cast<std::size_t>(j)]);
      throw InvalidArgument(
          fmt::format("design: column {}{}, row {}: want a finite number, got {}", j, name, i, x));
    });
}

Document read_document(const std::string& text, const std::string& name) {
  Document document{parse_json(text, name), {}};
  Json& json = document.shared;
  if (!json.is_object()) throw DataError(name + ": expected a tyto model (JSON), got something else");
  for (const char* key : {"curves", "scores"}) json.erase(key);  // of a cross-validation: not about a model
  const Json format = json.value("format", Json());
  const bool one = format == "tyto-model-1" || format == "tyto-fit-1";
  const bool listed = json.contains("fits");
  Json fits = listed || !one ? json.value("fits", Json()) : Json::array({Json::object()});
  json.erase("fits");
  if (!fits.is_array() || fits.empty())
    throw DataError(name + ": expected at least one strength in fits, got none");
  if (one && listed) throw DataError(name + ": expected no fits in the file of one model, got some");
  for (Json& fit : fits) document.fits.push_back(std::move(fit));
  return document;
}

Claim read_claim(const Document& document, std::size_t fit, const std::string& name, const Dataset& data) {
  try {
    Json json = document.fits.at(fit);
    json.update(document.shared);
    Claim claim = parse(json);
    check_shape(claim, data);
    const Index n = claim.weighted ? std::llround(std::min(data.row_weights.sum(), 1e15)) : claim.n;
    claim.weights = weights_of(json, n, (claim.p - std::ssize(claim.unpenalized)) * claim.predictors());
    return claim;
  } catch (const Json::exception& error) {
    throw DataError(name + ": expected a tyto model: " + json_fault(error));
  } catch (const DataError& error) {
    throw DataError(name + ": " + error.what());
  }
}

}  // namespace tyto
