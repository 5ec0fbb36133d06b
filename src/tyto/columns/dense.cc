#include "tyto/columns/stored_type.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

constexpr Index kRowBlock = 8192;  // 64 KiB of v stay in the cache while a group of columns goes by

// f(0) + ... + f(n - 1), in an order that the compiler may turn into vectors and that depends on n alone.
template <class F>
double sum_of(Index n, F f) {
  constexpr Index kLanes = 8;
  std::array<double, kLanes> sums{};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) sums[static_cast<std::size_t>(k)] += f(i + k);
  for (; i < n; ++i) sums[0] += f(i);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// f(values, first row) for parts of a column in double.
template <class Column, class F>
void for_each_part(Column column, Index n, F f) {
  constexpr Index kPart = 512;
  std::array<double, kPart> part;
  for (Index begin = 0; begin < n; begin += kPart) {
    const Index length = std::min(kPart, n - begin);
    kernels::copy(column + begin, {}, part.data(), length);
    f(part.data(), RowRange{begin, length});
  }
}

// Sums of weight (x - shift) and of weight (x - shift)^2.
template <class Column>
kernels::Sums sums_less(Column column, Index n, const Vector& weight, double shift) {
  if (weight.size() == 0) return kernels::sums(column, n, shift);
  kernels::Sums total{0, 0};
  for_each_part(column, n, [&](const double* values, RowRange rows) {
    const double* times = weight.data() + rows.begin;
    const auto sum = [&](auto f) {
      return sum_of(rows.length, [&](Index i) { return times[i] * f(values[i] - shift); });
    };
    total.sum += sum([](double off) { return off; });
    total.squares += sum([](double off) { return off * off; });
  });
  return total;
}

// The first row that counts, if the column is the same in all that do; else -1.
template <class Column>
Index constant_from(Column column, Index n, const Vector& weight) {
  const auto counts = [&](Index i) { return weight.size() == 0 || weight[i] > 0; };
  Index first = 0;
  while (!counts(first)) ++first;
  for (Index i = first; i < n; ++i)
    if (column[i] != column[first] && counts(i)) return -1;
  return first;
}

template <class Column>
Moments moments_of(Column column, Index n, const RowWeights& rows, bool center) {
  const kernels::Sums sums = sums_less(column, n, rows.weight, 0);
  if (!center || n == 0) return {0, sums.squares, sums.squares};
  if (const Index first = constant_from(column, n, rows.weight); first >= 0)
    return {static_cast<double>(column[first]), 0, sums.squares};
  // A sum of large numbers rounds; what it left out of the mean is in the sum of the deviations.
  const double near = sums.sum / rows.total;
  const kernels::Sums rest = sums_less(column, n, rows.weight, near);
  const double off = rest.sum / rows.total;
  return {near + off, std::max(0.0, rest.squares - off * rest.sum), sums.squares};
}

// Columns of numbers.
template <class Scalar>
struct Numbers {
  using Column = const Scalar*;

  StoredView view;

  Column column(Index j) const { return reinterpret_cast<Column>(view.data + j * view.stride); }
  double filling(Index) const { return 0; }
  static void copy_rows(Column from, std::span<const Index> rows, std::byte* to) {
    auto* out = reinterpret_cast<Scalar*>(to);
    for (const Index i : rows) *out++ = from[i];
  }
};

struct GenotypeColumns {
  using Column = kernels::Genotypes;

  StoredView view;

  Column column(Index j) const {
    return {reinterpret_cast<const std::uint8_t*>(view.data + j * view.stride), filling(j)};
  }
  double filling(Index j) const { return view.filling[static_cast<std::size_t>(j)]; }
  static void copy_rows(Column from, std::span<const Index> rows, std::byte* to) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (k % 4 == 0) to[k / 4] = std::byte{0};
      to[k / 4] |= static_cast<std::byte>(from.bits(rows[k]) << (2 * (k % 4)));
    }
  }
};

// Source: where columns are, and what.
template <class Source>
class Dense final : public Columns {
 public:
  Dense(const StoredView& view, std::shared_ptr<const void> owner)
      : Columns(view.rows, view.cols, false), source_{view}, owner_(std::move(owner)) {}

  std::string storage() const override { return std::string(storage_in_words(source_.view.type)); }
  Index entries() const override { return rows() * cols(); }
  Index entries(std::span<const Index> columns) const override { return rows() * std::ssize(columns); }

  // Four columns at a time and in blocks of rows.
  void correlate(std::span<const Index> columns, const double* v, double* out) const override {
    std::fill_n(out, columns.size(), 0.0);
    const Index count = std::ssize(columns);
    for (Index begin = 0; begin < rows(); begin += kRowBlock) {
      const Index length = std::min(kRowBlock, rows() - begin);
      const auto at = [&](Index k) { return column(columns[static_cast<std::size_t>(k)]) + begin; };
      Index k = 0;
      for (; k + 4 <= count; k += 4) {
        const std::array<Column, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
        kernels::dot4(four.data(), v + begin, length, out + k);
      }
      for (; k < count; ++k) out[k] += kernels::dot(at(k), v + begin, length);
    }
  }

