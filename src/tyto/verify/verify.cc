#include "tyto/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

// The model's own words.
struct Claim {
  Index n, p;
  bool intercept, standardize, converged;
  double constant, primal, gap, tolerance;
  std::vector<std::pair<Index, double>> coefficients;
  std::vector<std::string> names;
  Reals weights;
};

void check_shape(const Claim& claim, const Dataset& data) {
  const auto wrong = [](const char* what, Index want, Index got) {
    return InvalidArgument("data: want " + std::to_string(want) + " " + what + ", as in the model, got " +
                           std::to_string(got));
  };
  if (data.design.rows() != claim.n) throw wrong("rows", claim.n, data.design.rows());
  if (data.design.cols() != claim.p) throw wrong("feature columns", claim.p, data.design.cols());
  if (data.response.size() != claim.n)
    throw InvalidArgument("data: want a response to verify against, got none");
  if (data.names.empty() || claim.names.size() != claim.coefficients.size()) return;
  for (std::size_t k = 0; k < claim.names.size(); ++k)
    if (const auto& name = data.names[static_cast<std::size_t>(claim.coefficients[k].first)];
        name != claim.names[k])
      throw InvalidArgument("data: want column '" + claim.names[k] + "' at place " +
                            std::to_string(claim.coefficients[k].first) + ", got '" + name + "'");
}

Reals weights_of(const std::string& path, const nlohmann::json& model, Index n, Index p) {
  Vector shape;
  if (model.contains("weight_values")) {
    const auto values = model["weight_values"].get<std::vector<double>>();
    shape = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  } else {
    shape = make_weights(model.at("weights").get<std::string>(), {n, p, model.at("q")});
  }
  if (shape.size() != p) throw DataError(path + ": expected p weights, got " + std::to_string(shape.size()));
  Reals weights(shape.begin(), shape.end());
  for (Real& weight : weights) weight *= model.at("alpha").get<double>();
  if (!std::is_sorted(weights.rbegin(), weights.rend()) || !(weights.back() >= 0) || !(weights.front() > 0))
    throw DataError(path + ": expected weights that are >= 0 and do not increase");
  return weights;
}

// Checks that the model fits the data before anything of size p is made: a damaged model may claim any p.
// `json` is what is said of one strength; `shared`, of all of them, and none can deny it.
Claim read_claim(const std::string& path, nlohmann::json json, const nlohmann::json& shared,
                 const Dataset& data) {
  try {
    json.update(shared);
    Claim claim{json.at("n"),
                json.at("p"),
                json.at("fit_intercept"),
                json.at("standardize"),
                json.at("status") == "converged",
                json.at("intercept"),
                json.at("primal"),
                json.at("gap"),
                json.at("tolerance"),
                json.at("coefficients"),
                json.at("names"),
                {}};
    for (const auto& [column, value] : claim.coefficients)
      if (column < 0 || column >= claim.p) throw DataError(path + ": expected columns 0 to p - 1");
    check_shape(claim, data);
    claim.weights = weights_of(path, json, claim.n, claim.p);
    return claim;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(path + ": expected a tyto model: " + error.what());
  }
}

// Mean and scale of a column by the definitions of MATH.md, section 1.
struct Column {
  Real center = 0, scale = 1;
};
Column measure(const Design& design, Index j, const Claim& claim) {
  const auto n = static_cast<Real>(design.rows());
  Column column;
  Real sum = 0;
  Index stored = 0;
  design.for_each_entry(j, [&](Index, double x) { sum += x, ++stored; });
  if (claim.intercept) column.center = sum / n;
  Real squares = static_cast<Real>(design.rows() - stored) * column.center * column.center;
  design.for_each_entry(j, [&](Index, double x) { squares += (x - column.center) * (x - column.center); });
  const bool constant = std::sqrt(squares / n) <= 1e-17L * std::abs(column.center);
  if (claim.standardize && squares > 0 && !constant) column.scale = std::sqrt(squares / n);
  return column;
}
using Columns = std::vector<Column>;

Real sorted_product(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real sum = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) sum += magnitudes[i] * weights[i];
  return sum;
}

Real dual_norm(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real top = 0, bottom = 0, norm = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    top += magnitudes[i], bottom += weights[i];
    norm = std::max(norm, top / bottom);
  }
  return norm;
}

// |x_j'r| for every column, r as it is.
Reals correlations(const Columns& columns, const Dataset& data, const Reals& residual) {
  const Real all = std::accumulate(residual.begin(), residual.end(), Real(0));
  Reals result;
  for (Index j = 0; j < data.design.cols(); ++j) {
    const Column& column = columns[static_cast<std::size_t>(j)];
    Real product = 0, stored = 0;
    data.design.for_each_entry(j, [&](Index i, double x) {
      const Real r = residual[static_cast<std::size_t>(i)];
      product += (x - column.center) * r, stored += r;
    });
    product -=
        column.center * (all - stored);  // entries that are not stored are zeros, centred like the others
    result.push_back(std::abs(product / column.scale));
  }
  return result;
}

