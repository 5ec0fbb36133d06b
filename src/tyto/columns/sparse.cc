#include "tyto/columns/sparse.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tyto {
namespace {

// Entries of compressed columns that are made one after the other.
template <class Scalar, class StorageIndex>
struct OwnEntries {
  std::vector<Scalar> value;
  std::vector<StorageIndex> row, start{0};

  SparseView<Scalar, StorageIndex> view(Index rows) const {
    return {value.data(), row.data(), start.data(), rows, std::ssize(start) - 1};
  }
};

// The entries of one column.
template <class Scalar, class StorageIndex>
struct SparseColumn {
  const Scalar* value;
  const StorageIndex* row;
  StorageIndex count;

  // The first four entries without a branch: where columns have only a few, one more or less, it would
  // mostly be guessed wrong.
  double dot(const double* v) const {
    if (count == 0) return 0;
    const auto term = [&](StorageIndex k) { return static_cast<double>(value[k]) * v[row[k]]; };
    const auto term_or_zero = [&](StorageIndex k) {  // a compiler would make a branch of ?:
      const auto bits = std::bit_cast<std::uint64_t>(term(std::min<StorageIndex>(k, count - 1)));
      return std::bit_cast<double>(bits & -static_cast<std::uint64_t>(k < count));
    };
    double even = term(0) + term_or_zero(2);
    double odd = term_or_zero(1) + term_or_zero(3);
    StorageIndex k = 4;
    for (; k + 1 < count; k += 2) {
      even += term(k);
      odd += term(k + 1);
    }
    if (k < count) even += term(k);
    return even + odd;
  }

  // The part of it in some rows.
  SparseColumn in(RowRange rows) const {
    const StorageIndex* first = std::lower_bound(row, row + count, rows.begin);
    const StorageIndex* last = std::lower_bound(first, row + count, rows.begin + rows.length);
    return {value + (first - row), first, static_cast<StorageIndex>(last - first)};
  }
};

// Sums over the entries of a column that are stored, and their range where they count.
struct StoredSums {
  double sum = 0, squares = 0, weight = 0;
  Index counted = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;

  void add(double value, double times) {
    sum += times * value;
    squares += times * value * value;
    weight += times;
    if (times > 0) {
      ++counted;
      include(value);
    }
  }
  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// The weight of the rows in which a column has no entry. All weight less that of the entries would be lost in
// rounding where the entries have nearly all of it: then these rows are added up themselves.
template <class Column>
double weight_of_zeros(const Column& x, Index n, const RowWeights& rows, double stored) {
  if (rows.weight.size() == 0) return static_cast<double>(n - x.count);
  if (stored <= rows.total / 2) return rows.total - stored;
  double sum = 0;
  Index next = 0;
  const auto add_until = [&](Index end) {
    while (next < end) sum += rows.weight[next++];
  };
  for (Index k = 0; k < x.count; ++k) {
    add_until(x.row[k]);
    ++next;
  }
  add_until(n);
  return sum;
}

// Entries that are not stored are zeros. Whether any of them counts is asked of numbers of rows, as sums of
// weights round.
template <class Column>
Moments moments_of(const Column& x, Index n, const RowWeights& rows, bool center) {
  const bool weighted = rows.weight.size() > 0;
  const auto each = [&](auto&& f) {
    for (Index k = 0; k < x.count; ++k)
      f(static_cast<double>(x.value[k]), weighted ? rows.weight[x.row[k]] : 1);
  };
  StoredSums stored;
  each([&](double value, double times) { stored.add(value, times); });
  if (!center) return {0, stored.squares, stored.squares};
  const bool zeros = stored.counted < rows.counted;
  if (zeros) stored.include(0);
  if (!(stored.least < stored.most))
    return {stored.least == stored.most ? stored.least : 0, 0, stored.squares};
  // As for dense columns: what rounding left out of the mean is in the sum of the deviations.
  const double near = stored.sum / rows.total;
  const double at_zero = zeros ? weight_of_zeros(x, n, rows, stored.weight) : 0;
  double rest = -at_zero * near;
  double deviation = at_zero * near * near;
  each([&](double value, double times) {
    rest += times * (value - near);
    deviation += times * (value - near) * (value - near);
  });
  const double off = rest / rows.total;
  return {near + off, std::max(0.0, deviation - off * rest), stored.squares};
}

template <class Scalar, class StorageIndex>
class Sparse final : public Columns {
 public:
  Sparse(const SparseView<Scalar, StorageIndex>& view, std::shared_ptr<const void> owner)
      : Columns(view.rows, view.cols, true), x_(view), owner_(std::move(owner)) {}

  std::string storage() const override {
    return std::is_same_v<Scalar, float> ? "sparse float32" : "sparse float64";
  }
  Index entries() const override {
    return cols() > 0 ? static_cast<Index>(x_.start[cols()] - x_.start[0]) : 0;
  }
  Index entries(std::span<const Index> columns) const override {
    Index sum = 0;
    for (const Index j : columns) sum += static_cast<Index>(x_.start[j + 1] - x_.start[j]);
    return sum;
  }

