// The certificate of losses other than squared error (MATH.md, section 14), in extended precision.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tyto/base/error.h"
#include "tyto/verify/setting.h"

namespace tyto::verifying {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

// What a row of a loss says: f, y - mu, the curvature; and the divergence d(q, mu) of q = mu + step.
struct Row {
  Real value, residual, curvature;
};
struct LossCode {
  const char* name;
  Row (*at)(Real y, Real eta, Real delta);
  Real (*divergence)(Real y, Real eta, Real step, Real delta);
};

Row binomial(Real y, Real eta, Real) {
  const Real small = std::exp(-std::abs(eta));
  const Real likely = 1 / (1 + small);
  const Real mu = eta >= 0 ? likely : small * likely;
  const Real nu = eta >= 0 ? small * likely : likely;
  const Real residual = y * nu - (1 - y) * mu;
  // A share may be what the model says: then the terms below cancel, and rounding would be all that is left.
  if (y > 0 && y < 1 && mu > 0 && nu > 0)
    return {relative_entropy(y, mu) + relative_entropy(1 - y, nu), residual, mu * nu};
  const Real value = std::log1p(small) + (eta >= 0 ? (1 - y) * eta : -y * eta);
  const Real entropy = y > 0 && y < 1 ? y * std::log(y) + (1 - y) * std::log1p(-y) : 0;
  return {value + entropy, residual, mu * nu};
}
Real binomial_divergence(Real, Real eta, Real step, Real) {
  const Real small = std::exp(-std::abs(eta));
  const Real likely = 1 / (1 + small);
  const Real mu = eta >= 0 ? likely : small * likely;
  const Real nu = eta >= 0 ? small * likely : likely;
  return relative_entropy(mu + step, mu) + relative_entropy(nu - step, nu);
}

Row poisson(Real y, Real eta, Real) {
  const Real mu = std::exp(eta);
  return {relative_entropy(y, mu), y - mu, mu};
}
Real poisson_divergence(Real, Real eta, Real step, Real) {
  const Real mu = std::exp(eta);
  return relative_entropy(mu + step, mu);
}

Row huber(Real y, Real eta, Real delta) {
  const Real u = y - eta;
  if (std::abs(u) <= delta) return {u * u / 2, u, 1};
  return {delta * (std::abs(u) - delta / 2), std::copysign(delta, u), 0};
}
// f(eta) + f*(-theta) + theta eta, with theta = -f' - step.
Real huber_divergence(Real y, Real eta, Real step, Real delta) {
  const Row row = huber(y, eta, delta);
  const Real theta = row.residual - step;
  if (std::abs(theta) > delta * (1 + 10 * kRealEpsilon)) return kInfinity;
  if (row.curvature == 1) return step * step / 2;
  const Real u = y - eta;
  const Real at = std::clamp(theta, -delta, delta);  // rounding may have left the domain
  return delta * std::abs(u) - delta * delta / 2 - at * u + at * at / 2;
}

Row squared_hinge(Real y, Real eta, Real) {
  const Real sign = y == 1 ? 1 : -1;
  const Real short_of = 1 - sign * eta;
  if (short_of <= 0) return {0, 0, 0};
  return {short_of * short_of / 2, sign * short_of, 1};
}
// f*(-theta) = theta^2 / 2 - sign theta where sign theta >= 0.
Real squared_hinge_divergence(Real y, Real eta, Real step, Real) {
  const Row row = squared_hinge(y, eta, 0);
  const Real sign = y == 1 ? 1 : -1;
  const Real theta = row.residual - step;
  if (sign * theta < -10 * kRealEpsilon) return kInfinity;
  if (row.curvature == 1) return step * step / 2;
  const Real at = std::max<Real>(sign * theta, 0);  // rounding may have left the domain
  return at * at / 2 + at * (sign * eta - 1);
}

constexpr LossCode kLosses[] = {
    {"binomial", binomial, binomial_divergence},
    {"poisson", poisson, poisson_divergence},
    {"huber", huber, huber_divergence},
    {"squared-hinge", squared_hinge, squared_hinge_divergence},
};

const LossCode& code_of(const Claim& claim) {
  for (const LossCode& one : kLosses)
    if (claim.loss == one.name) return one;
  throw DataError("expected a loss that this program knows, got '" + claim.loss + "'");
}

// The place of a row's class among those of the claim.
template <class Class>
Real place_of(const Class& value, const std::vector<Class>& classes, std::size_t row) {
  const auto found = std::ranges::find(classes, value);
  if (found == classes.end())
    throw InvalidArgument(fmt::format("response: row {}: want a class of the model, got {}", row, value));
  return static_cast<Real>(found - classes.begin());
}

// Takes what is not orthogonal to the directions out of r, along the curvature.
void take_out_along(const std::vector<Reals>& directions, const Reals& curvature, Reals& residual) {
  const std::size_t count = directions.size();
  std::vector<Reals> a(count, Reals(count));
  Reals b(count);
  for (std::size_t k = 0; k < count; ++k) {
    b[k] = dot(directions[k], residual);
    for (std::size_t l = 0; l < count; ++l)
      for (std::size_t i = 0; i < residual.size(); ++i)
        a[k][l] += directions[k][i] * curvature[i] * directions[l][i];
  }
  const Reals shift = solved(std::move(a), std::move(b));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < residual.size(); ++i)
      residual[i] -= shift[k] * curvature[i] * directions[k][i];
}

