// The certificate of the loss cox (MATH.md, section 14), in extended precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/base/error.h"
#include "tyto/verify/setting.h"

namespace tyto::verifying {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// One time with events: its risk set is all rows up to `end` in the order of time.
struct Time {
  std::size_t end;
  std::vector<std::size_t> events;  // rows
  Real died, sum;                   // weight of the events; of v exp(eta) over the risk set
};

// Rows from the latest time to the earliest, and what follows from their linear predictors.
struct Survival {
  std::vector<std::size_t> order;
  std::vector<Time> times;
  Reals weights, sizes;  // v; v exp(eta), over the largest exp(eta)
  Reals hazard;          // of each row: sum of d / sum over the times that it was there
  Real value = 0;        // the loss
  Real magnitude = 0;    // of its terms, which may cancel
};

Survival survival(const Setting& setting, const Dataset& data, const Reals& eta) {
  Survival result;
  result.weights = setting.weights;
  result.sizes.assign(eta.size(), 0);
  result.hazard.assign(eta.size(), 0);
  Real top = -kInfinity;
  for (std::size_t i = 0; i < eta.size(); ++i) {
    if (setting.weights[i] == 0) continue;
    result.order.push_back(i);
    top = std::max(top, eta[i]);
  }
  const auto time = [&](std::size_t i) { return data.response[static_cast<Index>(i)]; };
  std::ranges::sort(result.order, [&](std::size_t i, std::size_t k) { return time(i) > time(k); });
  Real sum = 0;
  for (std::size_t begin = 0, end = 0; begin < result.order.size(); begin = end) {
    Time here{0, {}, 0, 0};
    for (; end < result.order.size() && time(result.order[end]) == time(result.order[begin]); ++end) {
      const std::size_t i = result.order[end];
      result.sizes[i] = setting.weights[i] * std::exp(eta[i] - top);
      sum += result.sizes[i];
      if (data.events[static_cast<Index>(i)] == 0) continue;
      here.events.push_back(i);
      here.died += setting.weights[i];
      result.value -= setting.weights[i] * (eta[i] - top);
      result.magnitude += setting.weights[i] * (1 + std::abs(eta[i]) + std::abs(top));
    }
    here.end = end;
    here.sum = sum;
    if (here.events.empty()) continue;
    const Real logarithm = std::log(sum / here.died);
    result.value += here.died * logarithm;
    result.magnitude += here.died * std::abs(logarithm);
    result.times.push_back(std::move(here));
  }
  Real hazard = 0;
  std::size_t end = result.order.size();
  for (std::size_t t = result.times.size(); t-- > 0;) {
    for (std::size_t k = end; k-- > result.times[t].end;) result.hazard[result.order[k]] = hazard;
    end = result.times[t].end;
    hazard += result.times[t].died / result.times[t].sum;
  }
  for (std::size_t k = 0; k < end; ++k) result.hazard[result.order[k]] = hazard;
  return result;
}

// The mean of x over each risk set.
Reals means(const Survival& of, const Reals& x) {
  Reals result;
  Real sum = 0;
  std::size_t k = 0;
  for (const Time& time : of.times) {
    for (; k < time.end; ++k) sum += of.sizes[of.order[k]] * x[of.order[k]];
    result.push_back(sum / time.sum);
  }
  return result;
}

// The second derivative times a change x of eta.
Reals curved(const Survival& of, const Reals& x) {
  const Reals mean = means(of, x);
  Reals result(x.size(), 0);
  Real together = 0;
  std::size_t end = of.order.size();
  const auto write = [&](std::size_t begin) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = of.order[k];
      result[i] = of.sizes[i] * (of.hazard[i] * x[i] - together);
    }
    end = begin;
  };
  for (std::size_t t = of.times.size(); t-- > 0;) {
    write(of.times[t].end);
    together += of.times[t].died * mean[t] / of.times[t].sum;
  }
  write(0);
  return result;
}