  void correlate(std::span<const Index> columns, const double* v, double* out) const override {
    for (const Index j : columns) *out++ = column(j).dot(v);
  }

  void combine(std::span<const Index> columns, const double* factors, RowRange rows,
               double* eta) const override {
    const bool whole = rows.length == this->rows();
    for (const Index j : columns) {
      const Column x = whole ? column(j) : column(j).in(rows);
      const double a = *factors++;
      for (StorageIndex k = 0; k < x.count; ++k) eta[x.row[k]] += a * static_cast<double>(x.value[k]);
    }
  }

  void moments(std::span<const Index> columns, const RowWeights& rows, bool center,
               Moments* out) const override {
    for (const Index j : columns) *out++ = moments_of(column(j), this->rows(), rows, center);
  }

  void copy_block(std::span<const Index> columns, RowRange rows, std::span<const EntryMap> maps,
                  const double* roots, double* out) const override {
    auto map = maps.begin();
    for (const Index j : columns) {
      const auto [shift, factor] = *map++;
      std::fill_n(out, rows.length, -shift * factor);
      const Column x = column(j).in(rows);
      for (StorageIndex k = 0; k < x.count; ++k)
        out[x.row[k] - rows.begin] = (static_cast<double>(x.value[k]) - shift) * factor;
      for (Index i = 0; roots != nullptr && i < rows.length; ++i) out[i] *= roots[rows.begin + i];
      out += rows.length;
    }
  }

  std::shared_ptr<const Columns> copy_columns(std::span<const Index> columns) const override {
    const auto to = std::make_shared<OwnEntries<Scalar, StorageIndex>>();
    to->start.reserve(columns.size() + 1);
    for (const Index j : columns) to->start.push_back(to->start.back() + column(j).count);
    to->value.resize(static_cast<std::size_t>(to->start.back()));
    to->row.resize(to->value.size());
    std::size_t next = 0;
    for (const Index j : columns) {
      const Column x = column(j);
      std::copy_n(x.value, x.count, to->value.data() + next);
      std::copy_n(x.row, x.count, to->row.data() + next);
      next += static_cast<std::size_t>(x.count);
    }
    return std::make_shared<const Sparse>(to->view(rows()), to);
  }

  std::shared_ptr<const Columns> copy_rows(std::span<const Index> columns,
                                           std::span<const Index> rows) const override {
    constexpr Index kLeftOut = -1;
    std::vector<Index> place(static_cast<std::size_t>(this->rows()), kLeftOut);  // of old rows among the new
    for (std::size_t k = 0; k < rows.size(); ++k)
      place[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
    const auto to = std::make_shared<OwnEntries<Scalar, StorageIndex>>();
    for (const Index j : columns) {
      const Column x = column(j);
      for (StorageIndex k = 0; k < x.count; ++k) {
        const Index row = place[static_cast<std::size_t>(x.row[k])];
        if (row == kLeftOut) continue;
        to->row.push_back(static_cast<StorageIndex>(row));
        to->value.push_back(x.value[k]);
      }
      to->start.push_back(static_cast<StorageIndex>(to->row.size()));
    }
    return std::make_shared<const Sparse>(to->view(std::ssize(rows)), to);
  }

  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Column x = this->column(column);
    const Index count = std::min<Index>(EntryChunk::kSize, x.count - first);
    for (Index k = 0; k < count; ++k) {
      chunk.row[static_cast<std::size_t>(k)] = static_cast<Index>(x.row[first + k]);
      chunk.value[static_cast<std::size_t>(k)] = static_cast<double>(x.value[first + k]);
    }
    return count;
  }

 private:
  using Column = SparseColumn<Scalar, StorageIndex>;
  Column column(Index j) const {
    const StorageIndex begin = x_.start[j];
    return {x_.value + begin, x_.row + begin, static_cast<StorageIndex>(x_.start[j + 1] - begin)};
  }

  SparseView<Scalar, StorageIndex> x_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

template <class Scalar, class StorageIndex>
std::shared_ptr<const Columns> sparse_columns(const SparseView<Scalar, StorageIndex>& view,
                                              std::shared_ptr<const void> owner) {
  return std::make_shared<const Sparse<Scalar, StorageIndex>>(view, std::move(owner));
}

template std::shared_ptr<const Columns> sparse_columns(const SparseView<double, std::int32_t>&,
                                                       std::shared_ptr<const void>);
template std::shared_ptr<const Columns> sparse_columns(const SparseView<double, std::int64_t>&,
                                                       std::shared_ptr<const void>);
template std::shared_ptr<const Columns> sparse_columns(const SparseView<float, std::int32_t>&,
                                                       std::shared_ptr<const void>);
template std::shared_ptr<const Columns> sparse_columns(const SparseView<float, std::int64_t>&,
                                                       std::shared_ptr<const void>);

}  // namespace tyto
