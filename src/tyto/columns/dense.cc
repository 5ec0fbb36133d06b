#include "tyto/columns/dense.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

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

// Sums of weight (x - shift) and of weight (x - shift)^2.
template <class Scalar>
kernels::Sums sums_less(const Scalar* column, Index n, const Vector& weight, double shift) {
  if (weight.size() == 0) return kernels::sums(column, n, shift);
  const double* times = weight.data();
  const auto sum = [&](auto f) {
    return sum_of(n, [&](Index i) { return times[i] * f(static_cast<double>(column[i])); });
  };
  const double first = sum([&](double v) { return v - shift; });
  const double second = sum([&](double v) { return (v - shift) * (v - shift); });
  return {first, second};
}

// The first row that counts, if the column is the same in all that do; else -1.
template <class Scalar>
Index constant_from(const Scalar* column, Index n, const Vector& weight) {
  const auto counts = [&](Index i) { return weight.size() == 0 || weight[i] > 0; };
  Index first = 0;
  while (!counts(first)) ++first;
  for (Index i = first; i < n; ++i)
    if (column[i] != column[first] && counts(i)) return -1;
  return first;
}

template <class Scalar>
Moments moments_of(const Scalar* column, Index n, const RowWeights& rows, bool center) {
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

template <class Scalar>
class Dense final : public Columns {
 public:
  Dense(const DenseView<Scalar>& view, std::shared_ptr<const void> owner)
      : Columns(view.rows, view.cols, false), data_(view.data), owner_(std::move(owner)) {}

  std::string storage() const override {
    return std::is_same_v<Scalar, float> ? "dense float32" : "dense float64";
  }
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
        const std::array<const Scalar*, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
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
      const Scalar* from = column(j) + rows.begin;
      const auto [shift, factor] = *map++;
      if (roots == nullptr)
        for (Index i = 0; i < rows.length; ++i) out[i] = (static_cast<double>(from[i]) - shift) * factor;
      else
        for (Index i = 0; i < rows.length; ++i)
          out[i] = (static_cast<double>(from[i]) - shift) * factor * roots[rows.begin + i];
      out += rows.length;
    }
  }

  std::shared_ptr<const Columns> copy_columns(std::span<const Index> columns) const override {
    return copy(columns, rows(), [&](const Scalar* from, Scalar* to) { std::copy_n(from, rows(), to); });
  }

  std::shared_ptr<const Columns> copy_rows(std::span<const Index> columns,
                                           std::span<const Index> rows) const override {
    return copy(columns, std::ssize(rows), [&](const Scalar* from, Scalar* to) {
      for (const Index i : rows) *to++ = from[i];
    });
  }

  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Index count = std::min(EntryChunk::kSize, rows() - first);
    const Scalar* from = this->column(column) + first;
    for (Index k = 0; k < count; ++k) {
      chunk.row[static_cast<std::size_t>(k)] = first + k;
      chunk.value[static_cast<std::size_t>(k)] = static_cast<double>(from[k]);
    }
    return count;
  }

 private:
  const Scalar* column(Index j) const { return data_ + j * rows(); }

  // Adds the rows of a block to the products of four columns, or of those that are left.
  void correlate_four(std::span<const Index> columns, Index k, RowRange rows, const Eigen::MatrixXd& v,
                      Eigen::MatrixXd& out) const {
    const Index count = std::ssize(columns), real = std::min<Index>(4, count - k);
    const auto at = [&](Index i) {  // the last column fills up its group of four
      return column(columns[static_cast<std::size_t>(std::min(i, count - 1))]) + rows.begin;
    };
    const std::array<const Scalar*, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
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

  // fill(from, to) copies what is wanted of a column.
  template <class Fill>
  std::shared_ptr<const Columns> copy(std::span<const Index> columns, Index rows, Fill fill) const {
    const std::shared_ptr<Scalar[]> owner(new Scalar[columns.size() * static_cast<std::size_t>(rows)]);
    Scalar* to = owner.get();
    for (const Index j : columns) {
      fill(column(j), to);
      to += rows;
    }
    return std::make_shared<const Dense>(DenseView<Scalar>{owner.get(), rows, std::ssize(columns)}, owner);
  }

  const Scalar* data_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

template <class Scalar>
std::shared_ptr<const Columns> dense_columns(const DenseView<Scalar>& view,
                                             std::shared_ptr<const void> owner) {
  return std::make_shared<const Dense<Scalar>>(view, std::move(owner));
}

template std::shared_ptr<const Columns> dense_columns(const DenseView<double>&, std::shared_ptr<const void>);
template std::shared_ptr<const Columns> dense_columns(const DenseView<float>&, std::shared_ptr<const void>);

}  // namespace tyto
