#include "tyto/problem/gradient_bounds/subspace.h"

#include <algorithm>
#include <iterator>

#include "tyto/base/rounding.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// J° of the part of X'r that belongs to the support: no more than J°(X'r).
double support_level(const SortedL1& penalty, const Vector& beta, const Vector& correlation) {
  std::vector<double> part;
  for (Index j = 0; j < beta.size(); ++j)
    if (beta[j] != 0) part.push_back(correlation[j]);
  return penalty.head(std::ssize(part)).dual_norm(Vector::Map(part.data(), std::ssize(part)));
}

}  // namespace

SubspaceBounds::SubspaceBounds(const Problem& problem, const Work& work, const Tuning& tuning)
    : design_(problem.design),
      work_(&work),
      y_(problem.loss->response()),
      reading_(tuning.reading),
      tuning_(tuning.subspace),
      ridge_(problem.ridge),
      nonnegative_(problem.penalty.nonnegative()),
      in_cache_(in_cache(problem.design, tuning.reading)) {}

Points SubspaceBounds::points_at(std::span<const SortedL1> penalties, Matrix betas) const {
  Points points{penalties, std::move(betas), {}, {}, {}, ridge_};
  points.support = design_.residuals(y_, points.betas, points.residuals, points.ascents, *work_);
  return points;
}

SubspaceBounds::DualNorms SubspaceBounds::evaluate_dual_norm(const Points& points) {
  const Index p = design_.cols(), count = points.residuals.cols();
  DualNorms result;
  result.values.resize(p, count);
  result.bounds.resize(p, count);
  result.dual_norms.resize(count);
  const auto penalty = [&](Index k) { return points.penalties[at(k)]; };
  take(points, points.support, points.ascents, result);
  if (in_cache_) {
    read(points, all_but(result.read, p), result);
    result.distances.setZero(count);
    for (Index k = 0; k < count; ++k) result.dual_norms[k] = penalty(k).dual_norm(result.bounds.col(k));
    return result;
  }
  Vector levels(count);
  for (Index k = 0; k < count; ++k)
    levels[k] = support_level(penalty(k), points.betas.col(k), result.bounds.col(k));
  if (directions_.cols() == 0) add_directions(points.residuals, points.residuals.colwise().norm());

  std::vector<Contenders> large(at(count));
  IndexSet needed;
  for (Index before = 2 * p;; before = std::ssize(needed)) {
    bound(points, result);
    std::vector<bool> wanted(at(p));
    for (Index k = 0; k < count; ++k) {
      const Vector v = result.bounds.col(k);
      large[at(k)] = *contenders(penalty(k), v, levels[k], p, reading_);
      for (const Index j : decisive(penalty(k), large[at(k)], levels[k])) wanted[at(j)] = true;
    }
    for (const Index j : result.read) wanted[at(j)] = false;
    needed.clear();
    for (Index j = 0; j < p; ++j)
      if (wanted[at(j)]) needed.push_back(j);
    // A pass for more directions must save more than it costs.
    if (needed.empty() || std::ssize(needed) * count < tuning_.residuals_per_pass * p) break;
    if (above_share(std::ssize(needed), tuning_.needed_share, before)) break;
    if (!add_directions(points.residuals, result.distances)) break;
  }
  read(points, needed, result);
  for (Index k = 0; k < count; ++k) {
    const IndexSet& columns = large[at(k)].columns;
    const double norm = penalty(k).head(std::ssize(columns)).dual_norm(result.bounds.col(k)(columns));
    result.dual_norms[k] = std::max(levels[k], norm);
  }
  return result;
}

void SubspaceBounds::read(const Points& points, std::span<const Index> columns, DualNorms& of) const {
  Matrix exact;
  design_.transpose_multiply(columns, points.residuals, exact, *work_);
  take(points, columns, exact, of);
}

void SubspaceBounds::take(const Points& points, std::span<const Index> columns, const Matrix& exact,
                          DualNorms& of) const {
  for (Index i = 0; i < exact.rows(); ++i) {
    const Index j = columns[at(i)];
    of.values.row(j) = exact.row(i);
    of.bounds.row(j) = exact.row(i) - points.ridge * points.betas.row(j);
  }
  IndexSet all;
  std::ranges::merge(of.read, columns, std::back_inserter(all));
  of.read.swap(all);
}

