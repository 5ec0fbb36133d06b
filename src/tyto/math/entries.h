#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "tyto/base/types.h"
#include "tyto/math/kernels.h"

namespace tyto {

// Applies gather(begin, length, buffer) -> count to blocks of n entries, and append(begin, the count results)
// to what it wrote to the buffer, which is small and on the stack.
template <class T, class Gather, class Append>
void gather_blocks(Index n, Gather gather, Append append) {
  constexpr Index kBlock = 2048;
  std::array<T, kBlock + kernels::kPadding> buffer;
  for (Index begin = 0; begin < n; begin += kBlock) {
    const Index count = gather(begin, std::min(kBlock, n - begin), buffer.data());
    append(begin, std::span<const T>(buffer.data(), static_cast<std::size_t>(count)));
  }
}

IndexSet entries_above(const Vector& v, double threshold);  // the i with |v_i| >= threshold
inline IndexSet nonzero_entries(const Vector& v) {
  return entries_above(v, std::numeric_limits<double>::denorm_min());
}

// The `count` entries, or all, that are largest in magnitude, in order; of those that tie, the first ones.
IndexSet largest_entries(const Vector& v, Index count);
void keep_largest(IndexSet& entries, const Vector& v, Index count);  // the same of some of them

// Of m entries that are left, those below threshold(m), which does not rise with m, drop; that lowers m. By
// counting, while it drops many and many are left: how many are, and how many there were before the last
// time.
struct Counted {
  Index now, before;
};
template <class Threshold>
Counted count_down(const Vector& v, Threshold threshold) {
  Counted left{v.size(), 2 * v.size()};
  while (left.now > 0 && 10 * left.now < 9 * left.before && 16 * left.now >= v.size()) {
    left.before = left.now;
    left.now = kernels::count_above(v.data(), v.size(), threshold(left.now));
  }
  return left;
}

void sort_descending(std::span<double> v);

}  // namespace tyto
