#include "tyto/problem/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tyto/base/error.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

double keep_all(std::span<double>, const SortedL1&) { return 0; }

// What is left of the bounds, at the front of where they were, and the least of what may stay.
struct Left {
  std::span<double> bounds;
  double cut;
};

// The largest m with u_(m) >= w_m: drop what is below w_m, m the number that is left, until nothing drops. A
// round is O(m); when rounds drop little, or little is left, sorting ends it.
Left above_smallest_weight(std::span<double> u, const SortedL1& penalty) {
  for (int round = 0; !u.empty(); ++round) {
    const double threshold = penalty.weight(std::ssize(u) - 1);
    const Index kept = kernels::gather_above(u.data(), std::ssize(u), threshold, u.data());
    if (kept == std::ssize(u)) return {u, threshold};
    const bool slow = 2 * kept > std::ssize(u);
    u = u.first(static_cast<std::size_t>(kept));
    if (!slow || (round < 8 && kept > 16384)) continue;
    sort_descending(u);
    while (!u.empty() && u.back() < penalty.weight(std::ssize(u) - 1)) u = u.first(u.size() - 1);
    return {u, u.empty() ? kNothing : u.back()};
  }
  return {u, kNothing};
}

double smallest_weight_cut(std::span<double> u, const SortedL1& penalty) {
  return above_smallest_weight(u, penalty).cut;
}

// Keeps the largest bounds up to the last place where their running surplus over the weights is at its
// maximum; what lies behind cannot pay for its weights, whatever the pattern. Contains the set of the
// smallest weight.
double cumulative_cut(std::span<double> bounds, const SortedL1& penalty) {
  const auto [u, smallest] = above_smallest_weight(bounds, penalty);
  const Index left = std::ssize(u);
  // A bound above w_1 pays for any weight; in the sums below, a huge one would drown the others.
  for (double& bound : u) bound = std::min(bound, penalty.weight(0));
  // Rounding of the sums must not drop a column: each of `left` additions may be wrong by half an epsilon.
  const double error =
      std::max(1e-12, static_cast<double>(left + 8) * std::numeric_limits<double>::epsilon());
  const double slack = error * std::max(penalty.weight_sum(left), std::accumulate(u.begin(), u.end(), 0.0));
  const Index kept = paying_prefix(u, penalty, 1.0, slack).count;
  if (kept == left) return smallest;
  return kept == 0 ? kNothing : *std::min_element(u.begin(), u.begin() + kept);
}

constexpr std::array<ScreeningRule, 4> kRules{{
    {"none", false, true, keep_all, "no screening"},
    {"seed", true, true, smallest_weight_cut, "Algorithm 1 of Bao, Gu & Huang 2020"},
    {"safe", true, true, cumulative_cut, "the cumulative rule, as strong as Elvira & Herzet 2023"},
    {"strong", true, false, keep_all, "a guess from the strength before, checked at the end; for comparison"},
}};

}  // namespace

std::span<const ScreeningRule> screening_rules() { return kRules; }

const ScreeningRule& screening_rule(std::string_view name) {
  std::string known;
  for (const ScreeningRule& rule : kRules) {
    if (rule.name == name) return rule;
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
  }
  throw InvalidArgument("screening: unknown rule '" + std::string(name) + "'; known: " + known);
}

bool BestSphere::update(const Certificate& c, Index rows) {
  if (c.primal < primal_) primal_ = c.primal, primal_rounding_ = c.rounding;
  if (c.dual > dual_) {
    dual_ = c.dual, dual_rounding_ = c.rounding;
    sphere_.correlation = c.scale * c.correlation;
    sphere_.norm = std::abs(c.scale) * c.residual_norm;
  }
  // The two may be of different points: their difference rounds like the numbers themselves.
  const double sums = (4 + std::sqrt(static_cast<double>(rows))) * std::numeric_limits<double>::epsilon();
  const double rounding = primal_rounding_ + dual_rounding_ + sums * (primal_ + std::abs(dual_));
  sphere_.radius = std::sqrt(2 * (std::max(primal_ - dual_, 0.0) + rounding));
  if (!(sphere_.radius <= 0.9 * tried_)) return false;  // nor where a solver overflowed
  tried_ = sphere_.radius;
  return true;
}

void BestSphere::restrict_to(std::span<const Index> survivors) {
  if (sphere_.correlation.size() > 0) sphere_.correlation = tyto::restrict_to(sphere_.correlation, survivors);
}

Vector sphere_bounds(const Problem& problem, const Sphere& sphere) {
  const Design& design = problem.design;
  const double margin =
      std::numeric_limits<double>::epsilon() * static_cast<double>(design.rows() + 16) * sphere.norm;
  const double ridge_margin = margin * std::sqrt(problem.ridge);
  const Vector with_ridge = problem.ridge > 0 ? norms(problem) : Vector();
  const auto length = (problem.ridge > 0 ? with_ridge : design.norms()).array();
  const auto reach = sphere.radius * length + margin * design.magnitudes().array() + ridge_margin;
  if (problem.penalty.nonnegative()) return (sphere.correlation.array() + reach).max(0.0);
  return sphere.correlation.array().abs() + reach;
}

// At the solution of rho times this penalty J°(X'r) is rho; |x_j'r| may grow by (rho - 1) w_j, so it has to
// be at least (2 - rho) w_j.
IndexSet strong_survivors(const Problem& problem, const Vector& correlation) {
  const double level = 2 - std::max(1.0, problem.penalty.dual_norm(correlation));
  const double cut = level > 0 ? paying_cut(correlation, problem.penalty, level) : 0;
  Vector room;
  return entries_above(problem.penalty.counted(correlation, room), cut);
}

IndexSet survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere) {
  const Index p = problem.design.cols();
  const Vector bound = sphere_bounds(problem, sphere);
  Vector scratch = bound;
  return entries_above(bound, rule.cut({scratch.data(), static_cast<std::size_t>(p)}, problem.penalty));
}

}  // namespace tyto
