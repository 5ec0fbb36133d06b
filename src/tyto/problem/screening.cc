#include "tyto/problem/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

double keep_all(std::span<double>, const SortedL1&, const Tuning::Screening&) { return 0; }

// The bounds that are left, at the front of where they were, and the least bound that may stay.
struct Left {
  std::span<double> bounds;
  double cut;
};

// The largest m with u_(m) >= w_m: drop what is below w_m, m the number that is left, until nothing drops. A
// round is O(m); when rounds drop little, or little is left, sorting ends it.
Left above_smallest_weight(std::span<double> u, const SortedL1& penalty, const Tuning::Screening& tuning) {
  for (int round = 0; !u.empty(); ++round) {
    const double threshold = penalty.weight(std::ssize(u) - 1);
    const Index kept = kernels::gather_above(u.data(), std::ssize(u), threshold, u.data());
    if (kept == std::ssize(u)) return {u, threshold};
    const bool slow = above_share(kept, tuning.slow_round, std::ssize(u));
    u = u.first(static_cast<std::size_t>(kept));
    if (!slow || (round < tuning.slow_rounds && kept > tuning.sort_at)) continue;
    sort_descending(u);
    while (!u.empty() && u.back() < penalty.weight(std::ssize(u) - 1)) u = u.first(u.size() - 1);
    return {u, u.empty() ? kNothing : u.back()};
  }
  return {u, kNothing};
}

double smallest_weight_cut(std::span<double> u, const SortedL1& penalty, const Tuning::Screening& tuning) {
  return above_smallest_weight(u, penalty, tuning).cut;
}

// Keeps the largest bounds up to the last place where their running surplus over the weights is at its
// maximum; what lies behind cannot pay for its weights, whatever the pattern. Contains the set of the
// smallest weight.
double cumulative_cut(std::span<double> bounds, const SortedL1& penalty, const Tuning::Screening& tuning) {
  const auto [u, smallest] = above_smallest_weight(bounds, penalty, tuning);
  const Index left = std::ssize(u);
  // A bound above w_1 pays for any weight; in the sums below, a huge one would drown the others.
  for (double& bound : u) bound = std::min(bound, penalty.weight(0));
  // Rounding of the sums must not drop a column: each of `left` additions may be wrong by half an epsilon.
  const double larger = std::max(penalty.weight_sum(left), std::accumulate(u.begin(), u.end(), 0.0));
  const double slack = rounding::of_sum(left) * larger;
  const Index kept = paying_prefix(u, penalty, 1.0, slack).count;
  if (kept == left) return smallest;
  return kept == 0 ? kNothing : *std::min_element(u.begin(), u.begin() + kept);
}

// The error of x_j'theta, over m_j.
double product_error(const Design& design, const Sphere& sphere) {
  return rounding::of_product(design.rows()) * sphere.norm;
}

// How much the ball adds to |x_j'theta| at most.
double most_added(const Problem& problem, const Sphere& sphere) {
  const double longest = problem.design.largest_rounding_norm();
  const bool own_norms = problem.loss->has_column_norms() && problem.design.cols() > 0;
  const double in_ball = own_norms ? ball_norms(problem).maxCoeff() : longest;
  const double ridge = std::sqrt(problem.ridge);
  return rounding::kLongestColumn * (sphere.radius * in_ball + sphere.ridge_radius * ridge +
                                     product_error(problem.design, sphere) * (longest + ridge));
}

// How large |v_j| is at least, where the bound of column j is at least `least`.
double least_correlation(const Problem& problem, const Sphere& sphere, double least) {
  return rounding::kBelow * (least - most_added(problem, sphere)) /
         std::max(std::abs(sphere.scale), rounding::kNotZero);
}

