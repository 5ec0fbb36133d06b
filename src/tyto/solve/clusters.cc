#include "tyto/solve/clusters.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "tyto/base/rounding.h"

namespace tyto {
namespace {

struct Pull {
  double force;  // sign * x_j'r
  Index column;
  double sign;
};

struct Pool {
  double speed_sum;
  std::size_t begin, end;
  double speed() const { return speed_sum / static_cast<double>(end - begin); }
};

// Pools adjacent violators of force minus weight, sorted by force: a column that would move faster than the
// one before it moves together with it.
std::vector<Pool> pool(const std::vector<Pull>& pulls, const SortedL1& penalty, Index first,
                       double tolerance) {
  std::vector<Pool> pools;
  pools.reserve(pulls.size());
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    Pool next{pulls[i].force - penalty.weight(first + static_cast<Index>(i)), i, i + 1};
    while (!pools.empty() && pools.back().speed() <= next.speed() + tolerance) {
      next.speed_sum += pools.back().speed_sum;
      next.begin = pools.back().begin;
      pools.pop_back();
    }
    pools.push_back(next);
  }
  return pools;
}

void sort_by_force(std::vector<Pull>& pulls) {
  std::sort(pulls.begin(), pulls.end(), [](const Pull& a, const Pull& b) {
    return a.force != b.force ? a.force > b.force : a.column < b.column;
  });
}

Cluster make_cluster(std::span<const Pull> pulls, double magnitude) {
  Cluster cluster;
  cluster.magnitude = magnitude;
  cluster.columns.reserve(pulls.size());
  cluster.signs.reserve(pulls.size());
  for (const Pull& pull : pulls) cluster.add(pull.column, pull.sign);
  return cluster;
}

}  // namespace

double signed_sum(const Cluster& cluster, const Vector& v) {
  double sum = 0;
  for (std::size_t i = 0; i < cluster.columns.size(); ++i) sum += cluster.signs[i] * v[cluster.columns[i]];
  return sum;
}

Pattern pattern_of(const Vector& beta) {
  std::vector<Index> support;
  for (Index j = 0; j < beta.size(); ++j)
    if (beta[j] != 0) support.push_back(j);
  std::sort(support.begin(), support.end(), [&](Index a, Index b) {
    const double u = std::abs(beta[a]), v = std::abs(beta[b]);
    return u != v ? u > v : a < b;
  });
  Pattern pattern;
  for (const Index j : support) {
    const double magnitude = std::abs(beta[j]);
    if (pattern.empty() || pattern.back().magnitude != magnitude)
      pattern.emplace_back().magnitude = magnitude;
    pattern.back().add(j, beta[j] > 0 ? 1 : -1);
  }
  return pattern;
}

std::vector<Index> cluster_numbers(const Vector& beta, std::span<const Index> support) {
  const auto magnitude = [&](std::size_t k) { return std::abs(beta[support[k]]); };
  std::vector<std::size_t> order(support.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater<>(), magnitude);
  std::vector<Index> numbers(support.size());
  Index number = -1;
  double last = 0;
  for (const std::size_t k : order) {
    if (magnitude(k) != last) ++number;
    last = magnitude(k);
    numbers[k] = number;
  }
  return numbers;
}

Index columns_in(const Pattern& pattern) {
  Index count = 0;
  for (const Cluster& cluster : pattern) count += cluster.size();
  return count;
}

namespace {

// The ranks of a cluster begin at `first`.
struct Ranks {
  const SortedL1& penalty;
  Index first;
  double tolerance;
};

// The parts of a cluster; none if it stays together.
Pattern cut(const Cluster& cluster, const Vector& ascent, const Ranks& ranks, Parts parts) {
  if (cluster.size() < 2) return {};
  std::vector<Pull> pulls;
  pulls.reserve(cluster.columns.size());
  for (std::size_t i = 0; i < cluster.columns.size(); ++i) {
    const Index j = cluster.columns[i];
    pulls.push_back({cluster.signs[i] * ascent[j], j, cluster.signs[i]});
  }
  sort_by_force(pulls);
  const std::vector<Pool> pools = pool(pulls, ranks.penalty, ranks.first, ranks.tolerance);
  if (pools.size() == 1) return {};
  const auto part = [&](std::size_t begin, std::size_t end) {
    return make_cluster(std::span(pulls).subspan(begin, end - begin), cluster.magnitude);
  };
  Pattern result;
  if (parts == Parts::kAll) {
    for (const Pool& p : pools) result.push_back(part(p.begin, p.end));
    return result;
  }
  double mean = 0;
  for (const Pool& p : pools) mean += p.speed_sum;
  mean /= static_cast<double>(pulls.size());
  std::size_t faster = pools.front().end;  // whatever the mean rounds to, no part is empty
  for (std::size_t i = 1; i + 1 < pools.size(); ++i)
    if (pools[i].speed() > mean) faster = pools[i].end;
  result.push_back(part(0, faster));
  result.push_back(part(faster, pulls.size()));
  return result;
}

}  // namespace

