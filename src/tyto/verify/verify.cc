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
#include "tyto/verify/relaxed.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

// The model's own words.
struct Claim {
  Index n, p;
  bool intercept, standardize, nonnegative, weighted, converged;
  double constant, primal, gap, tolerance, ridge;
  std::vector<Index> unpenalized;
  std::vector<std::pair<Index, double>> coefficients;
  std::vector<std::string> names;
  Reals weights;
  std::optional<RelaxedClaim> relaxed = {};  // then the coefficients above are the penalised ones
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
  if (claim.weighted && data.weights.size() != claim.n)
    throw InvalidArgument("data: want the observation weights that the model was fitted with, got none");
  if (data.names.empty() || claim.names.size() != claim.coefficients.size()) return;
  for (std::size_t k = 0; k < claim.names.size(); ++k)
    if (const auto& name = data.names[static_cast<std::size_t>(claim.coefficients[k].first)];
        name != claim.names[k])
      throw InvalidArgument("data: want column '" + claim.names[k] + "' at place " +
                            std::to_string(claim.coefficients[k].first) + ", got '" + name + "'");
}

Reals weights_of(const std::string& path, const nlohmann::json& model, Index n, Index p) {  // p: penalised
  Vector shape;
  if (model.contains("weight_values")) {
    const auto values = model["weight_values"].get<std::vector<double>>();
    shape = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  } else {
    shape = make_weights(model.at("weights").get<std::string>(),
                         {n, p, model.at("q"), model.value("slope", 1.0)});
  }
  if (shape.size() != p) throw DataError(path + ": expected p weights, got " + std::to_string(shape.size()));
  Reals weights(shape.begin(), shape.end());
  for (Real& weight : weights) weight *= model.at("alpha").get<double>();
  if (!std::is_sorted(weights.rbegin(), weights.rend()) || !(weights.back() >= 0) || !(weights.front() > 0))
    throw DataError(path + ": expected weights that are >= 0 and do not increase");
  return weights;
}

// The certificate is about the penalised fit, which a relaxed model keeps.
void take_penalized(Claim& claim, RelaxedClaim relaxed) {
  claim.constant = relaxed.penalized_intercept;
  for (std::size_t k = 0; k < claim.coefficients.size(); ++k)
    claim.coefficients[k].second = relaxed.penalized[k];
  claim.relaxed = std::move(relaxed);
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
                json.value("nonnegative", false),
                !json.value("weights_column", std::string()).empty() ||
                    !json.value("weights_file", std::string()).empty(),
                json.at("status") == "converged",
                json.at("intercept"),
                json.at("primal"),
                json.at("gap"),
                json.at("tolerance"),
                json.value("ridge", 0.0),
                json.value("unpenalized", std::vector<Index>()),
                json.at("coefficients"),
                json.at("names"),
                {}};
    for (const auto& [column, value] : claim.coefficients)
      if (column < 0 || column >= claim.p) throw DataError(path + ": expected columns 0 to p - 1");
    for (const Index column : claim.unpenalized)
      if (column < 0 || column >= claim.p || std::ranges::count(claim.unpenalized, column) > 1)
        throw DataError(path + ": expected unpenalised columns from 0 to p - 1, each once");
    if (std::ssize(claim.unpenalized) >= claim.p)
      throw DataError(path + ": expected at least one column that is penalised");
    if (!(claim.ridge >= 0)) throw DataError(path + ": expected a ridge >= 0");
    if (json.contains("gamma")) take_penalized(claim, read_relaxed(json));
    check_shape(claim, data);
    const Index n = claim.weighted ? std::llround(std::min(data.weights.sum(), 1e15)) : claim.n;
    claim.weights = weights_of(path, json, n, claim.p - std::ssize(claim.unpenalized));
    return claim;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(path + ": expected a tyto model: " + error.what());
  }
}

// How often each row counts, once if nobody says otherwise.
Reals row_weights(const Claim& claim, const Dataset& data) {
  if (!claim.weighted) return Reals(static_cast<std::size_t>(claim.n), 1);
  return {data.weights.begin(), data.weights.end()};
}

Real sum(const Reals& v) { return std::accumulate(v.begin(), v.end(), Real(0)); }

