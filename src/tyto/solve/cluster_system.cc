#include "tyto/solve/cluster_system.h"

#include <algorithm>

#include "tyto/math/kernels.h"
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

// Clusters to, to + 1, ... that have been from, from + 1, ...
struct Run {
  Index to, from, length;
};
std::vector<Run> runs_of(const std::vector<Index>& origin) {
  std::vector<Run> runs;
  for (Index k = 0; k < std::ssize(origin); ++k) {
    const Index from = origin[at(k)];
    if (from < 0) continue;
    if (!runs.empty() && runs.back().to + runs.back().length == k &&
        runs.back().from + runs.back().length == from)
      ++runs.back().length;
    else
      runs.push_back({k, from, 1});
  }
  return runs;
}

// Z: the signed sum of the columns of each cluster.
Matrix sums(const Pattern& pattern, const WorkingSet& columns) {
  Matrix z(columns.rows(), std::ssize(pattern));
  Vector sum(columns.rows());
  for (Index k = 0; k < z.cols(); ++k) {
    sum.setZero();
    const Cluster& cluster = pattern[at(k)];
    for (std::size_t i = 0; i < cluster.columns.size(); ++i)
      columns.add_column(cluster.columns[i], cluster.signs[i], sum);
    z.col(k) = sum;
  }
  return z;
}

// The rows and columns of H that belong to new clusters.
void add_products(const Pattern& pattern, const std::vector<Index>& origin, WorkingSet& columns,
                  Matrix& hessian) {
  const Index count = std::ssize(pattern);
  std::vector<Index> slots, places, begin(pattern.size() + 1, 0);
  for (const Cluster& cluster : pattern)
    slots.insert(slots.end(), cluster.columns.begin(), cluster.columns.end());
  columns.activate(slots);
  // Places instead of slots, cluster after cluster, for the sums below.
  std::vector<double> signs;
  for (Index k = 0; k < count; ++k) {
    for (const Index slot : pattern[at(k)].columns) places.push_back(columns.place(slot));
    signs.insert(signs.end(), pattern[at(k)].signs.begin(), pattern[at(k)].signs.end());
    begin[at(k + 1)] = std::ssize(places);
  }
  Vector image(columns.active());  // the products of a cluster with all that is active
  for (Index k = 0; k < count; ++k) {
    if (origin[at(k)] >= 0) continue;
    const Cluster& cluster = pattern[at(k)];
    image.setZero();
    for (std::size_t i = 0; i < cluster.columns.size(); ++i)
      kernels::axpy(cluster.signs[i], columns.products(cluster.columns[i]).data(), image.data(),
                    image.size());
    for (Index l = 0; l < count; ++l) {
      double sum = 0;
      for (Index i = begin[at(l)]; i < begin[at(l + 1)]; ++i) sum += signs[at(i)] * image[places[at(i)]];
      hessian(l, k) = hessian(k, l) = sum;
    }
  }
}

}  // namespace

void ClusterSystem::assign(Pattern pattern, WorkingSet& columns) {
  pattern_.clear();
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
  Index nonzeros = 0;
  for (const Cluster& cluster : pattern) nonzeros += cluster.size();
  Matrix hessian(count, count);
  // Many columns in few clusters: their sums are cheaper than their products.
  if (!columns.covariance() && nonzeros > 2 * columns.rows()) {
    gram(sums(pattern, columns), 0, hessian);
    for (Index k = 0; k < count; ++k)
      hessian(k, k) += columns.ridge() * static_cast<double>(pattern[at(k)].size());
  } else {
    const std::vector<Run> runs = runs_of(origin);
    for (const Run& wide : runs)
      for (const Run& high : runs)
        hessian.block(high.to, wide.to, high.length, wide.length) =
            hessian_.block(high.from, wide.from, high.length, wide.length);
    add_products(pattern, origin, columns, hessian);
  }
  pattern_.swap(pattern), hessian_.swap(hessian);
}

ClusterProblem ClusterSystem::problem(const Vector& ascent, const SortedL1& penalty) {
  const Index count = std::ssize(pattern_);
  Vector pull(count), magnitudes(count);
  std::vector<Index> sizes(pattern_.size());
  for (Index k = 0; k < count; ++k) {
    const Cluster& cluster = pattern_[at(k)];
    pull[k] = signed_sum(cluster, ascent);
    magnitudes[k] = cluster.magnitude, sizes[at(k)] = cluster.size();
  }
  return {std::move(hessian_), std::move(pull), std::move(sizes), std::move(magnitudes), penalty};
}

void ClusterSystem::adopt(const ClusterProblem& solved, const WorkingSet& columns, Vector& state) {
  const std::vector<Index>& order = solved.order();
  std::vector<Index> place(pattern_.size(), -1);
  for (Index i = 0; i < std::ssize(order); ++i) place[at(order[at(i)])] = i;
  Pattern pattern(order.size());
  Vector step = Vector::Zero(columns.size());
  for (Index k = 0; k < std::ssize(pattern_); ++k) {
    Cluster& from = pattern_[at(k)];
    const double value = solved.value(k), change = value - from.magnitude;
    for (std::size_t m = 0; m < from.columns.size(); ++m) step[from.columns[m]] = from.signs[m] * change;
    const Index i = place[at(solved.group(k))];
    if (i < 0) continue;
    if (solved.sign(k) < 0)
      for (double& sign : from.signs) sign = -sign;
    from.magnitude = std::abs(value);
    join(std::move(from), pattern[at(i)]);
  }
  columns.move(step, state);
  Matrix hessian(std::ssize(order), std::ssize(order));
  for (Index j = 0; j < hessian.cols(); ++j)
    for (Index i = 0; i < hessian.rows(); ++i) hessian(i, j) = solved.hessian()(order[at(i)], order[at(j)]);
  pattern_.swap(pattern), hessian_.swap(hessian);
}

}  // namespace tyto