struct Bounds {
  Real primal, dual;
  Real noise;  // what the numbers that a solver states in double precision may be off by
};

Bounds bounds(const Claim& claim, const Columns& columns, const Dataset& data) {
  const auto n = static_cast<Real>(claim.n);
  Reals residual(data.response.begin(), data.response.end()), y = residual, beta;
  const Real mean = claim.intercept ? std::accumulate(y.begin(), y.end(), Real(0)) / n : 0;
  for (Real& value : y) value -= mean;
  for (Real& value : residual) value -= claim.constant;
  Real spread = 0;  // sum_j |b_j| ||x_j||, uncentred
  for (const auto& [column, coefficient] : claim.coefficients) {
    const Real value = coefficient;
    Real squares = 0;
    data.design.for_each_entry(column, [&](Index, double x) { squares += Real(x) * x; });
    spread += std::abs(value) * std::sqrt(squares);
    data.design.for_each_entry(
        column, [&](Index i, double x) { residual[static_cast<std::size_t>(i)] -= value * x; });
    beta.push_back(std::abs(value * columns[static_cast<std::size_t>(column)].scale));
  }
  const auto dot = [](const Reals& a, const Reals& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
  };
  const Real rounding = std::numeric_limits<double>::epsilon(), length = std::sqrt(dot(residual, residual));
  const Real noise =
      4 * rounding * length * (std::sqrt(dot(y, y)) + spread);  // r is y - Xb, and Xb rounds like |X||b|
  const Real primal = dot(residual, residual) / 2 + sorted_product(beta, claim.weights);

  // theta = s r, with r centred where there is an intercept.
  const Real excess = claim.intercept ? std::accumulate(residual.begin(), residual.end(), Real(0)) / n : 0;
  for (Real& r : residual) r -= excess;
  const Real rr = dot(residual, residual), ry = dot(residual, y);
  const Real norm = dual_norm(correlations(columns, data, residual), claim.weights);
  Real s = rr > 0 ? ry / rr : 0;
  if (norm * std::abs(s) > 1) s = std::copysign(1 / norm, s);
  return {primal, s * ry - s * s * rr / 2, noise + 1e-12L * (primal + dot(y, y))};
}

Verification judge(const Claim& claim, const Bounds& found) {
  Verification result{static_cast<double>(found.primal),
                      static_cast<double>(found.dual),
                      static_cast<double>(found.primal - found.dual),
                      claim.primal,
                      claim.gap,
                      claim.tolerance,
                      true,
                      ""};
  const auto slack = static_cast<double>(found.noise);
  const auto fails = [&](const std::string& why) { result.holds = false, result.reason = why; };
  if (!(std::abs(result.primal - claim.primal) <= 1e-9 * result.primal + slack))
    fails("the primal value is not the one that the model states");
  else if (!(result.gap <= std::max(claim.gap, 0.0) * (1 + 1e-6) + slack))
    fails("the gap is larger than the one that the model states");
  else if (claim.converged && !(result.gap <= claim.tolerance * result.primal + slack))
    fails("the gap is larger than the tolerance that the model states");
  return result;
}

// The columns depend on the data and two words of the claim, which all strengths of a path share.
Verification check(const Claim& claim, const Dataset& data, Columns& columns) {
  if (columns.empty())
    for (Index j = 0; j < claim.p; ++j) columns.push_back(measure(data.design, j, claim));
  return judge(claim, bounds(claim, columns, data));
}

nlohmann::json parse(const std::string& text, const std::string& path) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw DataError(path + ": expected a tyto model (JSON), got something else");
  return json;
}

}  // namespace

std::vector<Verification> verify(const std::string& model_path, const Dataset& data,
                                 std::optional<Index> step) {
  return verify_text(read_whole(model_path), model_path, data, step);
}

std::vector<Verification> verify_text(const std::string& model, const std::string& model_path,
                                      const Dataset& data, std::optional<Index> step) {
  nlohmann::json shared = parse(model, model_path), fits = nlohmann::json::array({nlohmann::json::object()});
  if (shared.contains("fits")) fits = std::move(shared["fits"]), shared.erase("fits");
  for (const char* key : {"curves", "scores"}) shared.erase(key);  // of a cross-validation: not about a model
  const auto count = static_cast<Index>(fits.is_array() ? fits.size() : 0);
  if (step && (*step < 0 || *step >= count))
    throw InvalidArgument("step: want a number from 0 to " + std::to_string(count - 1) + ", got " +
                          std::to_string(*step));
  Columns columns;
  std::vector<Verification> results;
  for (Index k = step.value_or(0); k < (step ? *step + 1 : count); ++k) {
    const Claim claim = read_claim(model_path, fits[static_cast<std::size_t>(k)], shared, data);
    results.push_back(check(claim, data, columns));
  }
  return results;
}

}  // namespace tyto
