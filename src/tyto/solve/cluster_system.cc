#include "tyto/solve/cluster_system.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

void join(Cluster&& from, Cluster& to) {
  if (to.columns.empty()) {
    to = std::move(from);
    return;
  }
  to.columns.insert(to.columns.end(), from.columns.begin(), from.columns.end());
  to.signs.insert(to.signs.end(), from.signs.begin(), from.signs.end());
}

// Z: the signed sum of the columns of each cluster.
Matrix sums(const Pattern& pattern, const WorkingSet& columns) {
  Matrix z(columns.rows(), std::ssize(pattern));
  Vector sum;
  for (Index k = 0; k < z.cols(); ++k) {
    columns.sum(pattern[at(k)].columns, pattern[at(k)].signs, sum);
    z.col(k) = sum;
  }
  return z;
}

// The rows and columns of H that belong to new clusters.
void add_products(const Pattern& pattern, const std::vector<Index>& origin, const std::vector<Index>& row,
                  WorkingSet& columns, Matrix& hessian) {
  const Index count = std::ssize(pattern);
  std::size_t total = 0;
  for (const Cluster& cluster : pattern) total += cluster.columns.size();
  std::vector<Index> slots, places, begin(pattern.size() + 1, 0);
  std::vector<double> signs;
  slots.reserve(total);
  places.reserve(total);
  signs.reserve(total);
  for (const Cluster& cluster : pattern)
    slots.insert(slots.end(), cluster.columns.begin(), cluster.columns.end());
  columns.activate(slots);
  // Places instead of slots, cluster after cluster, for the sums below.
  for (Index k = 0; k < count; ++k) {
    for (const Index slot : pattern[at(k)].columns) places.push_back(columns.place(slot));
    signs.insert(signs.end(), pattern[at(k)].signs.begin(), pattern[at(k)].signs.end());
    begin[at(k + 1)] = std::ssize(places);
  }
  Vector image;  // the products of a cluster with all that is active
  for (Index k = 0; k < count; ++k) {
    if (origin[at(k)] >= 0) continue;
    columns.products(pattern[at(k)].columns, pattern[at(k)].signs, image);
    for (Index l = 0; l < count; ++l) {
      double sum = 0;
      for (Index i = begin[at(l)]; i < begin[at(l + 1)]; ++i) sum += signs[at(i)] * image[places[at(i)]];
      hessian(row[at(l)], row[at(k)]) = hessian(row[at(k)], row[at(l)]) = sum;
    }
  }
}

}  // namespace

void ClusterSystem::assign(Pattern pattern, WorkingSet& columns) {
  pattern_.clear();
  row_.clear();
  hessian_.resize(0, 0);
  const std::vector<Index> origin(pattern.size(), -1);
  refine(std::move(pattern), origin, columns);
}

void ClusterSystem::refine(Pattern pattern, const std::vector<Index>& origin, WorkingSet& columns) {
  if (std::ranges::find(origin, Index{-1}) == origin.end()) {  // as it was
    pattern_.swap(pattern);
    return;
  }
  const Index count = std::ssize(pattern);
  const Index nonzeros = columns_in(pattern);
  // Many columns in few clusters: their sums are cheaper than their products.
  if (columns.packs() && nonzeros > tuning_.sums_rows * columns.rows()) {
    hessian_.resize(count, count);
    row_.resize(pattern.size());
    gram(sums(pattern, columns), 0, hessian_);
    for (Index k = 0; k < count; ++k) {
      hessian_(k, k) += columns.ridge() * static_cast<double>(pattern[at(k)].size());
      row_[at(k)] = k;
    }
  } else {
    make_room(origin);
    add_products(pattern, origin, row_, columns, hessian_);
  }
  pattern_.swap(pattern);
}