Pattern split(const Cluster& cluster, const Vector& ascent, const SortedL1& penalty, Index first,
              double tolerance, Parts parts) {
  Pattern result = cut(cluster, ascent, {penalty, first, tolerance}, parts);
  return result.empty() ? Pattern{cluster} : result;
}

Pattern leave_zero(std::span<const Index> zeros, const Vector& ascent, const SortedL1& penalty, Index first,
                   double tolerance, std::size_t most) {
  // A column with |x_j'r| no larger than the smallest weight stays at zero.
  const Index last = first + static_cast<Index>(zeros.size()) - 1;
  if (zeros.empty()) return {};
  std::vector<Pull> pulls;
  pulls.reserve(zeros.size());
  for (const Index j : zeros)
    if (const double force = penalty.pull(ascent[j]); force > penalty.weight(last))
      pulls.push_back({force, j, ascent[j] > 0 ? 1.0 : -1.0});
  sort_by_force(pulls);
  Pattern parts;
  const std::vector<Pool> pools = pool(pulls, penalty, first, tolerance);
  parts.reserve(std::min(most, pools.size()));
  for (const Pool& p : pools)
    if (parts.size() < most && p.speed() > tolerance)
      parts.push_back(make_cluster({pulls.data() + p.begin, p.end - p.begin}, 0));
  return parts;
}

namespace {

// What a cut gains at first order: the forces of the faster part less the weights of its ranks.
double gain(const Cluster& faster, const Vector& ascent, const SortedL1& penalty, Index first) {
  return signed_sum(faster, ascent) + penalty.weight_sum(first) - penalty.weight_sum(first + faster.size());
}

struct Cut {
  double gain;
  std::size_t cluster;
  Pattern parts;
};

// The clusters that stay, the parts of those that are cut, and those that leave zero; `count` of them.
Refinement assembled(Pattern pattern, std::vector<Cut> cuts, Pattern leaving, std::size_t count) {
  Refinement next;
  next.pattern.reserve(count);
  next.origin.reserve(count);
  next.changed = !cuts.empty() || !leaving.empty();
  next.left_zero = std::ssize(leaving);
  auto coming = cuts.begin();
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (coming == cuts.end() || coming->cluster != k) {
      next.origin.push_back(static_cast<Index>(k));
      next.pattern.push_back(std::move(pattern[k]));
    } else {
      next.origin.insert(next.origin.end(), coming->parts.size(), -1);
      std::ranges::move((coming++)->parts, std::back_inserter(next.pattern));
    }
  }
  next.origin.insert(next.origin.end(), leaving.size(), -1);
  std::ranges::move(leaving, std::back_inserter(next.pattern));
  return next;
}

}  // namespace

Refinement refined(Pattern pattern, std::span<const Index> columns, const Vector& ascent,
                   const SortedL1& penalty, const Cuts& allowed) {
  const Tuning::Pattern& tuning = allowed.tuning;
  const double tolerance = rounding::kSpeed * penalty.weight(0);
  std::vector<Cut> cuts;
  std::vector<bool> zero(static_cast<std::size_t>(ascent.size()), true);
  Index first = 0;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (Pattern parts = cut(pattern[k], ascent, {penalty, first, tolerance}, allowed.parts); !parts.empty())
      cuts.push_back({gain(parts[0], ascent, penalty, first), k, std::move(parts)});
    for (const Index j : pattern[k].columns) zero[static_cast<std::size_t>(j)] = false;
    first += pattern[k].size();
  }
  const Index most = std::max(tuning.cuts, share_of(allowed.share, std::ssize(pattern)));
  if (std::ssize(cuts) > most) {
    std::ranges::sort(cuts, std::greater<>(), [](const Cut& c) { return std::pair(c.gain, c.cluster); });
    cuts.erase(cuts.begin() + most, cuts.end());
    std::ranges::sort(cuts, std::less<>(), &Cut::cluster);
  }

  std::vector<Index> zeros;
  zeros.reserve(columns.size());
  for (const Index j : columns)
    if (zero[static_cast<std::size_t>(j)]) zeros.push_back(j);
  std::size_t count = pattern.size();
  for (const Cut& c : cuts) count += c.parts.size() - 1;
  const Index most_leaving =
      std::max(allowed.leaving, share_of(tuning.leaving_share, static_cast<Index>(count)));
  Pattern leaving =
      leave_zero(zeros, ascent, penalty, first, tolerance, static_cast<std::size_t>(most_leaving));
  count += leaving.size();
  return assembled(std::move(pattern), std::move(cuts), std::move(leaving), count);
}

}  // namespace tyto
