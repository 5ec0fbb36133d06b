#include "tyto/verify/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/verify/claim.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

// Relative differences between two computations of one number that mean nothing.
constexpr Real kPrimalDigits = 1e-9L, kGapDigits = 1e-6L, kNoiseDigits = 1e-12L;

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

// One number for each row, with their sum and that of their magnitudes.
struct Rows {
  explicit Rows(Reals numbers) : values(std::move(numbers)) {
    for (const Real value : values) {
      total += value;
      magnitude += std::abs(value);
    }
  }
  Reals values;
  Real total = 0, magnitude = 0;
};

// The sum over the rows where column j has no entry: what the others leave of the total, or, where they are
// most of it and the difference would be rounding, row by row.
Real sum_elsewhere(const Design& design, Index j, const Rows& rows) {
  Real stored = 0, magnitude = 0;
  Index count = 0;
  design.for_each_entry(j, [&](Index i, double) {
    stored += rows.values[static_cast<std::size_t>(i)];
    magnitude += std::abs(rows.values[static_cast<std::size_t>(i)]);
    ++count;
  });
  if (count == std::ssize(rows.values)) return 0;
  if (2 * magnitude <= rows.magnitude) return rows.total - stored;
  Reals others = rows.values;
  design.for_each_entry(j, [&](Index i, double) { others[static_cast<std::size_t>(i)] = 0; });
  return sum(others);
}

Column measure(const Design& design, Index j, const Claim& claim, const Rows& rows) {
  const Reals& weights = rows.values;
  const Real total = rows.total;
  Column column;
  Real first = 0;
  design.for_each_entry(j, [&](Index i, double x) { first += weights[static_cast<std::size_t>(i)] * x; });
  if (claim.intercept) column.center = first / total;
  Real squares = sum_elsewhere(design, j, rows) * column.center * column.center;
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
  const Rows rows(setting.weights);
  for (Index j = 0; j < claim.p; ++j) setting.columns.push_back(measure(data.design, j, claim, rows));
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
  Reals weighted = residual;
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= setting.roots[i];
  const Rows rows(std::move(weighted));
  Reals result;
  for (Index j = 0; j < data.design.cols(); ++j) {
    if (!setting.penalized[static_cast<std::size_t>(j)]) continue;
    const Column& column = setting.columns[static_cast<std::size_t>(j)];
    Real product = 0;
    data.design.for_each_entry(j, [&](Index i, double x) {
      product += (x - column.center) * rows.values[static_cast<std::size_t>(i)];
    });
    // Entries that are not stored are zeros, centred like the others.
    if (column.center != 0) product -= column.center * sum_elsewhere(data.design, j, rows);
    result.push_back(product / column.scale);
  }
  return result;
}

struct Bounds {
  Real response;  // sum of squares, as the rows are weighted
  Real primal, dual;
  Real noise;    // what the numbers that a solver states in double precision may be off by
  bool allowed;  // no coefficient is negative that may not be
};

// y less its first number where there is an intercept, which takes that up: the difference is exact, and the
// rounding of what follows is that of the spread of y, not that of its mean.
Reals shifted(const Claim& claim, const Vector& response) {
  const Real shift = claim.intercept ? response[0] : 0;
  Reals y(response.begin(), response.end());
  for (Real& value : y) value -= shift;
  return y;
}

Bounds bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  Reals y = shifted(claim, data.response), residual = y, beta(static_cast<std::size_t>(claim.p), 0);
  const Real constant = claim.intercept ? Real(claim.constant) - data.response[0] : Real(claim.constant);
  for (Real& value : residual) value -= constant;
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
  // r is y - Xb, and Xb rounds like |X||b|. Nothing here is in proportion to ||y||^2: where the model
  // explains nearly all of y, the objective is far below that, and a gap as large as the objective would
  // pass.
  const Real rounding = 4 * std::numeric_limits<double>::epsilon() * (std::sqrt(dot(y, y)) + spread);
  const Real noise = rounding * (std::sqrt(dot(residual, residual)) + rounding / 2);
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
  Real squares = 0;
  for (Index i = 0; i < data.response.size(); ++i) {
    const Real value = data.response[i];
    squares += setting.weights[static_cast<std::size_t>(i)] * value * value;
  }
  return {squares, primal, s * ry - s * s * rr / 2, noise + kNoiseDigits * primal, allowed};
}

