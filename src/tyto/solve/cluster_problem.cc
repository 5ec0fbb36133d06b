#include "tyto/solve/cluster_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/base/rounding.h"
#include "tyto/math/kernels.h"
#include "tyto/solve/pattern_newton.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

constexpr Index kNowhere = -1;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ClusterProblem::ClusterProblem(Matrix hessian, Start start, const SortedL1& penalty,
                               const Tuning::Clusters& tuning)
    : hessian_(std::move(hessian)),
      ascent_(std::move(start.ascent)),
      magnitude_(std::move(start.magnitudes)),
      size_(std::move(start.sizes)),
      penalty_(penalty),
      tuning_(tuning),
      all_(std::move(start.order)),
      place_(size_.size(), kNowhere),
      parent_(size_.size()),
      sign_(size_.size(), 1) {
  std::iota(parent_.begin(), parent_.end(), Index{0});
  order_.reserve(all_.size());
  above_.reserve(all_.size());
  // A cluster whose columns cancel has no curvature: a little of it keeps steps finite.
  least_curvature_ = rounding::kNotZero;
  for (const Index k : all_) {
    if (magnitude_[k] > 0) order_.push_back(k);
    least_curvature_ = std::max(least_curvature_, rounding::kLeastCurvature * hessian_(k, k));
  }
  above_.resize(order_.size());
  renumber(0, std::ssize(order_));
}

Index ClusterProblem::group(Index k) const {
  while (parent_[at(k)] != k) k = parent_[at(k)];
  return k;
}

double ClusterProblem::sign(Index k) const {
  double sign = sign_[at(k)];
  for (; parent_[at(k)] != k; sign *= sign_[at(k)]) k = parent_[at(k)];
  return sign;
}

void ClusterProblem::renumber(Index from, Index to) {
  Index above = from == 0 ? 0 : above_[at(from - 1)] + size_[at(order_[at(from - 1)])];
  for (Index i = from; i < to; ++i) {
    above_[at(i)] = above;
    place_[at(order_[at(i)])] = i;
    above += size_[at(order_[at(i)])];
  }
}

void ClusterProblem::place(Index k, Index to) {
  const Index from = place_[at(k)];
  if (from == to) return;
  if (from == kNowhere) {
    order_.insert(order_.begin() + to, k);
    above_.push_back(0);
    renumber(to, std::ssize(order_));
  } else if (to == kNowhere) {
    order_.erase(order_.begin() + from);
    above_.pop_back();
    place_[at(k)] = kNowhere;
    renumber(from, std::ssize(order_));
  } else if (from < to) {
    std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
    renumber(from, to + 1);
  } else {
    std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
    renumber(to, from + 1);
  }
}

void ClusterProblem::move(Index k, double to) {
  if (to == magnitude_[k]) return;
  kernels::axpy(magnitude_[k] - to, hessian_.col(k).data(), ascent_.data(), ascent_.size());
  magnitude_[k] = to;
}

void ClusterProblem::turn(Index k) {
  hessian_.col(k) = -hessian_.col(k);
  hessian_.row(k) = -hessian_.row(k);
  ascent_[k] = -ascent_[k];
  sign_[at(k)] = -sign_[at(k)];
}

void ClusterProblem::merge(Index k, Index into) {
  move(k, magnitude_[into]);
  place(k, kNowhere);
  hessian_.col(into) += hessian_.col(k);
  hessian_(into, into) += hessian_(k, into);
  hessian_.row(into) = hessian_.col(into);  // rows are slow to read
  ascent_[into] += ascent_[k];
  size_[at(into)] += size_[at(k)];
  parent_[at(k)] = into;
  sign_[at(k)] *= sign_[at(into)];  // so that the turns of `into` until now do not count for k
  renumber(place_[at(into)], std::ssize(order_));
}