// The change of eta along the unpenalised columns for which r - H x is orthogonal to them. The first
// direction is the constant: it changes nothing, so that rounding alone would say how far to go along it.
Reals correction(const Survival& of, const Setting& setting, const Reals& residual) {
  // As columns of eta, of length 1.
  std::vector<Reals> directions(setting.directions.begin() + 1, setting.directions.end());
  for (Reals& direction : directions) {
    const Real norm = std::sqrt(dot(direction, direction));
    for (std::size_t i = 0; i < direction.size(); ++i)
      direction[i] = setting.roots[i] > 0 ? direction[i] / (setting.roots[i] * norm) : 0;
  }
  const std::size_t count = directions.size();
  std::vector<Reals> a(count, Reals(count));
  Reals b(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Reals second = curved(of, directions[k]);
    for (std::size_t l = 0; l < count; ++l) a[l][k] = dot(directions[l], second);
    b[k] = dot(directions[k], residual);
  }
  const Reals shift = solved(std::move(a), std::move(b));
  Reals change(residual.size(), 0);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < change.size(); ++i) change[i] += shift[k] * directions[k][i];
  return change;
}

// The divergence of the dual point s (r - H x). Of each time, the distribution that stands for it is
// q = (1 - s) v / d + s p (1 + e), e = x less its mean. With x = 0 it is the relative entropy of that and p;
// otherwise a bound: log(q / p) at x = 0 times s p e, and s p e^2, which the relative entropy of the two q's
// is at most.
Real divergence(const Survival& of, const Reals& x, Real scale) {
  const Reals mean = means(of, x);
  Reals squares = x;
  for (Real& value : squares) value *= value;
  const Reals second = means(of, squares);
  const Real logarithm = scale > 0 ? std::log(scale) : 0;
  Real total = 0;
  for (std::size_t t = 0; t < of.times.size(); ++t) {
    const Time& time = of.times[t];
    Real others = 1;
    Real sum = 0;
    for (const std::size_t i : time.events) {
      const Real p = of.sizes[i] / time.sum;
      const Real q = (1 - scale) * of.weights[i] / time.died + scale * p;
      const Real change = x[i] - mean[t];
      if (!(q >= 0) || std::abs(change) > 1) return kInfinity;
      const Real ratio = q > 0 ? std::log(q / p) : 0;
      sum += q * ratio + scale * p * change * (ratio - logarithm);
      others -= p;
    }
    sum += others * scale * logarithm + scale * std::max<Real>(0, second[t] - mean[t] * mean[t]);
    total += time.died * sum;
  }
  return total;
}

}  // namespace

Bounds cox_bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  const Fitted model = fitted(claim, setting, data, 0);
  Reals eta = model.predictor;
  if (claim.shifted)
    for (Index i = 0; i < claim.n; ++i) eta[at(i)] += data.offset[i];
  const Survival of = survival(setting, data, eta);
  Reals residual(eta.size(), 0);
  Real squares = 0;
  Real predictors = 0;
  for (const std::size_t i : of.order) {
    const auto row = static_cast<Index>(i);
    residual[i] = setting.weights[i] * data.events[row] - of.sizes[i] * of.hazard[i];
    squares += setting.weights[i] * data.response[row] * data.response[row];
    predictors += setting.weights[i] * eta[i] * eta[i];
  }
  const Reals change = correction(of, setting, residual);
  const Reals second = curved(of, change);
  Reals dual(eta.size(), 0);  // as the rows of the setting are weighted
  for (const std::size_t i : of.order) dual[i] = (residual[i] - second[i]) / setting.roots[i];
  const Real ridge_square = claim.ridge * dot(model.beta, model.beta);
  const Real norm = sorted_product(magnitudes(model.beta), claim.weights);
  const Real primal = of.value + ridge_square / 2 + norm;
  const Reals pulls = correlations(setting, data, dual);
  Real product = 0;
  for (std::size_t k = 0; k < pulls.size(); ++k)
    product += model.beta[k] * (pulls[k] - claim.ridge * model.beta[k]);
  const Real bound = dual_norm(counted(claim, correlations(setting, data, dual), model.beta), claim.weights);
  const auto gap_at = [&](Real scale) {
    return divergence(of, change, scale) + (1 - scale) * (1 - scale) * ridge_square / 2 + norm -
           scale * product;
  };
  const Real gap = least_gap(gap_at, bound > 0 ? 1 / bound : kInfinity);
  const Real rounding = 4 * std::numeric_limits<double>::epsilon() * (std::sqrt(predictors) + model.spread);
  const Real terms = 10 * kRealEpsilon * of.magnitude;
  const Real noise = rounding * (std::sqrt(dot(dual, dual)) + rounding / 2) + terms;
  return {squares, primal, primal - gap, noise + 1e-12L * primal, model.allowed};
}

}  // namespace tyto::verifying
