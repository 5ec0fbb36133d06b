#include "tyto/math/sorted_l1.h"

#include <fmt/core.h>
#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
std::vector<double> nonzero_magnitudes(const Vector& v) {
  std::vector<double> result;
  gather_blocks<double>(
      v.size(),
      [&](Index begin, Index n, double* out) {
        return kernels::gather_above(v.data() + begin, n, std::numeric_limits<double>::denorm_min(), out);
      },
      [&](Index, std::span<const double> part) { result.insert(result.end(), part.begin(), part.end()); });
  return result;
}

// Entries that cannot pay for their weights: of m that are left, those below s w_m. Dropping them lowers m
// and raises w_m: so the threshold is raised while v is read, and then in rounds, as long as they drop half.
class Threshold {
 public:
  Threshold(const SortedL1& norm, double s) : norm_(norm), s_(s), left_(norm.size()) {}

  void count(const Vector& v) { left_ = kernels::count_above(v.data(), v.size(), at(left_)); }
  double at(Index left) const { return left > 0 ? s_ * norm_.weight(left - 1) : kInfinity; }
  // For the entries from `begin` on, when `kept` of those before are left.
  double at(Index begin, std::size_t kept) const {
    return at(std::min(left_, static_cast<Index>(kept) + norm_.size() - begin));
  }

 private:
  const SortedL1& norm_;
  double s_;
  Index left_;
};

// The magnitudes of the entries that may pay.
std::vector<double> candidates(const Vector& v, const SortedL1& norm, double s) {
  const Threshold threshold(norm, s);
  std::vector<double> u;
  gather_blocks<double>(
      v.size(),
      [&](Index begin, Index n, double* out) {
        return kernels::gather_above(v.data() + begin, n, threshold.at(begin, u.size()), out);
      },
      [&](Index, std::span<const double> part) { u.insert(u.end(), part.begin(), part.end()); });
  for (Index before = v.size(); !u.empty() && 2 * std::ssize(u) <= before;) {
    before = std::ssize(u);
    u.resize(
        static_cast<std::size_t>(kernels::gather_above(u.data(), before, threshold.at(before), u.data())));
  }
  return u;
}

// An entry of a vector by its magnitude: positive doubles are in the order of their bits.
using Ranked = hwy::K64V64;
Ranked rank(double v, Index i) {
  return {static_cast<std::uint64_t>(i), std::bit_cast<std::uint64_t>(std::abs(v))};
}
double magnitude(const Ranked& entry) { return std::bit_cast<double>(entry.key); }

// The same for the prox: the entries themselves; the others are set to 0 on the way.
std::vector<Ranked> keep_candidates(Vector& v, const SortedL1& norm, double s) {
  Threshold threshold(norm, s);
  threshold.count(v);  // another read of v, but most of the entries are then dropped at once
  std::vector<Ranked> kept;
  gather_blocks<Index>(
      v.size(),
      [&](Index begin, Index n, Index* out) {
        return kernels::zero_below(v.data() + begin, n, threshold.at(begin, kept.size()), out);
      },
      [&](Index begin, std::span<const Index> part) {
        for (const Index i : part) kept.push_back(rank(v[begin + i], begin + i));
      });
  for (Index before = v.size(); !kept.empty() && 2 * std::ssize(kept) <= before;) {
    before = std::ssize(kept);
    const double smallest = threshold.at(before);
    std::size_t count = 0;
    for (const Ranked entry : kept) {
      const bool pays = magnitude(entry) >= smallest;
      double& value = v[static_cast<Index>(entry.value)];
      value = pays ? value : 0;
      kept[count] = entry;
      count += pays ? 1 : 0;
    }
    kept.resize(count);
  }
  return kept;
}

// The largest first. The order of ties, which is any, does not matter to what follows: they share a pool.
void sort_ranked(std::vector<Ranked>& entries) {
  if (entries.size() > 256)
    hwy::Sorter()(entries.data(), entries.size(), hwy::SortDescending());
  else
    std::sort(entries.begin(), entries.end(), [](const Ranked& a, const Ranked& b) { return a.key > b.key; });
}

// Quicksort that leaves out the blocks of ranks in which S cannot be what is looked for: first its maximum,
// then, with a slack, the last rank that comes near it.
class PrefixSearch {
 public:
  PrefixSearch(std::span<double> u, const SortedL1& norm, double s) : u_(u), norm_(norm), s_(s) {}

  PayingPrefix run(double slack) {
    if (u_.empty()) return best_;
    const auto [least, most] = std::minmax_element(u_.begin(), u_.end());
    const double bottom = *least, top = *most, total = std::accumulate(u_.begin(), u_.end(), 0.0);
    if (std::ssize(u_) <= kSorted) return sorted(slack);
    const auto search = [&] {
      offer(std::ssize(u_), total);
      explore(0, std::ssize(u_), 0.0, total, top, bottom);
    };
    search();
    if (slack == 0) return best_;
    floor_ = highest_ - slack;
    search();
    return best_;
  }

 private:
  static constexpr Index kSorted = 16384;

