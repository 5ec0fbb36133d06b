#include "tyto/design/gram_cache.h"

#include <utility>

#include "tyto/base/error.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {

GramCache::GramCache(Index cols) : GramCache(cols, {}, {}) {}

GramCache::GramCache(Index cols, std::vector<Index> columns, Matrix products)
    : columns_(std::move(columns)),
      place_(static_cast<std::size_t>(cols), -1),
      products_(std::move(products)) {
  for (std::size_t k = 0; k < columns_.size(); ++k)
    place_[static_cast<std::size_t>(columns_[k])] = static_cast<Index>(k);
}

void GramCache::gram(const Design& design, std::span<const Index> columns, MatrixView out, const Work& work) {
  if (design.cols() != std::ssize(place_))
    throw InvalidArgument("gram cache: want the design it was made for");
  const Index before = std::ssize(columns_);
  for (const Index j : columns) {
    Index& place = place_[static_cast<std::size_t>(j)];
    if (place >= 0) continue;
    place = std::ssize(columns_);
    columns_.push_back(j);
  }
  const Index after = std::ssize(columns_);
  if (const Index fresh = after - before; fresh > 0) {
    products_.conservativeResize(after, after);
    design.gram(columns_, products_.rightCols(fresh), work);
    products_.bottomLeftCorner(fresh, before) = products_.topRightCorner(before, fresh).transpose();
  }
  std::vector<Index> places;
  places.reserve(columns.size());
  for (const Index j : columns) places.push_back(place_[static_cast<std::size_t>(j)]);
  out = products_(places, std::span(places).last(static_cast<std::size_t>(out.cols())));
}

}  // namespace tyto
