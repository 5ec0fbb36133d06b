#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {

// Columns that share one magnitude, each with its sign.
struct Cluster {
  std::vector<Index> columns;
  std::vector<double> signs;  // +1 or -1
  double magnitude = 0;

  Index size() const { return static_cast<Index>(columns.size()); }
  void add(Index column, double sign) {
    columns.push_back(column);
    signs.push_back(sign);
  }
};
double signed_sum(const Cluster& cluster, const Vector& v);  // s'v for its signs s

// The pattern of a vector: its clusters, the largest magnitude first. Zeros are in none.
using Pattern = std::vector<Cluster>;
Pattern pattern_of(const Vector& beta);
Index columns_in(const Pattern& pattern);  // how many
// Of each column in the support of beta the number of its cluster in that pattern.
std::vector<Index> cluster_numbers(const Vector& beta, std::span<const Index> support);

// `cluster` holds the ranks first, first + 1, ... of the penalty. Along the direction of steepest descent its
// columns move apart into the clusters that are returned, the fastest first (one cluster if it stays
// together): into two, the faster columns and the slower ones, or into as many as there are speeds. Speeds
// that differ by no more than `tolerance` count as equal. `ascent` is X'r, minus the gradient of the loss.
enum class Parts { kTwo, kAll };
Pattern split(const Cluster& cluster, const Vector& ascent, const SortedL1& penalty, Index first,
              double tolerance, Parts parts = Parts::kTwo);

// The same for columns at zero: the clusters that leave zero, or the `most` fastest of them. `first` is the
// number of columns that are not 0.
Pattern leave_zero(std::span<const Index> zeros, const Vector& ascent, const SortedL1& penalty, Index first,
                   double tolerance, std::size_t most = std::numeric_limits<std::size_t>::max());

// What the next pattern may differ by: how many clusters are cut, those first where a cut gains most, and how
// many new ones leave zero, the fastest first.
struct Cuts {
  double share = 1;  // of the clusters may be cut, but tuning.cuts in any case
  Parts parts = Parts::kTwo;
  Index leaving = Tuning::Pattern().leaving;  // clusters, or tuning.leaving_share of all, if that is more
  Tuning::Pattern tuning = {};
};
struct Refinement {
  Pattern pattern;
  std::vector<Index> origin;  // the cluster that this one has been, or -1 for a new one
  bool changed = false;
  Index left_zero = 0;  // clusters
};
Refinement refined(Pattern pattern, std::span<const Index> columns, const Vector& ascent,
                   const SortedL1& penalty, const Cuts& allowed);

}  // namespace tyto
