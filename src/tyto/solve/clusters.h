#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tyto/math/sorted_l1.h"

namespace tyto {

// Columns that share one magnitude, each with its sign.
struct Cluster {
  std::vector<Index> columns;
  std::vector<double> signs;  // +1 or -1
  double magnitude = 0;

  Index size() const { return static_cast<Index>(columns.size()); }
  void add(Index column, double sign) { columns.push_back(column), signs.push_back(sign); }
};
double signed_sum(const Cluster& cluster, const Vector& v);  // s'v for its signs s

// The pattern of a vector: its clusters, the largest magnitude first. Zeros are in none.
using Pattern = std::vector<Cluster>;
Pattern pattern_of(const Vector& beta);
Index columns_in(const Pattern& pattern);  // how many

// The part of a pattern that ties: `cluster` holds the ranks first, first + 1, ... of the penalty. Along the
// direction of steepest descent its columns move apart into the clusters that are returned, the fastest first
// (one cluster if it stays together). Speeds that differ by no more than `tolerance` count as equal.
// `ascent` is minus the gradient of the loss, X'r. Either in two, the faster ones and the slower ones, or
// into as many parts as there are speeds.
enum class Parts { kTwo, kAll };
Pattern split(const Cluster& cluster, const Vector& ascent, const SortedL1& penalty, Index first,
              double tolerance, Parts parts = Parts::kTwo);

// The same for columns at zero: the clusters that leave it, or the `most` fastest of them. `first` is the
// number of columns that are not 0.
Pattern leave_zero(std::span<const Index> zeros, const Vector& ascent, const SortedL1& penalty, Index first,
                   double tolerance, std::size_t most = std::numeric_limits<std::size_t>::max());

// The next pattern to try: clusters that pull apart are cut, the hardest first, and no more than a share of
// all; columns at zero leave it, the hardest first, in no more clusters than `leaving`, or half as many as
// there are.
struct Cuts {
  static constexpr Index kLeaving = 16, kMostLeaving = 512;
  double share = 1;
  Parts parts = Parts::kTwo;
  Index leaving = kLeaving;
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
