#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "tyto/base/types.h"

namespace tyto {

// Column numbers, strictly increasing. The first so many, 0, 1, 2, ..., take no memory.
class Selection {
 public:
  Selection() = default;
  Selection(IndexSet columns)  // NOLINT(google-explicit-constructor): it is one
      : columns_(std::move(columns)), size_(std::ssize(columns_)), listed_(true) {}
  static Selection first(Index count) {
    Selection result;
    result.size_ = count;
    return result;
  }

  bool operator==(const Selection& other) const = default;

  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Index operator[](Index place) const { return listed_ ? columns_[static_cast<std::size_t>(place)] : place; }
  // The place of a column, or -1 if it has none.
  Index find(Index column) const {
    if (!listed_) return column >= 0 && column < size_ ? column : -1;
    const auto found = std::lower_bound(columns_.begin(), columns_.end(), column);
    return found != columns_.end() && *found == column ? found - columns_.begin() : -1;
  }
  // The columns at some of the places.
  IndexSet at(std::span<const Index> places) const {
    IndexSet result(places.begin(), places.end());
    if (listed_)
      for (Index& column : result) column = (*this)[column];
    return result;
  }
  // The columns at `count` places from `begin` on; in `room` where they are not listed.
  std::span<const Index> part(Index begin, Index count, std::span<Index> room) const {
    const auto length = static_cast<std::size_t>(count);
    if (listed_) return std::span(columns_).subspan(static_cast<std::size_t>(begin), length);
    std::iota(room.begin(), room.begin() + count, begin);
    return room.first(length);
  }

 private:
  IndexSet columns_;
  Index size_ = 0;
  bool listed_ = false;
};

// The numbers below `count` that are not among `some`, which are increasing.
inline IndexSet all_but(std::span<const Index> some, Index count) {
  IndexSet result;
  auto next = some.begin();
  for (Index j = 0; j < count; ++j)
    if (next != some.end() && *next == j)
      ++next;
    else
      result.push_back(j);
  return result;
}

}  // namespace tyto