// The bounds are made a block at a time, as often as they are wanted: to read them from a vector of length p
// would take as long. f(number of the first column, the bounds) may change them, and says whether to go on.
// Blocks where v alone shows that no bound is `least` or more are left out.
constexpr Index kBlock = Tuning::Screening::kBlock;
template <class F>
void for_bounds(const Problem& problem, const Sphere& sphere, double least, F f) {
  const Design& design = problem.design;
  const double margin = product_error(design, sphere), ridge_margin = margin * std::sqrt(problem.ridge);
  const double ridge_square = problem.ridge * sphere.ridge_radius * sphere.ridge_radius;
  const double reach = least_correlation(problem, sphere, least);
  const Vector& norms = ball_norms(problem);
  Eigen::Array<double, Eigen::Dynamic, 1, 0, kBlock, 1> bound;  // on the stack
  for (Index begin = 0; begin < design.cols(); begin += kBlock) {
    const auto part = [&, count = std::min(kBlock, design.cols() - begin)](const Vector& v) {
      return v.segment(begin, count).array();
    };
    const auto v = part(sphere.correlation);
    const auto norm = part(norms);
    const auto magnitude = part(design.rounding_norms());
    if (reach > 0 && kernels::count_above(v.data(), v.size(), reach) == 0) continue;
    bound.resize(v.size());
    if (problem.ridge == 0 && !problem.penalty.nonnegative()) {
      kernels::bounds({v.data(), sphere.scale}, {norm.data(), sphere.radius}, {magnitude.data(), margin},
                      bound.data(), bound.size());
    } else {
      bound = sphere.radius * norm;
      if (problem.ridge > 0) bound = (bound.square() + ridge_square).sqrt();
      bound += margin * magnitude + ridge_margin;
      if (problem.penalty.nonnegative())
        bound = (sphere.scale * v + bound).max(0.0);
      else
        bound += (sphere.scale * v).abs();
    }
    if (!f(begin, std::span(bound.data(), static_cast<std::size_t>(bound.size())))) return;
  }
}

// How many are at least `least`; it ends early when they are more than `enough`.
Index count_bounds(const Problem& problem, const Sphere& sphere, double least, Index enough) {
  Index count = 0;
  for_bounds(problem, sphere, least, [&](Index, std::span<double> block) {
    count += kernels::count_above(block.data(), std::ssize(block), least);
    return count <= enough;
  });
  return count;
}

// A value that the bounds of all columns reach which a rule keeps, if it screens: of m columns that are left,
// those with bounds below w_m are dropped. Found from v alone, as long as that drops many.
double low_cut(const Problem& problem, const Sphere& sphere) {
  const auto last_weight = [&](Index left) { return problem.penalty.weight(left - 1); };
  if (sphere.correlation.size() == 0) return 0;
  const auto [left, before] = count_down(
      sphere.correlation, [&](Index m) { return least_correlation(problem, sphere, last_weight(m)); });
  return last_weight(left > 0 ? left : before);
}

// The least bound of a column that the rule keeps, and how many it keeps. The rule sees only bounds above the
// low cut. They are seldom many: most of the memory that is reserved is never touched.
struct Kept {
  double least;
  Index count;
};
Kept kept(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
          const Tuning::Screening& tuning) {
  const Index p = problem.design.cols();
  const double low = low_cut(problem, sphere);
  std::vector<double> u;
  u.reserve(static_cast<std::size_t>(p));
  for_bounds(problem, sphere, low, [&](Index, std::span<double> block) {
    const Index kept = kernels::gather_above(block.data(), std::ssize(block), low, block.data());
    u.insert(u.end(), block.begin(), block.begin() + kept);
    return true;
  });
  std::vector<double> room = u;
  const double least = rule.cut(room, problem.penalty, tuning);
  // A cut below the low one is that of a rule that keeps all.
  return {least, least < low ? p : kernels::count_above(u.data(), std::ssize(u), least)};
}

// The two may be of different points: their difference rounds like the numbers themselves. `curvature` is
// that of the dual point (14.6); it holds for any smaller gap.
double radius(double primal, double dual, double of_terms, Index rows, double curvature) {
  const double of_difference = rounding::of_gap(rows) * (primal + std::abs(dual));
  return std::sqrt(2 * curvature * (std::max(primal - dual, 0.0) + of_terms + of_difference));
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
  std::vector<std::string> known;
  for (const ScreeningRule& rule : kRules) {
    if (rule.name == name) return rule;
    known.emplace_back(rule.name);
  }
  throw InvalidArgument(unknown_word("screening: unknown rule", name, known));
}

