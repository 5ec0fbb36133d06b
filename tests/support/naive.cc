#include "tests/support/naive.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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
    for (Index i = 0; i < design.rows(); ++i) {
      Real& entry = x[at(j)][at(i)];
      if (design.roots().size() > 0) entry *= static_cast<Real>(design.roots()[i]);
      for (Index d = 0; d < design.basis().cols(); ++d)
        entry -= static_cast<Real>(design.basis()(i, d)) * static_cast<Real>(design.offsets()(d, j));
      entry /= static_cast<Real>(design.scale(j));
    }
  }
  return x;
}

Real dot(const Reals& a, const Reals& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

std::vector<Reals> columns(const Problem& problem) {
  std::vector<Reals> x = columns(problem.design);
  for (std::size_t j = 0; j < x.size() && problem.ridge > 0; ++j) {
    x[j].resize(x[j].size() + x.size(), 0);
    x[j][at(problem.design.rows()) + j] = std::sqrt(static_cast<Real>(problem.ridge));
  }
  return x;
}

Reals response(const Problem& problem) {
  Reals y = reals(problem.loss->response());
  if (problem.ridge > 0) y.resize(y.size() + at(problem.design.cols()), 0);
  return y;
}

namespace {

Reals residual(const Problem& problem, const std::vector<Reals>& x, const Vector& beta) {
  Reals r = response(problem);
  for (std::size_t j = 0; j < x.size(); ++j)
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] -= x[j][i] * static_cast<Real>(beta[static_cast<Index>(j)]);
  return r;
}

// J°(X'v): of positive parts, where coefficients are not negative.
Real dual_norm_of_correlation(const Problem& problem, const std::vector<Reals>& x, const Reals& v) {
  Reals correlation;
  for (const Reals& column : x) {
    const Real product = dot(column, v);
    correlation.push_back(problem.penalty.nonnegative() ? std::max<Real>(product, 0) : std::abs(product));
  }
  return dual_norm(reals(problem.penalty.weights()), correlation);
}

Real penalty(const Problem& problem, const Vector& beta) {
  if (problem.penalty.nonnegative() && (beta.array() < 0).any()) return std::numeric_limits<Real>::infinity();
  return value(problem.penalty.weights(), beta);
}

}  // namespace

Certificate certify(const Problem& problem, const Vector& beta) {
  const std::vector<Reals> x = columns(problem);
  const Reals r = residual(problem, x, beta);
  const Real norm = dual_norm_of_correlation(problem, x, r), rr = dot(r, r), ry = dot(r, response(problem));
  Real s = rr > 0 ? ry / rr : 0;
  if (norm > 0) s = std::clamp(s, -1 / norm, 1 / norm);
  if (problem.penalty.nonnegative()) s = std::max<Real>(s, 0);
  return {rr / 2 + penalty(problem, beta), s * ry - s * s * rr / 2};
}

Certificate certify(const Problem& problem, const Vector& beta, Reals theta) {
  const std::vector<Reals> x = columns(problem);
  const Reals r = residual(problem, x, beta);
  const Real norm = dual_norm_of_correlation(problem, x, theta);
  for (Real& entry : theta) entry /= std::max<Real>(1, norm);
  return {dot(r, r) / 2 + penalty(problem, beta), dot(theta, response(problem)) - dot(theta, theta) / 2};
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
