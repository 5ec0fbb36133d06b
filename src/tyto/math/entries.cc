#include "tyto/math/entries.h"

#include <hwy/contrib/sort/vqsort.h>

#include <functional>

namespace tyto {

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

void sort_descending(std::span<double> v) {
  if (v.size() > 48)  // a short one is sorted before the other has begun
    hwy::Sorter()(v.data(), v.size(), hwy::SortDescending());
  else
    std::sort(v.begin(), v.end(), std::greater<>());
}

}  // namespace tyto
