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
#include "tyto/verify/setting.h"

namespace tyto {
namespace {

using namespace verifying;  // NOLINT(google-build-using-namespace)

// Relative differences between two computations of one number that mean nothing.
constexpr Real kPrimalDigits = 1e-9L, kGapDigits = 1e-6L, kNoiseDigits = 1e-12L;

// y less its first number where there is an intercept, which takes that up: the difference is exact, and the
// rounding of what follows is that of the spread of y, not that of its mean.
Reals shifted(const Claim& claim, const Vector& response) {
  const Real shift = claim.intercept ? response[0] : 0;
  Reals y(response.begin(), response.end());
  for (Real& value : y) value -= shift;
  return y;
}

Bounds bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  if (claim.loss == "multinomial") return multinomial_bounds(claim, setting, data);
  if (claim.loss != "gaussian") return loss_bounds(claim, setting, data);
  Reals y = shifted(claim, data.response);
  Reals residual = y;
  const Fitted model =
      fitted(claim, setting, data,
             claim.intercept ? Real(claim.constants[0]) - data.response[0] : Real(claim.constants[0]));
  const Reals& beta = model.beta;
  for (std::size_t i = 0; i < y.size(); ++i) {
    residual[i] = setting.roots[i] * (y[i] - model.predictor[i]);
    y[i] *= setting.roots[i];
  }
  take_out(setting.directions, y);
  // r is y - Xb, and Xb rounds like |X||b|. Nothing here is in proportion to ||y||^2: where the model
  // explains nearly all of y, the objective is far below that, and a gap as large as the objective would
  // pass.
  const Real rounding = 4 * std::numeric_limits<double>::epsilon() * (std::sqrt(dot(y, y)) + model.spread);
  const Real noise = rounding * (std::sqrt(dot(residual, residual)) + rounding / 2);
  const Real primal = (dot(residual, residual) + claim.ridge * dot(beta, beta)) / 2 +
                      sorted_product(magnitudes(beta), claim.weights);

  // theta = s r, with r orthogonal to intercept and unpenalised columns; a ridge is p more rows of it.
  take_out(setting.directions, residual);
  const Real rr = dot(residual, residual) + claim.ridge * dot(beta, beta);
  const Real ry = dot(residual, y);
  const Real norm = dual_norm(counted(claim, correlations(setting, data, residual), beta), claim.weights);
  Real s = rr > 0 ? ry / rr : 0;
  if (claim.nonnegative) s = std::max<Real>(s, 0);
  if (norm * std::abs(s) > 1) s = std::copysign(1 / norm, s);
  Real squares = 0;
  for (Index i = 0; i < data.response.size(); ++i) {
    const Real value = data.response[i];
    squares += setting.weights[static_cast<std::size_t>(i)] * value * value;
  }
  return {squares, primal, s * ry - s * s * rr / 2, noise + kNoiseDigits * primal, model.allowed};
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
  for (const Column& column : setting.columns) {
    relaxed.centers.push_back(column.center);
    relaxed.scales.push_back(column.scale);
  }
  const RelaxedFinding found = check_relaxed(*claim.relaxed, data, relaxed);
  result.relaxed_error = found.error;
  if (found.reason.empty() || !result.holds) return;
  result.holds = false;
  result.reason = found.reason;
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
  Dataset compared = data;         // squared error compares with y less the offset, as the fit does
  std::optional<Setting> setting;  // the same for all strengths of a path
  std::vector<Verification> results;
  for (Index k = step.value_or(0); k < (step ? *step + 1 : count); ++k) {
    const Claim claim = read_claim(document, static_cast<std::size_t>(k), model_path, data);
    if (!setting) {
      setting = make_setting(claim, data);
      if (claim.shifted && claim.loss == "gaussian") compared.response -= data.offset;
    }
    results.push_back(judge(claim, bounds(claim, *setting, compared)));
    if (claim.relaxed) judge_relaxed(claim, *setting, compared, results.back());
  }
  return results;
}

}  // namespace tyto