constexpr Real kResolution = 1e-24L;  // of the squares of the response

// Of the claims: P(b) is the stated one; the gap is no larger than the stated one, with the rounding error
// that the model states for it, which may not be more than a converged fit has to spare; and no smaller than
// 0, which no gap is. Each comparison fails where a number is NaN.
std::string fault(const Claim& claim, const Bounds& found) {
  const Real gap = found.primal - found.dual, noise = found.noise;
  const Real stated = std::max(Real(claim.gap), Real(0)) + claim.rounding;
  if (!std::isfinite(static_cast<double>(found.primal)) || !std::isfinite(static_cast<double>(found.dual)) ||
      !std::isfinite(static_cast<double>(noise)))
    return "the objective or the dual value is not a finite number";
  if (!found.allowed) return "a coefficient is negative, which the model says that none is";
  if (!(std::abs(found.primal - claim.primal) <= kPrimalDigits * found.primal + claim.rounding + noise))
    return "the primal value is not the one that the model states";
  if (!(gap >= -noise)) return fmt::format("the gap is negative beyond rounding: {:.3g}", double(gap));
  if (!(claim.gap >= -(claim.rounding + noise)))
    return fmt::format("the stated gap is negative beyond rounding: {:.3g}", claim.gap);
  if (!(gap <= stated * (1 + kGapDigits) + noise))
    return "the gap is larger than the one that the model states";
  // An objective of 0 is the least there is; what is left is how doubles hold the intercept.
  if (claim.primal == 0 && claim.gap == 0)
    return claim.rounding <= kResolution * found.response
               ? ""
               : "the stated rounding is larger than that of the response";
  if (!(claim.rounding <= found.primal + noise))
    return "the stated rounding is larger than the objective, so that the gap says nothing";
  if (!claim.converged) return "";
  if (!(stated <= claim.tolerance * found.primal * (1 + kGapDigits) + noise))
    return "the stated gap and its rounding are larger than the tolerance that the model states";
  if (!(gap <= claim.tolerance * found.primal + noise))
    return "the gap is larger than the tolerance that the model states";
  return "";
}

Verification judge(const Claim& claim, const Bounds& found) {
  Verification result;
  result.primal = static_cast<double>(found.primal);
  result.dual = static_cast<double>(found.dual);
  result.gap = static_cast<double>(found.primal - found.dual);
  result.claimed_primal = claim.primal;
  result.claimed_gap = claim.gap;
  result.claimed_rounding = claim.rounding;
  result.tolerance = claim.tolerance;
  result.reason = fault(claim, found);
  result.holds = result.reason.empty();
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

}  // namespace

std::vector<Verification> verify(const std::string& model_path, const Dataset& data,
                                 std::optional<Index> step) {
  return verify_text(read_whole(model_path), model_path, data, step);
}

std::vector<Verification> verify_text(const std::string& model, const std::string& model_path,
                                      const Dataset& data, std::optional<Index> step) {
  const Document document = read_document(model, model_path);
  const auto count = std::ssize(document.fits);
  if (step && (*step < 0 || *step >= count))
    throw InvalidArgument("step: want a number from 0 to " + std::to_string(count - 1) + ", got " +
                          std::to_string(*step));
  check_finite(data);
  std::optional<Setting> setting;  // the same for all strengths of a path
  std::vector<Verification> results;
  for (Index k = step.value_or(0); k < (step ? *step + 1 : count); ++k) {
    const Claim claim = read_claim(document, static_cast<std::size_t>(k), model_path, data);
    if (!setting) setting = make_setting(claim, data);
    results.push_back(judge(claim, bounds(claim, *setting, data)));
    if (claim.relaxed) judge_relaxed(claim, *setting, data, results.back());
  }
  return results;
}

}  // namespace tyto
