#include "tyto/solve/working_set.h"

#include <algorithm>

#include "tyto/math/kernels.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

constexpr Index kNone = -1;

// Room for so many rows and columns, with what is there kept.
void grow(Matrix& matrix, Index rows, Index used_rows, Index cols, Index used_cols) {
  if (matrix.rows() >= rows && matrix.cols() >= cols) return;
  Matrix larger(rows > matrix.rows() ? std::max(rows, 3 * used_rows / 2) : matrix.rows(),
                std::max(cols, 3 * used_cols / 2));
  larger.topLeftCorner(used_rows, used_cols) = matrix.topLeftCorner(used_rows, used_cols);
  matrix.swap(larger);
}

}  // namespace

// Reading n rows again and again costs more than their products once, where there are many rows. Sparse
// columns have few entries and cheap products. A form is left only when the other one is clearly cheaper.
bool WorkingSet::better_as_covariance(Index count) const {
  return full_.is_sparse() || full_.rows() > (size() == 0 ? 2 : covariance_ ? 1 : 4) * count;
}

bool WorkingSet::include(const Design& design, std::span<const Index> columns) {
  std::vector<Index> fresh;
  for (const Index j : columns)
    if (!slot_.contains(design.raw(j))) fresh.push_back(j);
  const Index wanted = std::ssize(columns), total = size() + std::ssize(fresh);
  // What is not wanted any more may stay while it is little, or, as a Gram matrix, small beside X.
  const bool crowded =
      total > 3 * wanted + 64 && (!covariance_ || 4 * total * total > full_.stored_entries());
  bool changed = false;
  if (size() == 0 || better_as_covariance(crowded ? wanted : total) != covariance_) {
    changed = size() > 0;
    keep({});
    covariance_ = better_as_covariance(wanted);
    fresh.assign(columns.begin(), columns.end());
  } else if (crowded) {
    std::vector<Index> stay;
    for (const Index j : columns)
      if (const auto found = slot_.find(design.raw(j)); found != slot_.end()) stay.push_back(found->second);
    std::sort(stay.begin(), stay.end());
    if (std::ssize(stay) < size()) keep(stay), changed = true;
  }
  append(fresh, design);
  locate(design);
  return changed;
}

void WorkingSet::locate(const Design& design) {
  present_.clear();
  for (Index slot = 0; slot < size(); ++slot) {
    column_[at(slot)] = design.find(raw_[at(slot)]);
    if (column_[at(slot)] != kNone) present_.push_back(slot);
  }
}

bool WorkingSet::contains(const Design& design, std::span<const Index> columns) const {
  return std::ranges::all_of(columns, [&](Index j) { return slot_.contains(design.raw(j)); });
}

void WorkingSet::keep(const std::vector<Index>& slots) {
  for (Index to = 0; to < std::ssize(slots); ++to) {
    const Index from = slots[at(to)];
    raw_[at(to)] = raw_[at(from)], place_[at(to)] = place_[at(from)];
    if (from == to) continue;
    if (covariance_)
      products_.col(to) = products_.col(from), products_.row(to) = products_.row(from);
    else
      packed_.col(to) = packed_.col(from);
  }
  raw_.resize(slots.size()), column_.resize(slots.size()), place_.resize(slots.size());
  slot_.clear();
  for (Index slot = 0; slot < size(); ++slot) slot_[raw_[at(slot)]] = slot;
  close_ranks(size());
}

// Places of slots that are gone are filled by those behind them.
void WorkingSet::close_ranks(Index slots) {
  std::vector<Index> slot_at(active_.size(), kNone);
  for (Index slot = 0; slot < slots; ++slot)
    if (place_[at(slot)] != kNone) slot_at[at(place_[at(slot)])] = slot;
  Index count = 0;
  for (Index place = 0; place < std::ssize(slot_at); ++place) {
    const Index slot = slot_at[at(place)];
    if (slot == kNone) continue;
    if (place != count) {
      active_columns_.col(count) = active_columns_.col(place);
      products_.col(count) = products_.col(place), products_.row(count) = products_.row(place);
    }
    active_[at(count)] = slot, place_[at(slot)] = count++;
  }
  active_.resize(at(count));
}

void WorkingSet::append(std::span<const Index> columns, const Design& design) {
  if (columns.empty()) return;
  const Index before = size(), after = before + std::ssize(columns), rows = full_.rows();
  for (const Index j : columns) {
    slot_[design.raw(j)] = size();
    raw_.push_back(design.raw(j)), column_.push_back(j), place_.push_back(kNone);
  }
  if (covariance_) {
    grow(products_, after, before, after, before);
    std::vector<Index> all;
    for (Index slot = 0; slot < after; ++slot) all.push_back(full_column(slot));
    full_.products(all, products_.block(0, before, after, after - before));
    for (Index slot = before; slot < after; ++slot) products_(slot, slot) += ridge_;
    products_.block(before, 0, after - before, before) =
        products_.block(0, before, before, after - before).transpose();
  } else {
    if (packed_.rows() != rows) packed_.resize(rows, 0);
    grow(packed_, rows, rows, after, before);
    design.pack(columns, 0, rows, packed_.col(before).data());
  }
}

void WorkingSet::activate(std::span<const Index> slots) {
  if (covariance_) return;
  const Index before = std::ssize(active_), rows = full_.rows();
  for (const Index slot : slots)
    if (place_[at(slot)] == kNone) place_[at(slot)] = std::ssize(active_), active_.push_back(slot);
  const Index after = std::ssize(active_), fresh = after - before;
  if (fresh == 0) return;
  if (active_columns_.rows() != rows) active_columns_.resize(rows, 0);
  grow(active_columns_, rows, rows, after, before);
  grow(products_, after, before, after, before);
  for (Index place = before; place < after; ++place)
    active_columns_.col(place) = packed_.col(active_[at(place)]);
  transpose_product(active_columns_.leftCols(after), active_columns_.middleCols(before, fresh), 0,
                    products_.block(0, before, after, fresh));
  for (Index place = before; place < after; ++place) products_(place, place) += ridge_;
  products_.block(before, 0, fresh, before) = products_.block(0, before, before, fresh).transpose();
}

void WorkingSet::ascent(const Vector& state, Vector& out) const {
  if (covariance_) {
    out = state;
  } else {
    transpose_product(packed_.leftCols(size()), state, out);
  }
}

void WorkingSet::move(const Vector& step, Vector& state) const {
  if (covariance_ && 2 * (step.array() != 0).count() > size())
    return add_product(-1, products_.topLeftCorner(size(), size()), step, state);
  for (Index slot = 0; slot < step.size(); ++slot) {
    if (step[slot] == 0) continue;
    const double* column = covariance_ ? products_.col(slot).data() : packed_.col(slot).data();
    kernels::axpy(-step[slot], column, state.data(), state.size());
  }
}

void WorkingSet::add_column(Index slot, double a, Vector& out) const {
  kernels::axpy(a, packed_.col(slot).data(), out.data(), out.size());
}

}  // namespace tyto