  // Sorting all of them is fast where they are not many.
  PayingPrefix sorted(double slack) {
    sort_descending(u_);
    const auto scan = [&] {
      double sum = 0;
      for (Index k = 0; k < std::ssize(u_); ++k) offer(k + 1, sum += u_[static_cast<std::size_t>(k)]);
    };
    scan();
    if (slack == 0) return best_;
    floor_ = highest_ - slack;
    scan();
    return best_;
  }

  double surplus(Index k, double sum) const { return sum - s_ * norm_.weight_sum(k); }

  void offer(Index k, double sum) {
    const double value = surplus(k, sum);
    const bool first_search = floor_ == kInfinity;
    if ((first_search && value > highest_) || (k > best_.count && value >= std::min(highest_, floor_)))
      best_ = {k, sum};
    highest_ = std::max(highest_, value);
  }

  // Entries lo .. hi - 1 are those of these ranks, unsorted, all within [bottom, top]; S is known at both
  // ends. With u <= top, S(lo) + (i - lo) top - (W_i - W_lo) s bounds S(i) and is convex in i: its ends bound
  // it. The same from the other end with u >= bottom.
  void explore(Index lo, Index hi, double sum_lo, double sum_hi, double top, double bottom) {
    const double first = surplus(lo, sum_lo), last = surplus(hi, sum_hi);
    const auto length = static_cast<double>(hi - lo);
    const double weight = s_ * (norm_.weight_sum(hi) - norm_.weight_sum(lo));
    const double bound = std::min(std::max(first, first + length * top - weight),
                                  std::max(last, last - length * bottom + weight));
    if (hi - lo < 2 || bound <= last || bound < std::min(highest_, floor_)) return;
    const auto begin = u_.begin() + lo, end = u_.begin() + hi;
    if (hi - lo <= 32) {
      sort_descending({begin, end});
      for (double sum = sum_lo; lo + 1 < hi; ++lo) offer(lo + 1, sum += u_[static_cast<std::size_t>(lo)]);
      return;
    }
    const Index middle = lo + (hi - lo) / 2;
    const auto cut = u_.begin() + middle;
    std::nth_element(begin, cut, end, std::greater<>());
    const double pivot = *cut, sum = std::accumulate(begin, cut, sum_lo);
    offer(middle, sum);
    explore(middle, hi, sum, sum_hi, pivot, bottom);
    explore(lo, middle, sum_lo, sum, top, pivot);
  }

  std::span<double> u_;
  const SortedL1& norm_;
  double s_;
  PayingPrefix best_{0, 0.0};
  double highest_ = 0;        // of S so far; S(0) = 0
  double floor_ = kInfinity;  // what is near enough, in the second search
};

