#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tyto/base/huge_pages.h"
#include "tyto/columns/sparse.h"
#include "tyto/data/dataset.h"

namespace tyto {

// Entries per column of a matrix whose width is not known before all its entries were seen.
class ColumnCounts {
 public:
  void add(Index column) {
    ++entries_;
    cols_ = std::max(cols_, column + 1);
    if (column < kPlain)
      count(column);
    else
      add_far(column);
  }
  Index entries() const { return entries_; }
  Index cols() const { return cols_; }
  // Widths up to this are believed. One wrong digit must not cost gigabytes.
  Index plausible_cols() const { return kPlain + kColumnsPerEntry * entries_; }
  // The counts of `cols` columns, no fewer than cols().
  std::vector<Index> take(Index cols);

 private:
  static constexpr Index kPlain = Index{1} << 20, kColumnsPerEntry = Index{1} << 10;
  static constexpr std::size_t kMostFar = std::size_t{1} << 21;  // then any width below 2^31 is plausible

  void count(Index column) {
    if (column >= std::ssize(counts_)) counts_.resize(static_cast<std::size_t>(column + 1));
    ++counts_[static_cast<std::size_t>(column)];
  }
  void add_far(Index column);
  void count_far();

  Index entries_ = 0, cols_ = 0;
  std::vector<Index> counts_;
  std::vector<Index> far_;  // columns not counted yet
};

// Fills a compressed sparse matrix entry by entry, once the counts of its columns are known. Not an
// Eigen::SparseMatrix: that one has no move constructor (3.4), and every copy would take the matrix's memory
// again.
template <class StorageIndex>
class ColumnFiller {
 public:
  ColumnFiller(Index rows, const std::vector<Index>& counts)
      : rows_(rows), start_(counts.size() + 1), cursor_(counts.size()) {
    for (std::size_t j = 0; j < counts.size(); ++j) {
      start_[j + 1] = start_[j] + static_cast<StorageIndex>(counts[j]);
      cursor_[j] = {start_[j], start_[j + 1]};
    }
    const auto entries = static_cast<std::size_t>(start_.back());
    value_ = std::make_unique_for_overwrite<double[]>(entries);
    row_ = std::make_unique_for_overwrite<StorageIndex[]>(entries);
    prefer_huge_pages(value_.get(), entries * sizeof(double));
    prefer_huge_pages(row_.get(), entries * sizeof(StorageIndex));
  }

  // False where this entry, or one of the last kPending, has no place: its column does not exist or is full.
  bool add(Index row, Index column, double value) {
    if (column >= cols() || row >= rows_) return false;
    __builtin_prefetch(&cursor_[static_cast<std::size_t>(column)], 1);
    pending_[pending_count_++] = {static_cast<std::size_t>(column), static_cast<StorageIndex>(row), value};
    return pending_count_ < kPending || place_pending();
  }
  bool complete() {  // all places were filled; to be called after the last entry
    return place_pending() && std::ranges::all_of(cursor_, [](const Cursor& c) { return c.next == c.end; });
  }
  void sort_and_sum_duplicates();
  static Design design(ColumnFiller filler) {
    filler.cursor_ = {};
    const auto owner = std::make_shared<const ColumnFiller>(std::move(filler));
    return Design(
        sparse_columns(SparseView<double, StorageIndex>{owner->value_.get(), owner->row_.get(),
                                                        owner->start_.data(), owner->rows_, owner->cols()},
                       owner));
  }

 private:
  struct Cursor {
    StorageIndex next, end;
  };
  struct Entry {
    std::size_t place;  // its column, then its position
    StorageIndex row;
    double value;
  };
  // Entries of a row go to places all over the memory. They wait in groups, so that the cache misses of a
  // group overlap.
  static constexpr std::size_t kPending = 64;

  Index cols() const { return std::ssize(start_) - 1; }
  bool place_pending() {
    const std::span<Entry> entries(pending_.data(), std::exchange(pending_count_, 0));
    for (Entry& entry : entries) {
      Cursor& cursor = cursor_[entry.place];
      if (cursor.next == cursor.end) return false;
      entry.place = static_cast<std::size_t>(cursor.next++);
      __builtin_prefetch(&row_[entry.place], 1);
      __builtin_prefetch(&value_[entry.place], 1);
    }
    for (const Entry& entry : entries) {
      row_[entry.place] = entry.row;
      value_[entry.place] = entry.value;
    }
    return true;
  }

  Index rows_;
  std::vector<StorageIndex> start_;
  std::vector<Cursor> cursor_;  // by column: the places still to be filled
  std::unique_ptr<double[]> value_;
  std::unique_ptr<StorageIndex[]> row_;
  std::array<Entry, kPending> pending_;
  std::size_t pending_count_ = 0;
};

inline bool fits_32_bits(Index rows, Index entries) {
  return std::max(rows, entries) <= std::numeric_limits<std::int32_t>::max();
}

template <class StorageIndex>
void ColumnFiller<StorageIndex>::sort_and_sum_duplicates() {
  StorageIndex *row = row_.get(), *start = start_.data();
  double* value = value_.get();
  std::vector<std::pair<StorageIndex, double>> column;
  StorageIndex out = 0;
  for (Index j = 0; j < cols(); ++j) {
    const StorageIndex begin = start[j], end = start[j + 1];
    if (!std::is_sorted(row + begin, row + end)) {
      column.clear();
      for (StorageIndex k = begin; k < end; ++k) column.emplace_back(row[k], value[k]);
      std::stable_sort(column.begin(), column.end(), [](auto& a, auto& b) { return a.first < b.first; });
      for (StorageIndex k = begin; k < end; ++k)
        std::tie(row[k], value[k]) = column[static_cast<std::size_t>(k - begin)];
    }
    start[j] = out;
    for (StorageIndex k = begin; k < end; ++k) {
      if (out > start[j] && row[out - 1] == row[k]) {
        value[out - 1] += value[k];
      } else {
        row[out] = row[k];
        value[out] = value[k];
        ++out;
      }
    }
  }
  start[cols()] = out;
}

}  // namespace tyto