// The exact minimum over the magnitude of one group, the others fixed: the slope of J is a step function, and
// the walk goes from step to step. It ends between two groups, on one (they merge), or at 0. Where groups are
// many, two that meet merge only if they still tie when one of them is updated again: most only pass one
// another, and would have to be cut apart.
double ClusterProblem::update(Index k) {
  const double h = std::max(hessian_(k, k), least_curvature_);
  const double pull = ascent_[k] + h * magnitude_[k];  // minus the slope of the loss at magnitude 0
  return pull < 0 ? update_beyond_zero(k, h) : update_to(k, h, pull);
}

// The minimum is at 0, or has the other sign.
double ClusterProblem::update_beyond_zero(Index k, double h) {
  const double before = magnitude_[k];
  if (before > 0) {
    move(k, 0);
    place(k, kNowhere);
  }
  const double progress = 0.5 * h * before * before;
  if (penalty_.nonnegative()) return progress;
  if (std::abs(ascent_[k]) <= price(k, columns_of_groups())) return progress;
  turn(k);
  return progress + update(k);
}

double ClusterProblem::update_to(Index k, double h, double pull) {
  const double before = magnitude_[k];
  const bool ordered = place_[at(k)] != kNowhere;
  Index i = ordered ? place_[at(k)] : std::ssize(order_);       // place among the others,
  Index above = ordered ? above_[at(i)] : columns_of_groups();  // and columns before it
  // The group at place j of the others, and how many they are.
  const auto other = [&](Index j) { return order_[at(ordered && j >= place_[at(k)] ? j + 1 : j)]; };
  const Index others = std::ssize(order_) - (ordered ? 1 : 0);
  const auto stop_on = [&](Index next) {
    const double step = magnitude_[next] - before;
    if (step == 0 || std::ssize(order_) < tuning_.late_ties) {
      merge(k, next);
    } else {
      move(k, magnitude_[next]);
      place(k, i);
    }
    return 0.5 * h * step * step;
  };
  for (int direction = 0;;) {
    const double minimum = (pull - price(k, above)) / h;  // if the order stays
    if (direction >= 0 && i > 0 && minimum > magnitude_[other(i - 1)]) {
      const Index next = other(i - 1);
      const Index beyond = above - size_[at(next)];
      if (!((pull - price(k, beyond)) / h > magnitude_[next])) return stop_on(next);
      --i;
      above = beyond;
      direction = 1;
    } else if (direction <= 0 && i < others && minimum < magnitude_[other(i)]) {
      const Index next = other(i);
      const Index beyond = above + size_[at(next)];
      if (!((pull - price(k, beyond)) / h < magnitude_[next])) return stop_on(next);
      ++i;
      above = beyond;
      direction = -1;
    } else {
      double to = std::max(minimum, 0.0);
      // Rounding must not break the order.
      if (i > 0) to = std::min(to, magnitude_[other(i - 1)]);
      if (i < others) to = std::max(to, magnitude_[other(i)]);
      move(k, to);
      place(k, to > 0 ? i : kNowhere);
      return 0.5 * h * (to - before) * (to - before);
    }
  }
}

double ClusterProblem::sweep() {
  double progress = 0;
  for (const Index k : all_)
    if (parent_[at(k)] == k) progress += update(k);
  return progress;
}

// Newton's method on the groups that are not zero. False if it did not lead down.
bool ClusterProblem::newton() {
  const Index count = std::ssize(order_);
  if (count == 0) return true;
  Matrix system(count, count);
  Vector ascent(count), magnitudes(count);
  std::vector<Index> sizes(order_.size());
  for (Index j = 0; j < count; ++j) {
    const Index k = order_[at(j)];
    for (Index i = j; i < count; ++i) system(i, j) = hessian_(order_[at(i)], k);
    ascent[j] = ascent_[k];
    magnitudes[j] = magnitude_[k];
    sizes[at(j)] = size_[at(k)];
  }
  PatternNewton method(std::move(system), std::move(ascent), std::move(sizes), std::move(magnitudes),
                       penalty_);
  method.run(tuning_.newton_steps + static_cast<int>(count / tuning_.groups_per_step), tuning_);
  return take_over(method);
}