// Isotonic regression of the values by pooling adjacent violators: non-increasing, then clipped at 0. Entries
// that tie begin in one block: by their means alone, rounding would part some of them.
void pool(const std::vector<Ranked>& sorted, std::vector<double>& value) {
  struct Block {
    double sum, mean;
    std::size_t begin, end;
    void add(double other, std::size_t from) {
      sum += other;
      begin = from;
      mean = sum / static_cast<double>(end - begin);
    }
  };
  std::vector<Block> blocks;
  for (std::size_t begin = 0, end = 0; begin < value.size(); begin = end) {
    Block block{0, value[begin], begin, begin};
    while (end < value.size() && sorted[end].key == sorted[begin].key) block.sum += value[end++];
    block.end = end;
    if (value[end - 1] != value[begin]) block.add(0, begin);
    while (!blocks.empty() && blocks.back().mean <= block.mean) {
      block.add(blocks.back().sum, blocks.back().begin);
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  for (const Block& block : blocks)
    for (std::size_t i = block.begin; i < block.end; ++i) value[i] = std::max(0.0, block.mean);
}

}  // namespace

SortedL1::SortedL1(Vector weights, bool nonnegative) : size_(weights.size()), nonnegative_(nonnegative) {
  Index valid = size_ > 0 && std::isfinite(weights[0]) && weights[0] >= 0 ? 1 : 0;
  for (Index i = 1; i < size_; ++i) valid += weights[i] >= 0 && weights[i] <= weights[i - 1] ? 1 : 0;
  for (Index i = 0; i < size_ && valid < size_; ++i) {  // which one is wrong
    const auto at = [&] { return "weights: entry " + std::to_string(i + 1) + ": want "; };
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      throw InvalidArgument(at() + "a finite number >= 0, got " + fmt::format("{}", weights[i]));
    if (i > 0 && weights[i] > weights[i - 1])
      throw InvalidArgument(at() + "a non-increasing sequence, got a larger one");
  }
  if (size_ > 0 && weights[0] == 0) throw InvalidArgument("weights: want at least one that is not 0");
  if (size_ > 0) {
    const int unit = std::ilogb(weights[0]);
    multiplier_ = std::ldexp(1.0, unit);
    // In two steps, as 2^-unit itself may overflow.
    if (unit != 0) weights *= std::ldexp(1.0, -(unit / 2));
    if (unit != 0) weights *= std::ldexp(1.0, unit / 2 - unit);
  }
  Vector sum = vector_to_write(size_ + 1);
  double running = 0, lost = 0;  // lost: what rounding took off; weights fall, so running is the larger one
  sum[0] = 0;
  for (Index i = 0; i < size_; ++i) {
    const double next = running + weights[i];
    lost += weights[i] - (next - running);
    running = next;
    sum[i + 1] = running + lost;
  }
  data_ = std::make_shared<const Data>(Data{std::move(weights), std::move(sum)});
}

SortedL1 SortedL1::head(Index k) const {
  SortedL1 result = *this;
  result.size_ = std::min(k, size_);
  return result;
}

SortedL1 SortedL1::scaled(double multiplier) const {
  SortedL1 result = *this;
  result.multiplier_ *= multiplier;
  const double largest = size_ > 0 ? result.weight(0) : multiplier, sum = result.weight_sum(size_);
  if (!(multiplier > 0 && largest > 0 && std::isfinite(sum)))
    throw InvalidArgument(fmt::format("weights: want a finite multiplier > 0, got {}", multiplier));
  return result;
}

std::optional<double> SortedL1::multiple_of(const SortedL1& other) const {
  if (data_ != other.data_ || size_ != other.size_ || nonnegative_ != other.nonnegative_) return std::nullopt;
  return multiplier_ / other.multiplier_;
}

std::optional<double> SortedL1::dual_norm_from(const SortedL1& other, double other_dual_norm) const {
  const std::optional<double> ratio = other.multiple_of(*this);
  if (!ratio || other_dual_norm == 0) return ratio ? std::optional(0.0) : std::nullopt;
  const double result = *ratio * other_dual_norm;
  if (!std::isnormal(*ratio) || !std::isnormal(other_dual_norm) || !std::isnormal(result))
    return std::nullopt;
  return result;
}

const Vector& SortedL1::counted(const Vector& g, Vector& room) const {
  if (!nonnegative_) return g;
  room = g.cwiseMax(0);
  return room;
}

double SortedL1::value(const Vector& beta) const {
  if (nonnegative_ && (beta.array() < 0).any()) return kInfinity;
  std::vector<double> nonzero = nonzero_magnitudes(beta);
  sort_descending(nonzero);
  return multiplier_ * kernels::dot(nonzero.data(), data_->weight.data(), std::ssize(nonzero));
}

void SortedL1::prox(Vector& v, double step) const {
  if (size_ == 0) return;
  if (nonnegative_) v = v.cwiseMax(0);
  std::vector<Ranked> sorted = keep_candidates(v, *this, step);
  sort_ranked(sorted);
  std::vector<double> value(sorted.size());
  for (std::size_t k = 0; k < value.size(); ++k)
    value[k] = magnitude(sorted[k]) - step * weight(static_cast<Index>(k));
  pool(sorted, value);
  for (std::size_t k = 0; k < value.size(); ++k) {
    double& entry = v[static_cast<Index>(sorted[k].value)];
    entry = std::copysign(value[k], entry);
  }
}

// The smallest s with S(k) <= 0 for all k, by Newton's method: s <- the ratio at the maximum of S, which
// rises to the answer; only entries before that maximum can matter at a larger s. Before that, s rises while
// it drops entries: the sum of any k of them over W_k is at most the answer, and needs no order.
double SortedL1::dual_norm(const Vector& all, double at_least) const {
  if (size_ == 0) return 0;
  if (multiplier_ != 1) {  // sums of the weights themselves may underflow or overflow
    SortedL1 unit = *this;
    unit.multiplier_ = 1;
    return unit.dual_norm(all, at_least * multiplier_) / multiplier_;
  }
  Vector room;
  const Vector& g = counted(all, room);
  double s = at_least;
  if (!(s > 0)) {
    const auto [sum, largest] = kernels::magnitudes(g.data(), g.size());
    s = std::max(largest / weight(0), sum / weight_sum(size_));
  }
  std::vector<double> entries = candidates(g, *this, s);
  std::span<double> u(entries);
  for (std::size_t before = 2 * u.size(); !u.empty() && 10 * u.size() < 9 * before;) {
    before = u.size();
    const Index left = std::ssize(u);
    s = std::max(s, kernels::magnitudes(u.data(), left).sum / weight_sum(left));
    u = u.first(
        static_cast<std::size_t>(kernels::gather_above(u.data(), left, s * weight(left - 1), u.data())));
  }
  while (!u.empty()) {
    const PayingPrefix prefix = paying_prefix(u, *this, s, 0.0);
    if (prefix.count == 0) break;
    const double ratio = prefix.sum / weight_sum(prefix.count);
    if (!(ratio > s)) break;
    s = ratio;
    u = u.first(static_cast<std::size_t>(prefix.count));
  }
  return s;
}

PayingPrefix paying_prefix(std::span<double> u, const SortedL1& norm, double s, double slack) {
  return PrefixSearch(u, norm, s).run(slack);
}

double paying_cut(const Vector& v, const SortedL1& norm, double s) {
  Vector room;
  std::vector<double> u = candidates(norm.counted(v, room), norm, s);
  const Index count = paying_prefix(u, norm, s, 0).count;
  return count == 0 ? kInfinity : *std::min_element(u.begin(), u.begin() + count);
}

}  // namespace tyto
