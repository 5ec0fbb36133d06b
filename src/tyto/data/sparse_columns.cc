#include "tyto/data/sparse_columns.h"

namespace tyto {

void ColumnCounts::add_far(Index column) {
  if (column < std::ssize(counts_)) return count(column);
  far_.push_back(column);
  if (far_.size() >= kMostFar) count_far();
}

void ColumnCounts::count_far() {
  for (const Index column : far_) count(column);
  far_.clear();
}

std::vector<Index> ColumnCounts::take(Index cols) {
  counts_.reserve(static_cast<std::size_t>(cols));
  count_far();
  counts_.resize(static_cast<std::size_t>(cols));
  return std::move(counts_);
}

}  // namespace tyto