  // Two vectors at a time, in blocks of rows that stay in the cache.
  void correlate_all(std::span<const Index> columns, const Eigen::MatrixXd& v,
                     Eigen::MatrixXd& out) const override {
    out.setZero();
    const Index block = std::max<Index>(1024, 16384 / std::max<Index>(v.cols(), 1));
    for (Index begin = 0; begin < rows(); begin += block) {
      const RowRange rows_of_block{begin, std::min(block, rows() - begin)};
      for (Index k = 0; k < std::ssize(columns); k += 4) correlate_four(columns, k, rows_of_block, v, out);
    }
  }

  void combine(std::span<const Index> columns, const double* factors, RowRange rows,
               double* eta) const override {
    for (const Index j : columns)
      kernels::axpy(*factors++, column(j) + rows.begin, eta + rows.begin, rows.length);
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
      const double* own_roots = roots == nullptr ? nullptr : roots + rows.begin;
      kernels::copy(column(j) + rows.begin, {shift, factor, own_roots}, out, rows.length);
      out += rows.length;
    }
  }

  std::shared_ptr<const Columns> copy_columns(std::span<const Index> columns) const override {
    const auto bytes = static_cast<std::size_t>(column_bytes(source_.view.type, rows()));
    return copy(columns, rows(), [&](Index j, std::byte* to) {
      std::copy_n(source_.view.data + j * source_.view.stride, bytes, to);
    });
  }

  std::shared_ptr<const Columns> copy_rows(std::span<const Index> columns,
                                           std::span<const Index> rows) const override {
    return copy(columns, std::ssize(rows),
                [&](Index j, std::byte* to) { Source::copy_rows(column(j), rows, to); });
  }

  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Index count = std::min(EntryChunk::kSize, rows() - first);
    std::iota(chunk.row.begin(), chunk.row.begin() + count, first);
    kernels::copy(this->column(column) + first, {}, chunk.value.data(), count);
    return count;
  }

 private:
  using Column = typename Source::Column;
  Column column(Index j) const { return source_.column(j); }

  // Adds the rows of a block to the products of four columns, or of those that are left.
  void correlate_four(std::span<const Index> columns, Index k, RowRange rows, const Eigen::MatrixXd& v,
                      Eigen::MatrixXd& out) const {
    const Index count = std::ssize(columns), real = std::min<Index>(4, count - k);
    const auto at = [&](Index i) {  // the last column fills up its group of four
      return column(columns[static_cast<std::size_t>(std::min(i, count - 1))]) + rows.begin;
    };
    const std::array<Column, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
    for (Index c = 0; c < v.cols(); c += 2) {
      const bool two = c + 1 < v.cols();
      std::array<double, 8> sums{};
      const double* first = v.col(c).data() + rows.begin;
      if (two)
        kernels::dot4x2(four.data(), first, first + v.rows(), rows.length, sums.data());
      else
        kernels::dot4(four.data(), first, rows.length, sums.data());
      for (Index i = 0; i < real; ++i) {
        out(k + i, c) += sums[static_cast<std::size_t>(i)];
        if (two) out(k + i, c + 1) += sums[static_cast<std::size_t>(4 + i)];
      }
    }
  }

  // fill(column, to) copies what is wanted of a column.
  template <class Fill>
  std::shared_ptr<const Columns> copy(std::span<const Index> columns, Index rows, Fill fill) const {
    struct Owner {
      std::unique_ptr<std::byte[]> data;
      std::vector<double> filling;
    };
    const StoredType type = source_.view.type;
    const Index stride = column_bytes(type, rows);
    const auto owner = std::make_shared<Owner>();
    owner->data.reset(new std::byte[columns.size() * static_cast<std::size_t>(stride)]);
    std::byte* to = owner->data.get();
    for (const Index j : columns) {
      fill(j, to);
      to += stride;
      if (type == StoredType::kGenotype) owner->filling.push_back(source_.filling(j));
    }
    const StoredView view{type, owner->data.get(), rows, std::ssize(columns), stride, owner->filling};
    return std::make_shared<const Dense>(view, owner);
  }

  Source source_;
  std::shared_ptr<const void> owner_;
};

template <class Source>
std::shared_ptr<const Columns> make(const StoredView& view, std::shared_ptr<const void> owner) {
  return std::make_shared<const Dense<Source>>(view, std::move(owner));
}

}  // namespace

std::shared_ptr<const Columns> stored_columns(const StoredView& view, std::shared_ptr<const void> owner) {
  switch (view.type) {
    case StoredType::kDouble:
      return make<Numbers<double>>(view, std::move(owner));
    case StoredType::kFloat:
      return make<Numbers<float>>(view, std::move(owner));
    case StoredType::kInt8:
      return make<Numbers<std::int8_t>>(view, std::move(owner));
    case StoredType::kUint8:
      return make<Numbers<std::uint8_t>>(view, std::move(owner));
    case StoredType::kInt16:
      return make<Numbers<std::int16_t>>(view, std::move(owner));
    case StoredType::kGenotype:
      return make<GenotypeColumns>(view, std::move(owner));
  }
  throw InvalidArgument("stored type: want one of the table");
}

}  // namespace tyto
