#include "tyto/solve/working_set.h"

#include <algorithm>
#include <utility>

#include "tyto/math/kernels.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

constexpr Index kNone = -1;

template <class T>
void make_room(std::vector<T>& v, std::size_t size) {
  if (size > v.capacity()) v.reserve(std::max(size, 2 * v.capacity()));
}

// Room for so many rows and columns, with what is there kept.
void grow(Matrix& matrix, Index rows, Index used_rows, Index cols, Index used_cols) {
  if (matrix.rows() >= rows && matrix.cols() >= cols) return;
  Matrix larger(rows > matrix.rows() ? std::max(rows, 3 * used_rows / 2) : matrix.rows(),
                std::max(cols, 3 * used_cols / 2));
  larger.topLeftCorner(used_rows, used_cols) = matrix.topLeftCorner(used_rows, used_cols);
  matrix.swap(larger);
}

}  // namespace

// Where columns are long, their products, once, cost less than to read them again and again. A form is left
// only when the other one is clearly cheaper.
bool WorkingSet::better_as_covariance(Index count) const {
  const Index length = full_.stored_entries() / std::max<Index>(full_.cols(), 1);
  const Index form = covariance_ ? tuning_.gram_stays : tuning_.gram_enters;
  return length > (size() == 0 ? tuning_.gram_at_first : form) * count;
}

void WorkingSet::attach(const Design& full, double ridge, const Work& work,
                        std::shared_ptr<GramCache> gram_cache) {
  full_ = full;
  ridge_ = ridge;
  work_ = &work;
  gram_cache_ = std::move(gram_cache);
  if (full.is_sparse()) basis_squares_ = full.basis().colwise().squaredNorm();
}

Index WorkingSet::slot(Index raw) const {
  const auto found = std::ranges::lower_bound(by_raw_, raw, {}, &std::pair<Index, Index>::first);
  return found != by_raw_.end() && found->first == raw ? found->second : kNone;
}

// Lists slots from `first` on by their numbers in storage.
void WorkingSet::list_from(Index first) {
  const auto before = std::ssize(by_raw_);
  make_room(by_raw_, at(size()));
  for (Index slot = first; slot < size(); ++slot) by_raw_.emplace_back(raw_[at(slot)], slot);
  std::sort(by_raw_.begin() + before, by_raw_.end());
  std::inplace_merge(by_raw_.begin(), by_raw_.begin() + before, by_raw_.end());
}

bool WorkingSet::include(const Design& design, std::span<const Index> columns) {
  std::vector<Index> fresh;
  fresh.reserve(columns.size());
  for (const Index j : columns)
    if (slot(design.raw(j)) == kNone) fresh.push_back(j);
  const Index wanted = std::ssize(columns), total = size() + std::ssize(fresh);
  // Columns that are not wanted any more may stay while they are few, or their Gram matrix is small beside X.
  const bool many = total > tuning_.crowd_factor * wanted + tuning_.crowd_base;
  const bool crowded = many && (!covariance_ || tuning_.crowd_gram * total * total > full_.stored_entries());
  bool changed = false;
  if (size() == 0 || better_as_covariance(crowded ? wanted : total) != covariance_) {
    changed = size() > 0;
    keep({});
    covariance_ = better_as_covariance(wanted);
    fresh.assign(columns.begin(), columns.end());
  } else if (crowded) {
    std::vector<Index> stay;
    for (const Index j : columns)
      if (const Index found = slot(design.raw(j)); found != kNone) stay.push_back(found);
    std::sort(stay.begin(), stay.end());
    if (std::ssize(stay) < size()) {
      keep(stay);
      changed = true;
    }
  }
  append(fresh, design);
  locate(design);
  return changed;
}

void WorkingSet::locate(const Design& design) {
  present_.clear();
  present_.reserve(raw_.size());
  for (Index slot = 0; slot < size(); ++slot) {
    column_[at(slot)] = design.find(raw_[at(slot)]);
    if (column_[at(slot)] != kNone) present_.push_back(slot);
  }
}

