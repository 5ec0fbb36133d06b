#include "tyto/solve/clusters.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

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

// Force minus price, sorted by force; neighbours of which the latter is not slower move together.
std::vector<Pool> pool(const std::vector<Pull>& pulls, const SortedL1& penalty, Index first,
                       double tolerance) {
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    Pool next{pulls[i].force - penalty.weight(first + static_cast<Index>(i)), i, i + 1};
    while (!pools.empty() && pools.back().speed() <= next.speed() + tolerance) {
      next.speed_sum += pools.back().speed_sum, next.begin = pools.back().begin;
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
  for (const Pull& pull : pulls) cluster.add(pull.column, pull.sign);
  return cluster;
}

}  // namespace

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

Pattern split(const Cluster& cluster, const Vector& ascent, const SortedL1& penalty, Index first,
              double tolerance) {
  std::vector<Pull> pulls;
  pulls.reserve(cluster.columns.size());
  for (std::size_t i = 0; i < cluster.columns.size(); ++i) {
    const Index j = cluster.columns[i];
    pulls.push_back({cluster.signs[i] * ascent[j], j, cluster.signs[i]});
  }
  sort_by_force(pulls);
  const std::vector<Pool> pools = pool(pulls, penalty, first, tolerance);
  if (pools.size() == 1) return {cluster};
  double mean = 0;
  for (const Pool& p : pools) mean += p.speed_sum;
  mean /= static_cast<double>(pulls.size());
  std::size_t cut = 0;
  for (const Pool& p : pools)
    if (p.speed() > mean) cut = p.end;
  return {make_cluster({pulls.data(), cut}, cluster.magnitude),
          make_cluster({pulls.data() + cut, pulls.size() - cut}, cluster.magnitude)};
}

Pattern leave_zero(std::span<const Index> zeros, const Vector& ascent, const SortedL1& penalty, Index first,
                   double tolerance) {
  // A column that does not pull harder than the last price can never pay.
  const Index last = first + static_cast<Index>(zeros.size()) - 1;
  if (zeros.empty()) return {};
  std::vector<Pull> pulls;
  for (const Index j : zeros)
    if (const double force = penalty.pull(ascent[j]); force > penalty.weight(last))
      pulls.push_back({force, j, ascent[j] > 0 ? 1.0 : -1.0});
  sort_by_force(pulls);
  Pattern parts;
  for (const Pool& p : pool(pulls, penalty, first, tolerance))
    if (p.speed() > tolerance) parts.push_back(make_cluster({pulls.data() + p.begin, p.end - p.begin}, 0));
  return parts;
}

namespace {

// What a cut gains at first order: the pull of the faster part beyond its prices.
double gain(const Cluster& faster, const Vector& ascent, const SortedL1& penalty, Index first) {
  double sum = penalty.weight_sum(first) - penalty.weight_sum(first + faster.size());
  for (std::size_t i = 0; i < faster.columns.size(); ++i) sum += faster.signs[i] * ascent[faster.columns[i]];
  return sum;
}

}  // namespace

Refinement refined(const Pattern& pattern, std::span<const Index> columns, const Vector& ascent,
                   const SortedL1& penalty, double share) {
  constexpr std::size_t kCuts = 4, kNew = 32;  // so many are allowed in any case
  const double tolerance = 1e-13 * penalty.weight(0);
  std::vector<Pattern> parts;
  std::vector<std::pair<double, std::size_t>> gains;
  std::vector<bool> zero(static_cast<std::size_t>(ascent.size()), true);
  Index first = 0;
  for (const Cluster& cluster : pattern) {
    parts.push_back(split(cluster, ascent, penalty, first, tolerance));
    if (parts.back().size() > 1)
      gains.emplace_back(gain(parts.back()[0], ascent, penalty, first), parts.size() - 1);
    for (const Index j : cluster.columns) zero[static_cast<std::size_t>(j)] = false;
    first += cluster.size();
  }
  std::sort(gains.begin(), gains.end(), std::greater<>());
  const auto cuts = std::max(kCuts, static_cast<std::size_t>(share * static_cast<double>(pattern.size())));
  for (std::size_t i = cuts; i < gains.size(); ++i) parts[gains[i].second] = {pattern[gains[i].second]};

  std::vector<Index> zeros;
  for (const Index j : columns)
    if (zero[static_cast<std::size_t>(j)]) zeros.push_back(j);
  Refinement next;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool whole = parts[k].size() == 1;
    next.origin.insert(next.origin.end(), parts[k].size(), whole ? static_cast<Index>(k) : -1);
    std::move(parts[k].begin(), parts[k].end(), std::back_inserter(next.pattern));
    next.changed = next.changed || !whole;
  }
  Pattern leaving = leave_zero(zeros, ascent, penalty, first, tolerance);
  leaving.resize(std::min(leaving.size(), std::max(kNew, next.pattern.size() / 2)));
  next.changed = next.changed || !leaving.empty();
  next.origin.insert(next.origin.end(), leaving.size(), -1);
  std::move(leaving.begin(), leaving.end(), std::back_inserter(next.pattern));
  return next;
}

}  // namespace tyto
