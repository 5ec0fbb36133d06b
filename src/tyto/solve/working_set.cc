#include "tyto/solve/working_set.h"

#include <algorithm>

namespace tyto {
namespace {

constexpr Index kNone = -1;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Room for so many rows and columns, with what is there kept.
void grow(Matrix& matrix, Index rows, Index used_rows, Index cols, Index used_cols) {
  if (matrix.rows() >= rows && matrix.cols() >= cols) return;
  Matrix larger(rows > matrix.rows() ? std::max(rows, 3 * used_rows / 2) : matrix.rows(),
                std::max(cols, 3 * used_cols / 2));
  larger.topLeftCorner(used_rows, used_cols) = matrix.topLeftCorner(used_rows, used_cols);
  matrix.swap(larger);
}

}  // namespace

bool WorkingSet::include(const Design& design, std::span<const Index> columns) {
  rows_ = design.rows();
  std::vector<Index> fresh, stay;
  for (const Index j : columns)
    if (!slot_.contains(design.raw(j))) fresh.push_back(j);
  const Index wanted = std::ssize(columns), total = size() + std::ssize(fresh);
  // What is not wanted any more may stay while it is little, or, as a Gram matrix, small beside X.
  const bool crowded =
      total > 3 * wanted + 64 && (!covariance_ || 4 * total * total > full_.stored_entries());
  // A form is left when the other one is clearly cheaper.
  const bool other_form =
      covariance_ ? !design.is_sparse() && total > rows_ : design.is_sparse() || rows_ > 4 * total;
  bool changed = false;
  if (size() == 0 || other_form) {
    changed = size() > 0;
    keep({});
    covariance_ = design.is_sparse() || rows_ > 2 * wanted;
    fresh.assign(columns.begin(), columns.end());
  } else {
    std::vector<bool> wished(at(size()), !crowded);
    if (crowded)
      for (const Index j : columns)
        if (const auto found = slot_.find(design.raw(j)); found != slot_.end())
          wished[at(found->second)] = true;
    for (Index slot = 0; slot < size(); ++slot)
      if (wished[at(slot)]) stay.push_back(slot);
    if (std::ssize(stay) < size()) keep(stay), changed = true;
  }
  append(design, fresh);
  present_.clear();
  for (Index slot = 0; slot < size(); ++slot) {
    column_[at(slot)] = design.find(raw_[at(slot)]);
    if (column_[at(slot)] != kNone) present_.push_back(slot);
  }
  return changed;
}

bool WorkingSet::contains(const Design& design, std::span<const Index> columns) const {
  return std::ranges::all_of(columns, [&](Index j) { return slot_.contains(design.raw(j)); });
}

void WorkingSet::keep(const std::vector<Index>& slots) {
  std::vector<Index> active;
  if (covariance_) place_.assign(at(size()), kNone);
  for (Index to = 0; to < std::ssize(slots); ++to) {
    const Index from = slots[at(to)];
    raw_[at(to)] = raw_[at(from)], column_[at(to)] = column_[at(from)];
    if (covariance_) {
      if (from != to) products_.col(to) = products_.col(from), products_.row(to) = products_.row(from);
    } else {
      if (from != to) packed_.col(to) = packed_.col(from);
      const Index place = place_[at(from)];
      place_[at(to)] = place;
      if (place != kNone) active_[at(place)] = to;
    }
  }
  if (!covariance_) {  // those that are active close ranks, too
    std::vector<bool> kept(active_.size(), false);
    for (std::size_t to = 0; to < slots.size(); ++to)
      if (place_[to] != kNone) kept[at(place_[to])] = true;
    Index count = 0;
    for (Index place = 0; place < std::ssize(active_); ++place) {
      if (!kept[at(place)]) continue;
      if (place != count) {
        active_[at(count)] = active_[at(place)];
        active_columns_.col(count) = active_columns_.col(place);
        products_.col(count) = products_.col(place), products_.row(count) = products_.row(place);
      }
      place_[at(active_[at(count)])] = count;
      ++count;
    }
    active_.resize(at(count));
  }
  raw_.resize(slots.size()), column_.resize(slots.size()), place_.resize(slots.size());
  slot_.clear();
  for (Index slot = 0; slot < size(); ++slot) slot_[raw_[at(slot)]] = slot;
}

void WorkingSet::append(const Design& design, std::span<const Index> columns) {
  if (columns.empty()) return;
  const Index before = size(), after = before + std::ssize(columns);
  for (const Index j : columns) {
    slot_[design.raw(j)] = size();
    raw_.push_back(design.raw(j)), column_.push_back(j), place_.push_back(kNone);
  }
  if (!covariance_) {
    if (packed_.rows() != rows_) packed_.resize(rows_, 0);
    grow(packed_, rows_, rows_, after, before);
    design.pack(columns, 0, rows_, packed_.col(before).data());
    return;
  }
  grow(products_, after, before, after, before);
  std::vector<Index> all;
  for (const Index raw : raw_) all.push_back(full_.find(raw));
  full_.products(all, products_.block(0, before, after, after - before));
  products_.block(before, 0, after - before, before) =
      products_.block(0, before, before, after - before).transpose();
}

void WorkingSet::activate(std::span<const Index> slots) {
  if (covariance_) return;
  const Index before = std::ssize(active_);
  for (const Index slot : slots)
    if (place_[at(slot)] == kNone) place_[at(slot)] = std::ssize(active_), active_.push_back(slot);
  const Index after = std::ssize(active_), fresh = after - before;
  if (fresh == 0) return;
  if (active_columns_.rows() != rows_) active_columns_.resize(rows_, 0);
  grow(active_columns_, rows_, rows_, after, before);
  grow(products_, after, before, after, before);
  for (Index place = before; place < after; ++place)
    active_columns_.col(place) = packed_.col(active_[at(place)]);
  transpose_product(active_columns_.leftCols(after), active_columns_.middleCols(before, fresh), 0,
                    products_.block(0, before, after, fresh));
  products_.block(before, 0, fresh, before) = products_.block(0, before, before, fresh).transpose();
}

void WorkingSet::ascent(const Vector& state, Vector& out) const {
  if (covariance_)
    out = state;
  else
    transpose_product(packed_.leftCols(size()), state, out);
}

void WorkingSet::move(const Vector& step, Vector& state) const {
  if (covariance_)
    add_product(-1, products_.topLeftCorner(size(), size()), step, state);
  else
    add_product(-1, active_columns_.leftCols(active()), step, state);
}

}  // namespace tyto
