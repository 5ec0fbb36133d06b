// What is computed from the columns of a design, a group of columns or a block of rows at a time.
#include <cmath>

#include "tyto/base/huge_pages.h"
#include "tyto/base/parallel.h"
#include "tyto/design/design.h"
#include "tyto/math/kernels.h"

namespace tyto {

template <class F>
void Design::for_each_block(Index column, RowRange rows, F f) const {
  constexpr Index kBlock = 1024;
  std::array<double, kBlock> block;
  const Index number = raw(column);
  const EntryMap less_mean{offsets()(0, column), 1};
  const Index end = rows.begin + rows.length;
  for (Index begin = rows.begin; begin < end; begin += kBlock) {
    const Index length = std::min(kBlock, end - begin);
    columns_->copy_block({&number, 1}, {begin, length}, {&less_mean, 1}, nullptr, block.data());
    f(begin, std::span<const double>(block.data(), static_cast<std::size_t>(length)));
  }
}

void Design::dots_less_mean(Index column, const double* v, Index count, double* out) const {
  std::fill_n(out, count, 0.0);
  for_each_block(column, {0, rows()}, [&](Index begin, std::span<const double> block) {
    for (Index k = 0; k < count; ++k)
      out[k] += kernels::dot(block.data(), v + k * rows() + begin, std::ssize(block));
  });
}

void Design::add_less_mean(Index column, double a, RowRange rows, Vector& eta) const {
  for_each_block(column, rows, [&](Index begin, std::span<const double> block) {
    kernels::axpy(a, block.data(), eta.data() + begin, std::ssize(block));
  });
}

Index Design::count_read(std::span<const Index> columns, const Work& work) const {
  const Index entries = stored_entries(columns);
  work.count(entries);
  return entries;
}

// raw_j'v, or without the mean for columns that are nearly constant.
void Design::correlate_group(std::span<const Index> columns, const Vector& v, double* out) const {
  std::array<Index, kGroup> group;
  std::array<double, kGroup> sums;
  std::size_t count = 0;
  for (const Index j : columns)
    if (!adjustment_->is_nearly_constant(j)) group[count++] = raw(j);
  columns_->correlate({group.data(), count}, v.data(), sums.data());
  const double* next = sums.data();
  for (const Index j : columns) {
    if (adjustment_->is_nearly_constant(j))
      dots_less_mean(j, v.data(), 1, out);
    else
      *out = *next++;
    ++out;
  }
}

void Design::transpose_multiply(std::span<const Index> columns, const Vector& v, double* out,
                                const Work& work) const {
  const Index entries = count_read(columns, work);
  Vector room;
  const Vector& factors = adjustment_->weighted(v, room);
  const Vector along = adjustment_->along_basis(v);
  const Index tasks = (std::ssize(columns) + kGroup - 1) / kGroup;
  const auto expected = expect(columns);
  parallel_for(tasks, useful_threads(work.threads(), entries), [&](Index task) {
    const Index begin = task * kGroup;
    const Index count = std::min(kGroup, std::ssize(columns) - begin);
    const auto own = columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    correlate_group(own, factors, out + begin);
    for (Index k = 0; k < count; ++k)
      out[begin + k] = corrected(out[begin + k], own[static_cast<std::size_t>(k)], along);
  });
}

void Design::transpose_multiply(const Vector& v, Vector& out, const Work& work) const {
  resize_to_write(out, cols());
  if (has_nearly_constant_columns()) return transpose_multiply(all_but({}, cols()), v, out.data(), work);
  Vector room;
  const Vector& factors = adjustment_->weighted(v, room);
  const Vector along = adjustment_->along_basis(v);
  const Vector& scale = adjustment_->scale;
  const Index entries = stored_entries();
  work.count(entries);
  const auto expected = expect();
  parallel_for((cols() + kGroup - 1) / kGroup, useful_threads(work.threads(), entries), [&](Index task) {
    const Index begin = task * kGroup;
    const Index count = std::min(kGroup, cols() - begin);
    std::array<Index, kGroup> numbers;
    columns_->correlate(selection_->part(begin, count, numbers), factors.data(), out.data() + begin);
    if (classes() > 1) {
      for (Index j = begin; j < begin + count; ++j) out[j] = corrected(out[j], j, along);
      return;
    }
    auto part = out.segment(begin, count).array();
    for (Index d = 0; d < along.size(); ++d)
      if (along[d] != 0) part -= offsets().row(d).segment(begin, count).transpose().array() * along[d];
    if (scale.size() > 0) part /= scale.segment(begin, count).array();
  });
}

void Design::multiply(const Vector& beta, Vector& eta, const Work& work) const {
  IndexSet support;
  for (Index begin = 0; begin < cols(); begin += kGroup) {
    const Index count = std::min(kGroup, cols() - begin);
    if (beta.segment(begin, count).lpNorm<1>() == 0) continue;  // mostly; what is not a number counts
    for (Index j = begin; j < begin + count; ++j)
      if (beta[j] != 0) support.push_back(j);
  }
  multiply(support, beta(support), eta, work);
}

// In the order of the list, as sums round: runs of columns that are not nearly constant go together.
void Design::add_columns(std::span<const Index> columns, const Vector& factors, RowRange rows,
                         Vector& eta) const {
  std::array<Index, kGroup> run;
  std::size_t length = 0;
  Index next = 0;  // place of the column after the run
  const auto add_run = [&] {
    const double* first = factors.data() + next - static_cast<Index>(length);
    columns_->combine({run.data(), length}, first, rows, eta.data());
    length = 0;
  };
  for (const Index j : columns) {
    const bool less_mean = adjustment_->is_nearly_constant(j);
    if (length == run.size() || (less_mean && length > 0)) add_run();
    if (less_mean)
      add_less_mean(j, factors[next], rows, eta);
    else
      run[length++] = raw(j);
    ++next;
  }
  if (length > 0) add_run();
}

// Sparse columns in one task, since they are added entry by entry all over the rows. What is read from a file
// is read once for all blocks of rows, and a few columns at a time are in memory.
void Design::add_in_blocks(std::span<const Index> columns, const Vector& factors, int threads,
                           Vector& eta) const {
  if (is_sparse()) return add_columns(columns, factors, {0, rows()}, eta);
  constexpr Index kRowBlock = 8192, kEntries = Index{1} << 23;
  if (is_slow() && rows() > kRowBlock && classes() == 1) {
    const Index most = std::max(kGroup, kEntries / rows());
    for (Index begin = 0; begin < std::ssize(columns); begin += most) {
      const Index count = std::min(most, std::ssize(columns) - begin);
      const Design part =
          copied(columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
      part.add_in_blocks(all_but({}, count), factors.segment(begin, count), threads, eta);
    }
    return;
  }
  const auto expected = expect(columns);
  parallel_for((rows() + kRowBlock - 1) / kRowBlock, threads, [&](Index block) {
    const Index begin = block * kRowBlock;
    add_columns(columns, factors, {begin, std::min(kRowBlock, rows() - begin)}, eta);
  });
}

void Design::multiply(std::span<const Index> columns, const Vector& factors, Vector& eta,
                      const Work& work) const {
  eta.setZero(rows());
  const Index directions = offsets().rows();
  Vector shift = Vector::Zero(directions * classes());
  Vector scaled = factors;
  for (Index k = 0; k < scaled.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    scaled[k] /= scale(j);
    const Index centred = adjustment_->is_nearly_constant(j) ? 1 : 0;
    if (directions > centred)
      shift.segment(class_of(j) * directions + centred, directions - centred) +=
          scaled[k] * offsets().col(j).tail(directions - centred);
  }
  const Index entries = count_read(columns, work);
  add_in_blocks(columns, scaled, useful_threads(work.threads(), entries), eta);
  adjustment_->take_out(shift, eta);
}

void Design::axpy(Index column, double a, Vector& eta) const {
  if (!adjustment_->rows->plain || classes() > 1) {
    Vector packed(rows());
    pack({&column, 1}, 0, rows(), packed.data());
    eta += a * packed;
    return;
  }
  const double factor = a / scale(column);
  if (adjustment_->is_nearly_constant(column)) return add_less_mean(column, factor, {0, rows()}, eta);
  const Index number = raw(column);
  columns_->combine({&number, 1}, &factor, {0, rows()}, eta.data());
  if (basis().cols() > 0) eta.array() -= factor * offsets()(0, column);
}

void Design::pack(std::span<const Index> columns, Index begin, Index length, double* out) const {
  const Index first = adjustment_->rows->centred ? 1 : 0;  // direction that entries do not take care of
  const auto expected = std::ssize(columns) > kGroup ? expect(columns) : nullptr;
  std::array<EntryMap, kGroup> maps;
  for_each_group(columns, [&](std::span<const Index> group) {
    const std::span<const Index> own = columns.first(group.size());
    columns = columns.subspan(group.size());
    for (std::size_t k = 0; k < own.size(); ++k) maps[k] = adjustment_->entry_map(own[k]);
    columns_->copy_block(group, {begin, length}, {maps.data(), own.size()}, adjustment_->roots(), out);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Index row = class_of(own[k]) * basis().rows();  // the first one of the column's class
      const Index from = std::max(begin, row);
      const Index count = std::min(begin + length, row + basis().rows()) - from;
      for (Index d = first; d < basis().cols() && count > 0; ++d)
        Eigen::Map<Vector>(out + (from - begin), count) -=
            offsets()(d, own[k]) * maps[k].factor * basis().col(d).segment(from - row, count);
      out += length;
    }
  });
}

}  // namespace tyto