Real dot(const Reals& a, const Reals& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
}

// What the claim makes of the data: mean and scale of the columns by the definitions of MATH.md, section 1,
// and directions, orthogonal, that span the intercept and the unpenalised columns. Rows, here and in the
// directions, are those of the data times the roots of their weights.
struct Column {
  Real center = 0, scale = 1;
};
struct Setting {
  Reals weights, roots;  // of the rows
  std::vector<Column> columns;
  std::vector<bool> penalized;
  std::vector<Reals> directions;
};

Column measure(const Design& design, Index j, const Claim& claim, const Reals& weights) {
  const Real total = sum(weights);
  Column column;
  Real first = 0, stored = 0;
  design.for_each_entry(j, [&](Index i, double x) {
    const Real weight = weights[static_cast<std::size_t>(i)];
    first += weight * x, stored += weight;
  });
  if (claim.intercept) column.center = first / total;
  Real squares = std::max<Real>(0, total - stored) * column.center * column.center;
  design.for_each_entry(j, [&](Index i, double x) {
    squares += weights[static_cast<std::size_t>(i)] * (x - column.center) * (x - column.center);
  });
  const bool constant = std::sqrt(squares / total) <= 1e-17L * std::abs(column.center);
  if (claim.standardize && squares > 0 && !constant) column.scale = std::sqrt(squares / total);
  return column;
}

// Twice, since once is not enough where v is nearly spanned by them.
void take_out(const std::vector<Reals>& directions, Reals& v) {
  for (int twice = 0; twice < 2; ++twice)
    for (const Reals& direction : directions) {
      const Real along = dot(direction, v) / dot(direction, direction);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * direction[i];
    }
}

Setting make_setting(const Claim& claim, const Dataset& data) {
  Setting setting{
      row_weights(claim, data), {}, {}, std::vector<bool>(static_cast<std::size_t>(claim.p), true), {}};
  for (const Real weight : setting.weights) {
    if (!(weight >= 0)) throw InvalidArgument("data: want observation weights >= 0, got one below");
    setting.roots.push_back(std::sqrt(weight));
  }
  for (Index j = 0; j < claim.p; ++j)
    setting.columns.push_back(measure(data.design, j, claim, setting.weights));
  if (claim.intercept) setting.directions.push_back(setting.roots);
  for (const Index u : claim.unpenalized) {
    setting.penalized[static_cast<std::size_t>(u)] = false;
    Reals column(setting.roots.size(), 0);
    data.design.for_each_entry(u, [&](Index i, double x) {
      column[static_cast<std::size_t>(i)] = setting.roots[static_cast<std::size_t>(i)] * x;
    });
    const Real before = dot(column, column);
    take_out(setting.directions, column);
    if (dot(column, column) > 1e-20L * before) setting.directions.push_back(std::move(column));
  }
  return setting;
}

Reals magnitudes(Reals v) {
  for (Real& x : v) x = std::abs(x);
  return v;
}