// ||e||^2 = ||r||^2 - ||a||^2, what rounding may have taken off, and the errors of X'Q.
void SubspaceBounds::bound(const Points& points, DualNorms& of) const {
  const Index p = design_.cols(), count = points.residuals.cols();
  Matrix along(directions_.cols(), count), values(p, count);
  transpose_product(directions_, points.residuals, 0, along);
  product(correlations_, along, values);
  const Vector squares = points.residuals.colwise().squaredNorm(), part = along.colwise().squaredNorm();
  of.distances = rounding::kOffSubspace *
                     ((squares - part).cwiseMax(0) + rounding::kOffSubspaceSquare * squares).cwiseSqrt() +
                 along.cwiseAbs().transpose() * errors_;
  auto known = of.read.begin();
  for (Index j = 0; j < p; ++j) {
    if (known != of.read.end() && *known == j) {
      ++known;
      continue;
    }
    of.values.row(j) = values.row(j);
    const auto reach = rounding::kOffSubspace * design_.norms()[j] * of.distances.transpose().array();
    if (nonnegative_)
      of.bounds.row(j).array() = values.row(j).array() + reach;
    else
      of.bounds.row(j).array() = values.row(j).array().abs() + reach;
  }
}

void SubspaceBounds::know(const Vector& r, const Vector& correlation) {
  Vector q = r, values = correlation;
  double error = rounding::kDirection * r.norm();
  for (int twice = 0; twice < 2 && directions_.cols() > 0; ++twice) {
    const Vector along = directions_.transpose() * q;
    q -= directions_ * along;
    values -= correlations_ * along;
    error += errors_.dot(along.cwiseAbs());
  }
  const double length = q.norm();
  if (length > tuning_.apart * r.norm() && error < tuning_.worst_error * length)
    append(q / length, values / length, error / length);
}

bool SubspaceBounds::add_directions(const Matrix& residuals, Vector distances) {
  std::vector<Vector> fresh;
  while (std::ssize(fresh) < tuning_.directions_at_once) {
    Index furthest = 0;
    distances.maxCoeff(&furthest);
    Vector q = residuals.col(furthest);
    const double enough = tuning_.apart * q.norm();
    for (int twice = 0; twice < 2; ++twice) {
      if (directions_.cols() > 0) q -= directions_ * (directions_.transpose() * q);
      for (const Vector& other : fresh) q -= other.dot(q) * other;
    }
    const double length = q.norm();
    if (!(length > enough)) break;
    fresh.push_back(q / length);
    const Vector along = residuals.transpose() * fresh.back();
    distances = (distances.array().square() - along.array().square()).cwiseMax(0).sqrt();
  }
  if (fresh.empty()) return false;
  Matrix directions(residuals.rows(), std::ssize(fresh)), correlations;
  for (Index k = 0; k < directions.cols(); ++k) directions.col(k) = fresh[at(k)];
  design_.transpose_multiply(all_but({}, design_.cols()), directions, correlations, *work_);
  for (Index k = 0; k < directions.cols(); ++k)
    append(directions.col(k), correlations.col(k), rounding::kDirection);
  return true;
}

void SubspaceBounds::append(const Vector& q, const Vector& correlation, double error) {
  if (directions_.cols() == tuning_.directions) {
    const Index younger = tuning_.directions / 2;
    directions_ = directions_.rightCols(younger).eval();
    correlations_ = correlations_.rightCols(younger).eval();
    along_y_ = along_y_.tail(younger).eval();
    errors_ = errors_.tail(younger).eval();
  }
  const Index before = directions_.cols();
  directions_.conservativeResize(q.size(), before + 1);
  directions_.col(before) = q;
  correlations_.conservativeResize(correlation.size(), before + 1);
  correlations_.col(before) = correlation;
  along_y_.conservativeResize(before + 1);
  along_y_[before] = q.dot(y_);
  errors_.conservativeResize(before + 1);
  errors_[before] = error;
}

Vector SubspaceBounds::guess(const Vector& beta) const {
  if (directions_.cols() == 0) return {};
  return correlations_ * (along_y_ - correlations_.transpose() * beta);
}

}  // namespace tyto
