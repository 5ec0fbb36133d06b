#include "tyto/solve/pattern_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kNone = -1;

}  // namespace

PatternNewton::PatternNewton(Matrix hessian, Vector ascent, std::vector<Index> sizes, Vector magnitudes,
                             const SortedL1& penalty)
    : factor_(std::move(hessian)),
      ascent_(std::move(ascent)),
      value_(std::move(magnitudes)),
      sign_(sizes.size(), 1),
      size_(std::move(sizes)),
      leader_(size_.size()),
      order_(size_.size()),
      penalty_(penalty) {
  std::iota(leader_.begin(), leader_.end(), Index{0});
  std::iota(order_.begin(), order_.end(), Index{0});
}

Index PatternNewton::leader(Index i) const {
  while (leader_[at(i)] != i) i = leader_[at(i)];
  return i;
}

// A singular H gets a ridge: steps are then shorter than Newton's along directions without curvature, and
// stay steps of descent. Pivots that are all rounding would make steps long, and wrong. A group without any
// curvature gets a little of it: with less, the constraints that it shares with others would be all rounding.
bool PatternNewton::factorise(Matrix hessian) {
  const double least = hessian.rows() > 0 ? rounding::kNoCurvature * hessian.diagonal().maxCoeff() : 0;
  for (Index i = 0; i < hessian.rows(); ++i)
    if (hessian(i, i) == 0) hessian(i, i) = least;
  for (double ridge = rounding::kFirstRidge; ridge < rounding::kLastRidge; ridge *= rounding::kRidgeGrowth) {
    factor_ = hessian;
    factor_.diagonal() *= 1 + ridge;
    factor_.diagonal().array() += rounding::kNotZero;
    if (cholesky(factor_) &&
        (factor_.diagonal().array().square() >= rounding::kPivot * hessian.diagonal().array()).all())
      return true;
  }
  return false;
}

bool PatternNewton::run(int most, const Tuning::Clusters& tuning) {
  if (!factorise(std::move(factor_))) return false;
  for (steps = 1; steps <= most; ++steps) {
    force_ = ascent_;  // minus the gradient; prices are charged to the leaders
    Index above = 0;
    for (const Index i : order_) {
      force_[i] -= sign_[at(i)] * price(i, above);
      above += size_[at(i)];
    }
    direct();
    const double slope = force_.dot(step_);
    if (!(slope > 0) || !std::isfinite(slope)) return true;
    const Stop stop = lowest(slope, tuning.crossings_per_group * std::ssize(order_));
    if (!std::isfinite(stop.length)) return false;
    value_ += stop.length * step_;
    ascent_ -= stop.length * image_;
    if (stop.place != kNone) {
      const Index i = order_[at(stop.place)];
      Vector normal = Vector::Zero(value_.size());
      normal[i] = sign_[at(i)];
      if (stop.place + 1 == std::ssize(order_)) {
        constrain(std::move(normal));
        value_[i] = 0;
        order_.pop_back();
      } else {
        const Index j = order_[at(stop.place + 1)];
        normal[j] = -sign_[at(j)];
        constrain(std::move(normal));
        leader_[at(j)] = i;
        size_[at(i)] += size_[at(j)];
        order_.erase(order_.begin() + stop.place + 1);
      }
    } else if (!stop.crossed) {
      return true;
    }
  }
  return false;
}

// In the coordinates of the factor, L'd, the constraints are orthogonal to the columns of basis_; the step is
// L^-T (I - QQ') L^-1 force, and image is H times that.
void PatternNewton::direct() {
  step_ = force_;
  solve_lower(factor_, step_);
  if (constraints_ > 0) {
    const auto basis = basis_.leftCols(constraints_);
    auto along = along_.head(constraints_);
    along.noalias() = basis.transpose() * step_;
    step_.noalias() -= basis * along;
  }
  multiply_lower(factor_, step_, image_);
  solve_lower_transposed(factor_, step_);
}