bool WorkingSet::contains(const Design& design, std::span<const Index> columns) const {
  return std::ranges::all_of(columns, [&](Index j) { return slot(design.raw(j)) != kNone; });
}

void WorkingSet::keep(const std::vector<Index>& slots) {
  for (Index to = 0; to < std::ssize(slots); ++to) {
    const Index from = slots[at(to)];
    raw_[at(to)] = raw_[at(from)];
    full_column_[at(to)] = full_column_[at(from)];
    place_[at(to)] = place_[at(from)];
    if (from == to) continue;
    if (covariance_) {
      products_.col(to) = products_.col(from);
      products_.row(to) = products_.row(from);
    } else if (packs()) {
      packed_.col(to) = packed_.col(from);
    }
  }
  for (auto* by_slot : {&raw_, &full_column_, &column_, &place_}) by_slot->resize(slots.size());
  by_raw_.clear();
  list_from(0);
  if (!covariance_ && !packs()) gathered_ = slots.empty() ? Design() : gathered_.gather(slots);
  close_ranks(size());
}

// Fills the places of slots that are gone with those behind them.
void WorkingSet::close_ranks(Index slots) {
  std::vector<Index> slot_at(active_.size(), kNone);
  for (Index slot = 0; slot < slots; ++slot)
    if (place_[at(slot)] != kNone) slot_at[at(place_[at(slot)])] = slot;
  Index count = 0;
  for (Index place = 0; place < std::ssize(slot_at); ++place) {
    const Index slot = slot_at[at(place)];
    if (slot == kNone) continue;
    if (place != count && packs()) {
      active_columns_.col(count) = active_columns_.col(place);
      products_.col(count) = products_.col(place);
      products_.row(count) = products_.row(place);
    }
    active_[at(count)] = slot;
    place_[at(slot)] = count++;
  }
  active_.resize(at(count));
  by_row_.clear();
  if (!covariance_ && !packs()) index_rows(0);
}

void WorkingSet::append(std::span<const Index> columns, const Design& design) {
  if (columns.empty()) return;
  const Index before = size(), after = before + std::ssize(columns), rows = full_.rows();
  for (auto* by_slot : {&raw_, &full_column_, &column_, &place_}) make_room(*by_slot, at(after));
  for (const Index j : columns) {
    raw_.push_back(design.raw(j));
    full_column_.push_back(full_.find(design.raw(j)));
    column_.push_back(j);
    place_.push_back(kNone);
  }
  list_from(before);
  if (covariance_) {
    grow(products_, after, before, after, before);
    const auto fresh = products_.block(0, before, after, after - before);
    if (gram_cache_)
      gram_cache_->gram(full_, full_column_, fresh, *work_);
    else
      full_.gram(full_column_, fresh, *work_);
    for (Index slot = before; slot < after; ++slot) products_(slot, slot) += ridge_;
    products_.block(before, 0, after - before, before) =
        products_.block(0, before, before, after - before).transpose();
  } else if (packs()) {
    if (packed_.rows() != rows) packed_.resize(rows, 0);
    grow(packed_, rows, rows, after, before);
    design.pack(columns, 0, rows, packed_.col(before).data());
    work_->count(design.stored_entries(columns));
  } else {
    gathered_ = full_.gather(full_column_, *work_);
  }
}

void WorkingSet::activate(std::span<const Index> slots) {
  if (covariance_) return;
  const Index before = std::ssize(active_), rows = full_.rows();
  for (const Index slot : slots) {
    if (place_[at(slot)] != kNone) continue;
    place_[at(slot)] = std::ssize(active_);
    active_.push_back(slot);
  }
  const Index after = std::ssize(active_), fresh = after - before;
  if (fresh == 0) return;
  if (!packs()) return index_rows(before);
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
  } else if (!packs()) {
    gathered_.transpose_multiply(state, out, uncounted());
  } else {
    transpose_product(packed_.leftCols(size()), state, out);
  }
}