bool ClusterProblem::take_over(const PatternNewton& method) {
  const Index count = std::ssize(order_);
  const Index leaders = std::ssize(method.order());
  const std::vector<Index> groups = order_;
  std::vector<Index> rank(groups.size(), kNowhere);
  for (Index i = 0; i < leaders; ++i) rank[at(method.order()[at(i)])] = i;
  // Leaders in their new order, each with those that joined it; the others are zero.
  std::vector<std::pair<Index, Index>> members;
  members.reserve(groups.size());
  for (Index j = 0; j < count; ++j)
    if (const Index i = rank[at(method.leader(j))]; i != kNowhere) members.emplace_back(i, j);
  std::ranges::sort(members);
  Vector values = Vector::Zero(count);
  std::vector<Index> order;
  order.reserve(groups.size());
  double limit = kInfinity;
  double penalty = 0;
  Index above = 0;
  for (const auto& [i, j] : members) {
    // Rounding must not break the order.
    limit = std::min(std::abs(method.value(method.order()[at(i)])), limit);
    values[j] = method.turned(j) ? -limit : limit;
    if (limit > 0) order.push_back(groups[at(j)]);
    penalty += limit * price(groups[at(j)], above);
    above += size_[at(groups[at(j)])];
  }
  if (!move_all(groups, values, penalty)) return false;
  order_ = order;
  above_.resize(order_.size());
  renumber(0, std::ssize(order_));
  for (const auto& [i, j] : members)
    if (const Index leader = method.order()[at(i)]; j != leader && values[j] != 0)
      merge(groups[at(j)], groups[at(leader)]);
  return true;
}

bool ClusterProblem::move_all(const std::vector<Index>& groups, const Vector& values, double penalty) {
  const Index count = values.size();
  Vector image = ascent_;
  double rise = penalty;  // of J
  double scale = 0;       // J of the old point
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    kernels::axpy(magnitude_[k] - values[j], hessian_.col(k).data(), image.data(), image.size());
    const double before = magnitude_[k] * price(k, above_[at(j)]);
    rise -= before;
    scale += before;
  }
  double fall = 0;  // of the loss
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    fall += 0.5 * (ascent_[k] + image[k]) * (values[j] - magnitude_[k]);
  }
  if (!(fall >= rise - rounding::kDescent * scale)) return false;  // uphill, by rounding
  ascent_ = image;
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    magnitude_[k] = std::abs(values[j]);
    place_[at(k)] = kNowhere;
    if (values[j] < 0) turn(k);
  }
  return true;
}

// Where groups are few, Newton's method goes first: from the solution of a nearby problem it leads straight
// to the next one, where coordinate descent would tie groups together on the way. It does not move groups
// that are zero: one sweep lets them go before. Sweeps then go on while, at their pace, they get to the
// target sooner than Newton's method, whose cost is counted in sweeps.
void ClusterProblem::solve(double target) {
  if (std::ssize(order_) <= tuning_.newton_first) {
    if (order_.size() < all_.size()) sweep();
    newton();
  }
  for (int round = 1; round < tuning_.rounds; ++round) {
    const double most = tuning_.sweeps + static_cast<double>(order_.size()) / tuning_.groups_per_sweep;
    double before = 0;
    for (double sweeps = 1;; ++sweeps) {
      const std::size_t groups = order_.size();
      const double progress = sweep();
      if (progress <= target && groups == order_.size()) return;
      if (!std::isfinite(progress)) return;  // overflow, or data that changed: no sweep leads back
      const double left = std::log(target / progress) / std::log(progress / before);  // at this pace
      const bool in_time = progress < before && sweeps + left <= most;
      if (sweeps > tuning_.pace_sweeps && progress > target && !in_time) break;
      if (sweeps > tuning_.most_sweeps * most) break;
      before = progress;
    }
    if (!newton()) return;
  }
}

}  // namespace tyto