bool BestSphere::update(const Certificate& c, const Vector& correlation, Index rows) {
  if (c.primal < primal_) {
    primal_ = c.primal;
    primal_rounding_ = c.rounding;
  }
  if (c.dual > dual_) {
    dual_ = c.dual;
    dual_rounding_ = c.rounding;
    correlation_ = correlation;
    scale_ = c.scale;
    norm_ = std::abs(c.scale) * c.residual_magnitude;
    curvature_ = c.curvature;
  }
  radius_ = radius(primal_, dual_, primal_rounding_ + dual_rounding_, rows, curvature_);
  ridge_radius_ = radius(primal_, dual_, primal_rounding_ + dual_rounding_, rows, 1);
  // The radius is not finite where a solver overflowed.
  if (!std::isfinite(radius_) || !(radius_ <= tuning_.radius_fall * tried_)) return false;
  tried_ = radius_;
  return true;
}

void BestSphere::restrict_to(std::span<const Index> survivors) {
  if (correlation_.size() > 0) correlation_ = tyto::restrict_to(correlation_, survivors);
}

Sphere sphere_of(const Certificate& c, const Vector& correlation, Index rows) {
  return {correlation, c.scale, std::abs(c.scale) * c.residual_magnitude,
          radius(c.primal, c.dual, 2 * c.rounding, rows, c.curvature),
          radius(c.primal, c.dual, 2 * c.rounding, rows, 1)};
}

Vector sphere_bounds(const Problem& problem, const Sphere& sphere) {
  Vector result(problem.design.cols());
  for_bounds(problem, sphere, 0, [&](Index begin, std::span<double> block) {
    std::ranges::copy(block, result.data() + begin);
    return true;
  });
  return result;
}

// At the solution of rho times this penalty J°(X'r) is rho; |x_j'r| may grow by (rho - 1) w_j, so it has to
// be at least (2 - rho) w_j.
IndexSet strong_survivors(const Problem& problem, const Vector& correlation) {
  const double level = 2 - std::max(1.0, problem.penalty.dual_norm(correlation));
  const double cut = level > 0 ? paying_cut(correlation, problem.penalty, level) : 0;
  Vector room;
  return entries_above(problem.penalty.counted(correlation, room), cut);
}

// First those with bounds of w_1 or more are counted: no rule drops them.
std::optional<IndexSet> few_survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                                      Index most, const Tuning::Screening& tuning) {
  const Index p = problem.design.cols();
  if (p > 0 && most < p && count_bounds(problem, sphere, problem.penalty.weight(0), most) > most)
    return std::nullopt;
  const Kept left = kept(rule, problem, sphere, tuning);
  if (left.count > most) return std::nullopt;
  IndexSet result;
  std::array<Index, kBlock + kernels::kPadding> places;
  for_bounds(problem, sphere, left.least, [&](Index begin, std::span<double> block) {
    const Index count = kernels::find_above(block.data(), std::ssize(block), left.least, places.data());
    for (Index k = 0; k < count; ++k) result.push_back(begin + places[static_cast<std::size_t>(k)]);
    return true;
  });
  return result;
}

IndexSet survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                   const Tuning::Screening& tuning) {
  return *few_survivors(rule, problem, sphere, problem.design.cols(), tuning);
}

Index count_survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                      const Tuning::Screening& tuning) {
  return kept(rule, problem, sphere, tuning).count;
}

Index columns_left(const ScreeningRule& rule, const Problem& problem, const Certificate& c,
                   const Vector& correlation, const Tuning::Screening& tuning) {
  const Sphere sphere = sphere_of(c, correlation, problem.design.rows());
  if (!rule.safe || !rule.screens || !std::isfinite(sphere.radius)) return problem.design.cols();
  return count_survivors(rule, problem, sphere, tuning);
}

// u_j <= |scale| level w_m + what is added < w_m, if so for the smallest weight.
bool drops(const Problem& problem, const Certificate& c, double level) {
  if (problem.design.cols() == 0) return false;
  const Vector none;
  const Sphere sphere = sphere_of(c, none, problem.design.rows());
  const double room = 1 - rounding::kAbove * std::abs(c.scale) * level;
  return most_added(problem, sphere) < room * problem.penalty.weight(problem.design.cols() - 1);
}

}  // namespace tyto