// Old clusters keep their rows, and new ones take those that are free. H grows if there are too few, and
// shrinks where many belong to no cluster: coordinate descent goes over all of it.
void ClusterSystem::make_room(const std::vector<Index>& origin) {
  const Index count = std::ssize(origin), size = hessian_.rows();
  std::vector<bool> taken(at(std::max(size, count)), false);
  std::vector<Index> row(origin.size(), -1);
  for (Index k = 0; k < count; ++k) {
    if (origin[at(k)] < 0) continue;
    row[at(k)] = row_[at(origin[at(k)])];
    taken[at(row[at(k)])] = true;
  }
  if (size < count) {
    const Index room = count + share_of(tuning_.spare_rows, count);
    Matrix larger = Matrix::Zero(room, room);
    larger.topLeftCorner(size, size) = hessian_;
    hessian_.swap(larger);
  } else if (size > count + share_of(tuning_.most_spare, count) + tuning_.most_spare_rows) {
    std::vector<Index> stay;
    for (Index& old : row)
      if (old >= 0) stay.push_back(std::exchange(old, std::ssize(stay)));
    Matrix smaller = Matrix::Zero(count, count);
    for (Index j = 0; j < std::ssize(stay); ++j)
      for (Index i = 0; i < std::ssize(stay); ++i) smaller(i, j) = hessian_(stay[at(i)], stay[at(j)]);
    hessian_.swap(smaller);
    taken.assign(at(count), false);
    std::fill_n(taken.begin(), stay.size(), true);
  }
  Index free = 0;
  for (Index& mine : row) {
    if (mine >= 0) continue;
    while (taken[at(free)]) ++free;
    mine = free++;
  }
  row_.swap(row);
}

bool ClusterSystem::follow(const Vector& ascent, const SortedL1& penalty, const WorkingSet& columns,
                           Vector& state) {
  const Index count = std::ssize(pattern_);
  if (count > tuning_.follow_clusters) return false;
  Matrix factor(count, count);
  Vector change(count), step = Vector::Zero(columns.size());
  Index above = 0;
  for (Index j = 0; j < count; ++j) {
    for (Index i = j; i < count; ++i) factor(i, j) = hessian_(row_[at(i)], row_[at(j)]);
    const Index below = above + pattern_[at(j)].size();
    const double price = penalty.weight_sum(below) - penalty.weight_sum(above);
    change[j] = signed_sum(pattern_[at(j)], ascent) - price;
    above = below;
  }
  const Vector diagonal = factor.diagonal();
  if (!cholesky(factor)) return false;
  if ((factor.diagonal().array().square() < rounding::kFollowPivot * diagonal.array()).any()) return false;
  cholesky_solve(factor, change);
  double last = std::numeric_limits<double>::infinity();
  for (Index k = 0; k < count; ++k) {
    const Cluster& cluster = pattern_[at(k)];
    const double magnitude = cluster.magnitude + change[k];
    if (!(magnitude > 0 && magnitude < last)) return false;
    for (std::size_t m = 0; m < cluster.columns.size(); ++m)
      step[cluster.columns[m]] = cluster.signs[m] * change[k];
    last = magnitude;
  }
  for (Index k = 0; k < count; ++k) pattern_[at(k)].magnitude += change[k];
  columns.move(step, state);
  return true;
}

ClusterProblem ClusterSystem::problem(const Vector& ascent, const SortedL1& penalty) {
  const Index size = hessian_.rows();
  ClusterProblem::Start start{Vector::Zero(size), Vector::Zero(size), std::vector<Index>(at(size), 0), row_};
  for (Index k = 0; k < std::ssize(pattern_); ++k) {
    const Cluster& cluster = pattern_[at(k)];
    const Index row = row_[at(k)];
    start.ascent[row] = signed_sum(cluster, ascent);
    start.magnitudes[row] = cluster.magnitude;
    start.sizes[at(row)] = cluster.size();
  }
  return {std::move(hessian_), std::move(start), penalty, clusters_};
}

void ClusterSystem::adopt(ClusterProblem solved, const WorkingSet& columns, Vector& state) {
  const std::vector<Index>& order = solved.order();
  hessian_ = solved.take_hessian();
  std::vector<Index> place(at(hessian_.rows()), -1);
  for (Index i = 0; i < std::ssize(order); ++i) place[at(order[at(i)])] = i;
  Pattern pattern(order.size());
  Vector step = Vector::Zero(columns.size());
  for (Index k = 0; k < std::ssize(pattern_); ++k) {
    Cluster& from = pattern_[at(k)];
    const Index row = row_[at(k)];
    const double value = solved.value(row), change = value - from.magnitude;
    for (std::size_t m = 0; m < from.columns.size(); ++m) step[from.columns[m]] = from.signs[m] * change;
    const Index i = place[at(solved.group(row))];
    if (i < 0) continue;
    if (solved.sign(row) < 0)
      for (double& sign : from.signs) sign = -sign;
    from.magnitude = std::abs(value);
    join(std::move(from), pattern[at(i)]);
  }
  columns.move(step, state);
  pattern_.swap(pattern);
  row_ = order;
}

}  // namespace tyto