void WorkingSet::move(const Vector& step, Vector& state) const {
  if (covariance_ && 2 * (step.array() != 0).count() > size())
    return add_product(-1, products_.topLeftCorner(size(), size()), step, state);
  if (!covariance_ && !packs()) {
    std::vector<Index> slots;
    for (Index slot = 0; slot < step.size(); ++slot)
      if (step[slot] != 0) slots.push_back(slot);
    const Vector factors = step(slots);
    Vector change;
    sum(slots, {factors.data(), slots.size()}, change);
    state -= change;
    return;
  }
  for (Index slot = 0; slot < step.size(); ++slot) {
    if (step[slot] == 0) continue;
    const double* column = covariance_ ? products_.col(slot).data() : packed_.col(slot).data();
    kernels::axpy(-step[slot], column, state.data(), state.size());
  }
}

void WorkingSet::sum(std::span<const Index> slots, std::span<const double> factors, Vector& out) const {
  if (packs()) {
    out.setZero(rows());
    for (std::size_t k = 0; k < slots.size(); ++k)
      kernels::axpy(factors[k], packed_.col(slots[k]).data(), out.data(), out.size());
    return;
  }
  gathered_.multiply(slots, Vector::Map(factors.data(), std::ssize(factors)), out, uncounted());
}

void WorkingSet::products(std::span<const Index> slots, std::span<const double> factors, Vector& out) {
  if (covariance_ || packs()) {
    out.setZero(active());
    for (std::size_t k = 0; k < slots.size(); ++k)
      kernels::axpy(factors[k], products_.col(place(slots[k])).data(), out.data(), out.size());
    return;
  }
  if (gathered_.has_nearly_constant_columns())
    products_with_sum(slots, factors, out);
  else
    sparse_products(slots, factors, out);
}

// Goes over all rows of the sum: where means are taken off each entry, there are no zeros to leave out.
void WorkingSet::products_with_sum(std::span<const Index> slots, std::span<const double> factors,
                                   Vector& out) const {
  Vector total;
  sum(slots, factors, total);
  out.resize(active());
  gathered_.transpose_multiply(active_, total, out.data(), uncounted());
  for (std::size_t k = 0; k < slots.size(); ++k) out[place(slots[k])] += ridge_ * factors[k];
}

// Goes only over rows where the sum z has an entry: raw_j'D^2 z, less what was projected out of column and
// sum, which is along the same few directions.
void WorkingSet::sparse_products(std::span<const Index> slots, std::span<const double> factors, Vector& out) {
  if (sum_.size() != rows()) sum_.setZero(rows());
  std::vector<Index> touched;
  Vector shift = Vector::Zero(gathered_.offsets().rows());
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const double factor = factors[k] / gathered_.scale(slots[k]);
    gathered_.for_each_entry(slots[k], [&](Index row, double value) {
      if (sum_[row] == 0) touched.push_back(row);
      sum_[row] += factor * value;
    });
    if (shift.size() > 0) shift += factor * gathered_.offsets().col(slots[k]);
  }
  out.setZero(active());
  const Vector& roots = full_.roots();
  for (const Index row : touched) {  // one that is listed twice is 0 the second time
    double sum = std::exchange(sum_[row], 0);
    if (roots.size() > 0) sum *= roots[row] * roots[row];
    for (const Entry& entry : by_row_[at(row)]) out[entry.place] += entry.value * sum;
  }
  if (shift.size() > 0) shift.array() *= basis_squares_.array();
  for (Index place = 0; place < out.size(); ++place) {
    const Index slot = active_[at(place)];
    if (shift.size() > 0) out[place] -= gathered_.offsets().col(slot).dot(shift);
    out[place] /= gathered_.scale(slot);
  }
  for (std::size_t k = 0; k < slots.size(); ++k) out[place(slots[k])] += ridge_ * factors[k];
}

void WorkingSet::index_rows(Index from) {
  by_row_.resize(at(rows()));
  for (Index place = from; place < std::ssize(active_); ++place)
    gathered_.for_each_entry(active_[at(place)], [&](Index row, double value) {
      by_row_[at(row)].push_back({place, value});
    });
}

}  // namespace tyto
