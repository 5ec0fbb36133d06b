#include "tyto/solve/pattern_newton.h"
#include "tyto/solve/subscript.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
// stay steps of descent. Pivots that are all rounding would make them long ones, and wrong.
bool PatternNewton::factorise(Matrix hessian) {
  for (double ridge = 1e-14; ridge < 1; ridge *= 1e4) {
    factor_ = hessian;
    factor_.diagonal() *= 1 + ridge;
    factor_.diagonal().array() += 1e-300;
    if (cholesky(factor_) &&
        (factor_.diagonal().array().square() >= 1e-13 * hessian.diagonal().array()).all())
      return true;
  }
  return false;
}

bool PatternNewton::run(int most) {
  if (!factorise(std::move(factor_))) return false;
  for (steps = 1; steps <= most; ++steps) {
    Vector force = ascent_, image;  // minus the gradient; prices are charged to the leaders
    Index above = 0;
    for (const Index i : order_) {
      force[i] -= sign_[at(i)] * price(i, above);
      above += size_[at(i)];
    }
    const Vector step = direction(force, image);
    const double slope = force.dot(step);
    if (!(slope > 0) || !std::isfinite(slope)) return true;
    const Stop stop = lowest(step, slope);
    if (!std::isfinite(stop.length)) return false;
    value_ += stop.length * step;
    ascent_ -= stop.length * image;
    if (stop.place != kNone) {
      const Index i = order_[at(stop.place)];
      if (stop.place + 1 == std::ssize(order_)) {
        constrain({i, kNone, 1, 0});
        value_[i] = 0;
        order_.pop_back();
      } else {
        const Index j = order_[at(stop.place + 1)];
        constrain({i, j, sign_[at(i)], sign_[at(j)]});
        leader_[at(j)] = i, size_[at(i)] += size_[at(j)];
        order_.erase(order_.begin() + stop.place + 1);
      }
    } else if (!stop.crossed) {
      return true;
    }
  }
  return false;
}

// H^-1 (force - A m) with the multipliers m that keep the constraints; image is H times that.
Vector PatternNewton::direction(const Vector& force, Vector& image) const {
  Vector step = force;
  cholesky_solve(factor_, step);
  image = force;
  const Index count = std::ssize(constraints_);
  if (count == 0) return step;
  Vector violation(count);
  for (Index k = 0; k < count; ++k) {
    const Constraint& c = constraints_[at(k)];
    violation[k] = c.sign1 * step[c.first] - (c.second == kNone ? 0 : c.sign2 * step[c.second]);
  }
  const Vector multiplier = coupling_.topLeftCorner(count, count).ldlt().solve(violation);
  step -= response_.leftCols(count) * multiplier;
  for (Index k = 0; k < count; ++k) {
    const Constraint& c = constraints_[at(k)];
    image[c.first] -= c.sign1 * multiplier[k];
    if (c.second != kNone) image[c.second] += c.sign2 * multiplier[k];
  }
  return step;
}

void PatternNewton::constrain(const Constraint& c) {
  const Index count = std::ssize(constraints_), size = value_.size();
  if (response_.cols() == count) {
    response_.conservativeResize(size, 2 * count + 8);
    coupling_.conservativeResize(2 * count + 8, 2 * count + 8);
  }
  Vector normal = Vector::Zero(size);
  normal[c.first] = c.sign1;
  if (c.second != kNone) normal[c.second] = -c.sign2;
  cholesky_solve(factor_, normal);
  constraints_.push_back(c);
  response_.col(count) = normal;
  for (Index k = 0; k <= count; ++k) {
    const Constraint& other = constraints_[at(k)];
    const double product =
        other.sign1 * normal[other.first] - (other.second == kNone ? 0 : other.sign2 * normal[other.second]);
    coupling_(k, count) = coupling_(count, k) = product;
  }
}

// Along a step the objective is piecewise quadratic: where two groups change places or one its sign, J makes
// the slope jump up. The minimum is between two such points, or on one. `slope`: of the descent at the start,
// which is also the curvature, since the step is Newton's.
PatternNewton::Stop PatternNewton::lowest(const Vector& step, double slope) {
  const double curvature = slope;
  double now = 0;
  bool crossed = false;
  const auto position = [&](Index i) { return sign_[at(i)] * value_[i]; };  // at the start of the step
  const auto speed = [&](Index i) { return sign_[at(i)] * step[i]; };
  const Index count = std::ssize(order_);
  for (Index events = 0;; ++events) {
    double next = kInfinity;
    Index place = kNone;
    for (Index k = 0; k < count; ++k) {
      const Index i = order_[at(k)], j = k + 1 < count ? order_[at(k + 1)] : kNone;
      const double closing = (j == kNone ? 0 : speed(j)) - speed(i);
      if (!(closing > 0)) continue;
      const double when = (position(i) - (j == kNone ? 0 : position(j))) / closing;
      if (when < next) next = when, place = k;
    }
    next = std::max(next, now);
    const double bottom = slope / curvature;
    if (bottom <= next || place == kNone) return {bottom, kNone, crossed};
    if (events > 4 * count) return {next, kNone, true};  // far enough: the next direction is a better one
    now = next;
    const Index i = order_[at(place)], first = above(place);
    if (place + 1 == count) {
      if (penalty_.nonnegative()) return {now, place, crossed};
      slope += 2 * price(i, first) * speed(i);
      if (slope <= now * curvature) return {now, place, crossed};
      sign_[at(i)] = -sign_[at(i)];
      for (Index k = 0; k < value_.size(); ++k)
        if (k != i && leader(k) == i) sign_[at(k)] = -sign_[at(k)];
    } else {
      const Index j = order_[at(place + 1)];
      slope -= (price(j, first) - price(j, first + size_[at(i)])) * (speed(j) - speed(i));
      if (slope <= now * curvature) return {now, place, crossed};
      std::swap(order_[at(place)], order_[at(place + 1)]);
    }
    crossed = true;
  }
}

Index PatternNewton::above(Index place) const {
  Index sum = 0;
  for (Index k = 0; k < place; ++k) sum += size_[at(order_[at(k)])];
  return sum;
}

}  // namespace tyto