// Rows whose curvature is below this are flat: their dual point is at, or nearly at, the end of its domain.
constexpr Real kFlat = 1e-9L;

// Residuals that are orthogonal to the directions, each a dual point: its gap is a bound whichever it is.
std::vector<Reals> orthogonal_ones(std::vector<Reals> directions, const Reals& curvature,
                                   const Reals& residual) {
  for (Reals& direction : directions) {
    const Real norm = std::sqrt(dot(direction, direction));
    for (Real& x : direction) x /= norm;
  }
  const Real rounding = 1e-15L * std::sqrt(dot(residual, residual));
  const auto is_orthogonal = [&](const Reals& r) {
    return std::ranges::all_of(directions, [&](const Reals& d) { return std::abs(dot(d, r)) <= rounding; });
  };
  std::vector<Reals> found;
  // Along the curvature: flat rows stay as they are, so that the dual point stays in its domain (14.5).
  Reals along = residual;
  take_out_along(directions, curvature, along);
  if (is_orthogonal(along)) found.push_back(std::move(along));
  if (std::ranges::all_of(curvature, [](Real value) { return value >= kFlat; })) return found;
  // With flat rows at the end of their domain, which other points may miss by rounding.
  Reals ended = residual;
  Reals curved = curvature;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    if (curvature[i] >= kFlat) continue;
    curved[i] = 0;
    if (std::abs(residual[i]) < kFlat) ended[i] = 0;
  }
  take_out_along(directions, curved, ended);
  if (is_orthogonal(ended)) found.push_back(std::move(ended));
  // Where the other rows are too few, flat ones move as well.
  Reals raised = residual;
  for (std::size_t i = 0; i < residual.size(); ++i) curved[i] = std::max(curvature[i], kFlat);
  take_out_along(directions, curved, raised);
  found.push_back(std::move(raised));
  return found;
}

// The terms of the gap that do not depend on the scale of the dual point.
struct Terms {
  const LossCode& code;
  const Setting& setting;
  Reals y, eta;
  Reals residual, dual;  // y - mu, and what is orthogonal to the directions instead: the dual point is s dual
  Real delta;
  Real ridge_square, norm, product;
};
Real gap_at(const Terms& of, Real scale) {
  Real gap = (1 - scale) * (1 - scale) * of.ridge_square / 2 + of.norm - scale * of.product;
  for (std::size_t i = 0; i < of.y.size(); ++i)
    if (of.setting.weights[i] > 0)
      gap += of.setting.weights[i] *
             of.code.divergence(of.y[i], of.eta[i], of.residual[i] - scale * of.dual[i], of.delta);
  return gap;
}

