#include "tyto/solve/cluster_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/math/kernels.h"
#include "tyto/solve/pattern_newton.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

constexpr Index kNowhere = -1;
constexpr Index kMany = 256;  // groups
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ClusterProblem::ClusterProblem(Matrix hessian, Start start, const SortedL1& penalty)
    : hessian_(std::move(hessian)),
      ascent_(std::move(start.ascent)),
      magnitude_(std::move(start.magnitudes)),
      size_(std::move(start.sizes)),
      penalty_(penalty),
      all_(std::move(start.order)),
      place_(size_.size(), kNowhere),
      parent_(size_.size()),
      sign_(size_.size(), 1) {
  std::iota(parent_.begin(), parent_.end(), Index{0});
  order_.reserve(all_.size()), above_.reserve(all_.size());
  // A cluster whose columns cancel has no curvature: a little of it keeps steps finite.
  least_curvature_ = 1e-300;
  for (const Index k : all_) {
    if (magnitude_[k] > 0) order_.push_back(k);
    least_curvature_ = std::max(least_curvature_, 1e-15 * hessian_(k, k));
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
    above_[at(i)] = above, place_[at(order_[at(i)])] = i;
    above += size_[at(order_[at(i)])];
  }
}

void ClusterProblem::place(Index k, Index to) {
  const Index from = place_[at(k)];
  if (from == to) return;
  if (from == kNowhere) {
    order_.insert(order_.begin() + to, k), above_.push_back(0);
    renumber(to, std::ssize(order_));
  } else if (to == kNowhere) {
    order_.erase(order_.begin() + from), above_.pop_back();
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
  hessian_.col(k) = -hessian_.col(k), hessian_.row(k) = -hessian_.row(k);
  ascent_[k] = -ascent_[k], sign_[at(k)] = -sign_[at(k)];
}

void ClusterProblem::merge(Index k, Index into) {
  move(k, magnitude_[into]);
  place(k, kNowhere);
  hessian_.col(into) += hessian_.col(k);
  hessian_(into, into) += hessian_(k, into);
  hessian_.row(into) = hessian_.col(into);  // rows are slow to read
  ascent_[into] += ascent_[k];
  size_[at(into)] += size_[at(k)];
  parent_[at(k)] = into, sign_[at(k)] *= sign_[at(into)];  // turns of `into` until now are not those of k
  renumber(place_[at(into)], std::ssize(order_));
}

// The exact minimum over the magnitude of one group, the others fixed: the slope of J is a step function, and
// the walk goes from step to step. It ends between two groups, on one (they merge), or at 0. Where groups are
// many, those that meet merge only if they tie still when it is their turn again: most meet on their way to
// somewhere else, and would have to be cut apart.
double ClusterProblem::update(Index k) {
  const double h = std::max(hessian_(k, k), least_curvature_), before = magnitude_[k];
  double pull = ascent_[k] + h * before;  // what the rest asks for
  Index i = place_[at(k)], above = 0;     // place and columns before it, with k taken out
  const bool ordered = i != kNowhere;
  if (pull < 0) {  // wants the other sign
    if (before > 0) move(k, 0), place(k, kNowhere);
    if (penalty_.nonnegative()) return 0.5 * h * before * before;
    pull = std::abs(ascent_[k]);
    const Index left = std::ssize(order_);
    above = left == 0 ? 0 : above_.back() + size_[at(order_.back())];
    if (pull <= price(k, above)) return 0.5 * h * before * before;
    turn(k);
    return 0.5 * h * before * before + update(k);
  }
  if (!ordered) i = std::ssize(order_);
  above = ordered ? above_[at(i)] : i == 0 ? 0 : above_.back() + size_[at(order_.back())];
  // The group at place j of the others, and how many they are.
  const auto other = [&](Index j) { return order_[at(ordered && j >= place_[at(k)] ? j + 1 : j)]; };
  const Index others = std::ssize(order_) - (ordered ? 1 : 0);
  const auto stop_on = [&](Index next) {
    const double step = magnitude_[next] - before;
    if (step == 0 || std::ssize(order_) < kMany)
      merge(k, next);
    else
      move(k, magnitude_[next]), place(k, i);
    return 0.5 * h * step * step;
  };
  for (int direction = 0;;) {
    const double wish = (pull - price(k, above)) / h;
    if (direction >= 0 && i > 0 && wish > magnitude_[other(i - 1)]) {
      const Index next = other(i - 1), beyond = above - size_[at(next)];
      if (!((pull - price(k, beyond)) / h > magnitude_[next])) return stop_on(next);
      --i, above = beyond, direction = 1;
    } else if (direction <= 0 && i < others && wish < magnitude_[other(i)]) {
      const Index next = other(i), beyond = above + size_[at(next)];
      if (!((pull - price(k, beyond)) / h < magnitude_[next])) return stop_on(next);
      ++i, above = beyond, direction = -1;
    } else {
      double to = std::max(wish, 0.0);
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
    ascent[j] = ascent_[k], magnitudes[j] = magnitude_[k], sizes[at(j)] = size_[at(k)];
  }
  PatternNewton method(std::move(system), std::move(ascent), std::move(sizes), std::move(magnitudes),
                       penalty_);
  method.run(10 + static_cast<int>(count / 32));
  return take_over(method);
}

bool ClusterProblem::take_over(const PatternNewton& method) {
  const Index count = std::ssize(order_), leaders = std::ssize(method.order());
  const std::vector<Index> groups = order_;
  std::vector<Index> rank(groups.size(), kNowhere);
  for (Index i = 0; i < leaders; ++i) rank[at(method.order()[at(i)])] = i;
  // Leaders in their new order, each with those that joined it; the others are zero.
  std::vector<std::pair<Index, Index>> members;
  members.reserve(groups.size());
  for (Index j = 0; j < count; ++j)
    if (const Index i = rank[at(method.leader(j))]; i != kNowhere) members.emplace_back(i, j);
  std::ranges::sort(members);
  Vector values = Vector::Zero(count), image = ascent_;
  std::vector<Index> order;
  order.reserve(groups.size());
  double limit = kInfinity, penalty = 0, scale = 0;  // penalty: of the new point, less that of the old one
  Index above = 0;
  for (const auto& [i, j] : members) {
    limit =
        std::min(std::abs(method.value(method.order()[at(i)])), limit);  // rounding must not break the order
    values[j] = method.turned(j) ? -limit : limit;
    if (limit > 0) order.push_back(groups[at(j)]);
    penalty += limit * price(groups[at(j)], above);
    above += size_[at(groups[at(j)])];
  }
  double change = 0;
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    kernels::axpy(magnitude_[k] - values[j], hessian_.col(k).data(), image.data(), image.size());
    const double before = magnitude_[k] * price(k, above_[at(j)]);
    penalty -= before, scale += before;
  }
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    change += 0.5 * (ascent_[k] + image[k]) * (values[j] - magnitude_[k]);
  }
  if (!(change >= penalty - 1e-13 * scale)) return false;  // uphill: a step that rounding has spoilt
  ascent_ = image, order_ = order;
  for (Index j = 0; j < count; ++j) {
    const Index k = groups[at(j)];
    magnitude_[k] = std::abs(values[j]), place_[at(k)] = kNowhere;
    if (values[j] < 0) turn(k);
  }
  above_.resize(order_.size());
  renumber(0, std::ssize(order_));
  for (const auto& [i, j] : members)
    if (const Index leader = method.order()[at(i)]; j != leader && values[j] != 0)
      merge(groups[at(j)], groups[at(leader)]);
  return true;
}

// Where groups are few, Newton's method first: from the solution of a nearby problem it goes straight to the
// next one, where coordinate descent would tie groups together on the way. It does not know groups that are
// zero: one sweep moves them before. Sweeps then go on while they seem to get there sooner than Newton's
// method: a factor costs as much as a sixth as many sweeps as there are groups, and its steps come on top.
void ClusterProblem::solve(double target) {
  constexpr int kRounds = 30;
  constexpr std::size_t kFew = 150;
  if (order_.size() <= kFew) {
    if (order_.size() < all_.size()) sweep();
    newton();
  }
  for (int round = 1; round < kRounds; ++round) {
    const double most = 16 + static_cast<double>(order_.size()) / 6;
    double before = 0;
    for (double sweeps = 1;; ++sweeps) {
      const std::size_t groups = order_.size();
      const double progress = sweep();
      if (std::isnan(progress) || (progress <= target && groups == order_.size())) return;
      const double left = std::log(target / progress) / std::log(progress / before);  // at this pace
      if (sweeps > 2 && progress > target && !(progress < before && sweeps + left <= most)) break;
      if (sweeps > 2 * most) break;
      before = progress;
    }
    if (!newton()) return;
  }
}

}  // namespace tyto
