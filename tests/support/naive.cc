#include "tests/support/naive.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tyto::naive {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The last block whose mean exceeds that of the block before it is pooled with it, until there is none.
Reals decreasing_fit(const Reals& values) {
  std::vector<std::pair<Real, std::size_t>> blocks;  // sum, length
  const auto mean = [](const auto& block) { return block.first / static_cast<Real>(block.second); };
  for (const Real value : values) {
    blocks.emplace_back(value, 1);
    while (blocks.size() > 1 && mean(blocks.back()) >= mean(blocks[blocks.size() - 2])) {
      const auto last = blocks.back();
      blocks.pop_back();
      blocks.back().first += last.first, blocks.back().second += last.second;
    }
  }
  Reals fitted;
  for (const auto& block : blocks) fitted.insert(fitted.end(), block.second, std::max<Real>(0, mean(block)));
  return fitted;
}

}  // namespace

Reals reals(const Vector& v) { return {v.begin(), v.end()}; }

Reals sorted_magnitudes(const Vector& v) {
  Reals magnitudes = reals(v);
  for (Real& entry : magnitudes) entry = std::abs(entry);
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  return magnitudes;
}

Real value(const Vector& weights, const Vector& beta) { return dot(reals(weights), sorted_magnitudes(beta)); }

Reals prox(const Vector& weights, const Vector& v, double step) {
  std::vector<Index> order(at(v.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return std::abs(v[i]) > std::abs(v[j]); });
  Reals shifted(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    shifted[k] = std::abs(static_cast<Real>(v[order[k]])) -
                 static_cast<Real>(step) * static_cast<Real>(weights[static_cast<Index>(k)]);
  const Reals fitted = decreasing_fit(shifted);
  Reals result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    result[at(order[k])] = v[order[k]] < 0 ? -fitted[k] : fitted[k];
  return result;
}

Real dual_norm(const Reals& weights, Reals magnitudes) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real norm = 0, paid = 0, owed = 0;
  for (std::size_t k = 0; k < magnitudes.size(); ++k) {
    paid += magnitudes[k], owed += weights[k];
    norm = std::max(norm, paid / owed);
  }
  return norm;
}

Real dual_norm(const Vector& weights, const Vector& g) {
  return dual_norm(reals(weights), sorted_magnitudes(g));
}

std::vector<Reals> columns(const Design& design) {
  std::vector<Reals> x(at(design.cols()));
  for (Index j = 0; j < design.cols(); ++j) {
    x[at(j)].assign(at(design.rows()), 0);
    design.for_each_entry(j, [&](Index i, double raw) { x[at(j)][at(i)] = raw; });
    for (Real& entry : x[at(j)])
      entry = (entry - static_cast<Real>(design.centers()[j])) / static_cast<Real>(design.scales()[j]);
  }
  return x;
}

Real dot(const Reals& a, const Reals& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

namespace {

Reals residual(const Problem& problem, const std::vector<Reals>& x, const Vector& beta) {
  Reals r = reals(problem.y);
  for (std::size_t j = 0; j < x.size(); ++j)
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] -= x[j][i] * static_cast<Real>(beta[static_cast<Index>(j)]);
  return r;
}

// J°(X'v).
Real dual_norm_of_correlation(const Problem& problem, const std::vector<Reals>& x, const Reals& v) {
  Reals correlation;
  for (const Reals& column : x) correlation.push_back(std::abs(dot(column, v)));
  return dual_norm(reals(problem.penalty.weights()), correlation);
}

}  // namespace

Certificate certify(const Problem& problem, const Vector& beta) {
  const std::vector<Reals> x = columns(problem.design);
  const Reals r = residual(problem, x, beta);
  const Real norm = dual_norm_of_correlation(problem, x, r), rr = dot(r, r), ry = dot(r, reals(problem.y));
  Real s = rr > 0 ? ry / rr : 0;
  if (norm > 0) s = std::clamp(s, -1 / norm, 1 / norm);
  return {rr / 2 + value(problem.penalty.weights(), beta), s * ry - s * s * rr / 2};
}

Certificate certify(const Problem& problem, const Vector& beta, Reals theta) {
  const std::vector<Reals> x = columns(problem.design);
  const Reals r = residual(problem, x, beta);
  const Real norm = dual_norm_of_correlation(problem, x, theta);
  for (Real& entry : theta) entry /= std::max<Real>(1, norm);
  return {dot(r, r) / 2 + value(problem.penalty.weights(), beta),
          dot(theta, reals(problem.y)) - dot(theta, theta) / 2};
}

Index smallest_weight_count(std::vector<double> bounds, const Vector& weights) {
  std::sort(bounds.begin(), bounds.end(), std::greater<>());
  auto kept = static_cast<Index>(bounds.size());
  while (kept > 0 && bounds[at(kept - 1)] < weights[kept - 1]) --kept;
  return kept;
}

Index cumulative_count(std::vector<double> bounds, const Vector& weights) {
  std::sort(bounds.begin(), bounds.end(), std::greater<>());
  Index kept = 0;
  Real surplus = 0;
  for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i) {
    surplus += static_cast<Real>(bounds[at(i)]) - static_cast<Real>(weights[i]);
    if (surplus >= 0) kept = i + 1, surplus = 0;
  }
  return kept;
}

}  // namespace tyto::naive