Real sorted_product(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  return dot(magnitudes, weights);
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

// x_j'r for every penalised column, r orthogonal to the directions.
Reals correlations(const Setting& setting, const Dataset& data, const Reals& residual) {
  const Real all = dot(setting.roots, residual);
  Reals result;
  for (Index j = 0; j < data.design.cols(); ++j) {
    if (!setting.penalized[static_cast<std::size_t>(j)]) continue;
    const Column& column = setting.columns[static_cast<std::size_t>(j)];
    Real product = 0, stored = 0;
    data.design.for_each_entry(j, [&](Index i, double x) {
      const Real r = setting.roots[static_cast<std::size_t>(i)] * residual[static_cast<std::size_t>(i)];
      product += (x - column.center) * r, stored += r;
    });
    product -=
        column.center * (all - stored);  // entries that are not stored are zeros, centred like the others
    result.push_back(product / column.scale);
  }
  return result;
}

struct Bounds {
  Real primal, dual;
  Real noise;    // what the numbers that a solver states in double precision may be off by
  bool allowed;  // no coefficient is negative that may not be
};

Bounds bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  Reals y(data.response.begin(), data.response.end()), residual = y,
                                                       beta(static_cast<std::size_t>(claim.p), 0);
  for (Real& value : residual) value -= claim.constant;
  Real spread = 0;  // sum_j |b_j| ||x_j||, uncentred
  bool allowed = true;
  for (const auto& [column, coefficient] : claim.coefficients) {
    const Real value = coefficient;
    Real squares = 0;
    data.design.for_each_entry(column, [&](Index i, double x) {
      squares += setting.weights[static_cast<std::size_t>(i)] * x * x;
      residual[static_cast<std::size_t>(i)] -= value * x;
    });
    spread += std::abs(value) * std::sqrt(squares);
    const auto j = static_cast<std::size_t>(column);
    beta[j] = value * setting.columns[j].scale;
    allowed = allowed && !(claim.nonnegative && setting.penalized[j] && value < 0);
  }
  std::size_t kept = 0;  // beta of the penalised columns
  for (std::size_t j = 0; j < beta.size(); ++j)
    if (setting.penalized[j]) beta[kept++] = beta[j];
  beta.resize(kept);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= setting.roots[i], residual[i] *= setting.roots[i];
  take_out(setting.directions, y);
  const Real rounding = std::numeric_limits<double>::epsilon(), length = std::sqrt(dot(residual, residual));
  const Real noise =
      4 * rounding * length * (std::sqrt(dot(y, y)) + spread);  // r is y - Xb, and Xb rounds like |X||b|
  const Real primal = (dot(residual, residual) + claim.ridge * dot(beta, beta)) / 2 +
                      sorted_product(magnitudes(beta), claim.weights);

  // theta = s r, with r orthogonal to intercept and unpenalised columns; a ridge is p more rows of it.
  take_out(setting.directions, residual);
  const Real rr = dot(residual, residual) + claim.ridge * dot(beta, beta), ry = dot(residual, y);
  Reals pulls = correlations(setting, data, residual);
  for (std::size_t k = 0; k < pulls.size(); ++k) {
    pulls[k] -= claim.ridge * beta[k];
    pulls[k] = claim.nonnegative ? std::max<Real>(pulls[k], 0) : std::abs(pulls[k]);
  }
  const Real norm = dual_norm(pulls, claim.weights);
  Real s = rr > 0 ? ry / rr : 0;
  if (claim.nonnegative) s = std::max<Real>(s, 0);
  if (norm * std::abs(s) > 1) s = std::copysign(1 / norm, s);
  return {primal, s * ry - s * s * rr / 2, noise + 1e-12L * (primal + dot(y, y)), allowed};
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
  if (!found.allowed)
    fails("a coefficient is negative, which the model says that none is");
  else if (!(std::abs(result.primal - claim.primal) <= 1e-9 * result.primal + slack))
    fails("the primal value is not the one that the model states");
  else if (!(result.gap <= std::max(claim.gap, 0.0) * (1 + 1e-6) + slack))
    fails("the gap is larger than the one that the model states");
  else if (claim.converged && !(result.gap <= claim.tolerance * result.primal + slack))
    fails("the gap is larger than the tolerance that the model states");
  return result;
}

void judge_relaxed(const Claim& claim, const Setting& setting, const Dataset& data, Verification& result) {
  RelaxedSetting relaxed{{}, {}, setting.weights, claim.unpenalized, claim.ridge};
  for (const Column& column : setting.columns)
    relaxed.centers.push_back(column.center), relaxed.scales.push_back(column.scale);
  const RelaxedFinding found = check_relaxed(*claim.relaxed, data, relaxed);
  result.relaxed_error = found.error;
  if (found.reason.empty() || !result.holds) return;
  result.holds = false, result.reason = found.reason;
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
  std::optional<Setting> setting;  // the same for all strengths of a path
  std::vector<Verification> results;
  for (Index k = step.value_or(0); k < (step ? *step + 1 : count); ++k) {
    const Claim claim = read_claim(model_path, fits[static_cast<std::size_t>(k)], shared, data);
    if (!setting) setting = make_setting(claim, data);
    results.push_back(judge(claim, bounds(claim, *setting, data)));
    if (claim.relaxed) judge_relaxed(claim, *setting, data, results.back());
  }
  return results;
}

}  // namespace tyto