void PatternNewton::constrain(Vector normal) {
  if (basis_.cols() == constraints_) {
    basis_.conservativeResize(value_.size(), 2 * constraints_ + 8);
    along_.resize(basis_.cols());
  }
  Vector& q = normal;
  solve_lower(factor_, q);
  const auto basis = basis_.leftCols(constraints_);
  auto along = along_.head(constraints_);
  // Twice: after once, rounding of a large part along the basis is left.
  for (int twice = 0; twice < 2; ++twice) {
    q.normalize();
    along.noalias() = basis.transpose() * q;
    q.noalias() -= basis * along;
  }
  if (const double norm = q.norm(); norm > rounding::kIndependent) basis_.col(constraints_++) = q / norm;
}

// Along a step the objective is piecewise quadratic: where two groups change places, or one its sign, J makes
// the slope jump up. The minimum is between two such points, or on one. `slope`: how fast the objective falls
// at the start; it is also the curvature, since the step is Newton's.
PatternNewton::Stop PatternNewton::lowest(double slope, Index most_crossings) {
  const double curvature = slope;
  double now = 0;
  bool crossed = false;
  const Index count = std::ssize(order_);
  start_meetings();
  for (Index events = 0;; ++events) {
    const auto first_meeting = std::ranges::min_element(when_);
    const Index place = first_meeting - when_.begin();
    double next = count > 0 ? *first_meeting : kInfinity;
    next = std::max(next, now);
    const double bottom = slope / curvature;
    if (bottom <= next) return {bottom, kNone, crossed};
    if (events > most_crossings) return {next, kNone, true};
    now = next;
    const Index i = order_[at(place)], first = above(place);
    if (place + 1 == count) {
      if (penalty_.nonnegative()) return {now, place, crossed};
      slope += 2 * price(i, first) * speed_[at(place)];
      if (slope <= now * curvature) return {now, place, crossed};
      sign_[at(i)] = -sign_[at(i)];
      position_[at(place)] = -position_[at(place)];
      speed_[at(place)] = -speed_[at(place)];
      for (Index k = 0; k < value_.size(); ++k)
        if (k != i && leader(k) == i) sign_[at(k)] = -sign_[at(k)];
    } else {
      const Index j = order_[at(place + 1)];
      slope -=
          (price(j, first) - price(j, first + size_[at(i)])) * (speed_[at(place + 1)] - speed_[at(place)]);
      if (slope <= now * curvature) return {now, place, crossed};
      std::swap(order_[at(place)], order_[at(place + 1)]);
      std::swap(position_[at(place)], position_[at(place + 1)]);
      std::swap(speed_[at(place)], speed_[at(place + 1)]);
    }
    for (Index k = std::max<Index>(place - 1, 0); k < std::min(place + 2, count); ++k)
      when_[at(k)] = meeting(k);
    crossed = true;
  }
}

void PatternNewton::start_meetings() {
  position_.assign(order_.size() + 1, 0);
  speed_.assign(order_.size() + 1, 0);
  when_.resize(order_.size());
  const Index count = std::ssize(order_);
  for (Index k = 0; k < count; ++k) {
    const Index i = order_[at(k)];
    position_[at(k)] = sign_[at(i)] * value_[i];
    speed_[at(k)] = sign_[at(i)] * step_[i];
  }
  for (Index k = 0; k < count; ++k) when_[at(k)] = meeting(k);
}

// When the group at a place meets the next one, or the last one zero.
double PatternNewton::meeting(Index place) const {
  const double closing = speed_[at(place + 1)] - speed_[at(place)];
  return closing > 0 ? (position_[at(place)] - position_[at(place + 1)]) / closing : kInfinity;
}

Index PatternNewton::above(Index place) const {
  Index sum = 0;
  for (Index k = 0; k < place; ++k) sum += size_[at(order_[at(k)])];
  return sum;
}

}  // namespace tyto