// The least gap of the multiples of a dual point, given by its rows times the roots of their weights.
Real gap_of(Terms& of, const Claim& claim, const Dataset& data, const Reals& beta, const Reals& dual) {
  for (std::size_t i = 0; i < dual.size(); ++i)
    if (of.setting.roots[i] > 0) of.dual[i] = dual[i] / of.setting.roots[i];
  const Reals pulls = correlations(of.setting, data, dual);
  of.product = 0;
  for (std::size_t k = 0; k < pulls.size(); ++k) of.product += beta[k] * (pulls[k] - claim.ridge * beta[k]);
  const Real bound = dual_norm(counted(claim, pulls, beta), claim.weights);
  return least_gap([&](Real scale) { return gap_at(of, scale); }, bound > 0 ? 1 / bound : kInfinity);
}

}  // namespace

Real relative_entropy(Real x, Real z) {
  if (x < 0) return kInfinity;
  if (x == 0) return z;
  const Real t = (x - z) / z;
  if (std::abs(t) < 1e-4L)
    return z * t * t * (1 - t / 3 + t * t / 6 - t * t * t / 10 + t * t * t * t / 15) / 2;
  return x * std::log(x / z) - x + z;
}

Reals encoded(const Claim& claim, const Dataset& data) {
  Reals y(data.response.begin(), data.response.end());
  if (claim.labels.empty() != data.labels.empty())
    throw InvalidArgument("response: want the classes of the model, words or numbers, got the other");
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!claim.labels.empty())
      y[i] = place_of(data.labels.at(static_cast<std::size_t>(y[i])), claim.labels, i);
    else if (!claim.classes.empty())
      y[i] = place_of(data.response[static_cast<Index>(i)], claim.classes, i);
  }
  return y;
}

Bounds loss_bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  if (claim.loss == "cox") return cox_bounds(claim, setting, data);
  const LossCode& code = code_of(claim);
  const Fitted model = fitted(claim, setting, data, claim.constants[0]);
  Terms of{code, setting, encoded(claim, data), model.predictor, {}, {}, claim.huber_delta, 0, 0, 0};
  const std::size_t n = of.y.size();
  if (claim.shifted)
    for (std::size_t i = 0; i < n; ++i) of.eta[i] += data.offset[static_cast<Index>(i)];
  of.residual.resize(n);
  of.dual.resize(n);
  Reals residual(n);
  Reals curvature(n);
  Real value = 0;
  Real predictors = 0;
  Real squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (setting.weights[i] == 0) continue;
    const Row row = code.at(of.y[i], of.eta[i], of.delta);
    value += setting.weights[i] * row.value;
    of.residual[i] = row.residual;
    residual[i] = setting.roots[i] * row.residual;
    curvature[i] = row.curvature;
    predictors += setting.weights[i] * of.eta[i] * of.eta[i];
    squares += setting.weights[i] * of.y[i] * of.y[i];
  }
  of.ridge_square = claim.ridge * dot(model.beta, model.beta);
  of.norm = sorted_product(magnitudes(model.beta), claim.weights);
  const Real primal = value + of.ridge_square / 2 + of.norm;
  const Real rounding = 4 * std::numeric_limits<double>::epsilon() * (std::sqrt(predictors) + model.spread);
  const Real noise = rounding * (std::sqrt(dot(residual, residual)) + rounding / 2);
  Real gap = kInfinity;
  for (const Reals& dual : orthogonal_ones(setting.directions, curvature, residual))
    gap = std::min(gap, gap_of(of, claim, data, model.beta, dual));
  return {squares, primal, primal - gap, noise + 1e-12L * primal, model.allowed};
}

}  // namespace tyto::verifying
