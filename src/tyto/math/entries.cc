#include "tyto/math/entries.h"

#include <hwy/contrib/sort/vqsort.h>

#include <bit>
#include <cmath>
#include <functional>
#include <vector>

namespace tyto {
namespace {

constexpr Index kSmallestBlock = 16, kLargestBlock = 256;

// Of a few entries of many: as many as there are blocks with a maximum that high reach a level, so that none
// below the count-th largest maximum is wanted, and blocks whose maximum is lower need not be searched.
IndexSet few_largest(const Vector& v, Index count, Index block) {
  std::vector<double> maxima(static_cast<std::size_t>((v.size() + block - 1) / block));
  kernels::block_maxima(v.data(), v.size(), block, maxima.data());
  std::vector<double> ranked = maxima;
  std::nth_element(ranked.begin(), ranked.begin() + (count - 1), ranked.end(), std::greater<>());
  const double level = ranked[static_cast<std::size_t>(count - 1)];
  IndexSet result;
  result.reserve(static_cast<std::size_t>(2 * count));
  std::array<Index, kLargestBlock + kernels::kPadding> places;
  for (Index b = 0; b < std::ssize(maxima); ++b) {
    if (maxima[static_cast<std::size_t>(b)] < level) continue;
    const Index begin = b * block, length = std::min(block, v.size() - begin);
    const Index found = kernels::find_above(v.data() + begin, length, level, places.data());
    for (Index k = 0; k < found; ++k) result.push_back(begin + places[static_cast<std::size_t>(k)]);
  }
  return result;
}

}  // namespace

IndexSet entries_above(const Vector& v, double threshold) {
  IndexSet result;
  gather_blocks<Index>(
      v.size(),
      [&](Index begin, Index n, Index* out) {
        return kernels::find_above(v.data() + begin, n, threshold, out);
      },
      [&](Index begin, std::span<const Index> part) {
        const std::size_t before = result.size();
        result.resize(before + part.size());
        for (std::size_t k = 0; k < part.size(); ++k) result[before + k] = begin + part[k];
      });
  return result;
}

IndexSet largest_entries(const Vector& v, Index count) {
  IndexSet result;
  if (count <= 0) return result;
  if (const Index share = v.size() / (3 * count); share >= kSmallestBlock) {
    const auto block = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(share)));
    result = few_largest(v, count, std::min(block, kLargestBlock));
  } else {
    const double largest = kernels::magnitudes(v.data(), v.size()).largest;
    double level = count < v.size() ? largest : 0;
    while (level > 0 && kernels::count_above(v.data(), v.size(), level) < count)
      level = level > 1e-3 * largest ? 0.7 * level : 0;
    result = entries_above(v, level);
  }
  keep_largest(result, v, count);
  return result;
}

void keep_largest(IndexSet& entries, const Vector& v, Index count) {
  if (count >= std::ssize(entries)) return;
  if (count == 0) return entries.clear();
  std::vector<double> ranked(entries.size());
  std::ranges::transform(entries, ranked.begin(), [&](Index i) { return std::abs(v[i]); });
  std::ranges::nth_element(ranked, ranked.begin() + (count - 1), std::greater<>());
  const double level = ranked[static_cast<std::size_t>(count - 1)];
  Index ties = count - std::ranges::count_if(entries, [&](Index i) { return std::abs(v[i]) > level; });
  std::size_t kept = 0;
  for (const Index i : entries) {
    const double size = std::abs(v[i]);
    const bool tied = size == level && ties > 0;
    if (tied) --ties;
    if (tied || size > level) entries[kept++] = i;
  }
  entries.resize(kept);
}

void sort_descending(std::span<double> v) {
  if (v.size() > 48)  // a short one is sorted before the other has begun
    hwy::Sorter()(v.data(), v.size(), hwy::SortDescending());
  else
    std::sort(v.begin(), v.end(), std::greater<>());
}

}  // namespace tyto
