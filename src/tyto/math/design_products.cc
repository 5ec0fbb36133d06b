// What is computed from the columns of a design, a column or a block of rows at a time.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tyto/base/huge_pages.h"
#include "tyto/base/parallel.h"
#include "tyto/math/design.h"
#include "tyto/math/kernels.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

constexpr Index kRowBlock = 8192;  // 64 KiB of v stay in the cache while a group of columns goes by

// raw_j'v for the columns of a group; dense columns four at a time and in blocks of rows.
template <class Scalar>
void dots(const DenseColumns<Scalar>& x, std::span<const Index> columns, const double* v, double* out) {
  std::fill_n(out, columns.size(), 0.0);
  const auto count = static_cast<Index>(columns.size());
  for (Index begin = 0; begin < x.rows; begin += kRowBlock) {
    const Index length = std::min(kRowBlock, x.rows - begin);
    const auto at = [&](Index k) { return x.data + columns[static_cast<std::size_t>(k)] * x.rows + begin; };
    Index k = 0;
    for (; k + 4 <= count; k += 4) {
      const std::array<const Scalar*, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
      kernels::dot4(four.data(), v + begin, length, out + k);
    }
    for (; k < count; ++k) out[k] += kernels::dot(at(k), v + begin, length);
  }
}

// The first four entries without a branch: where columns have only a few, one more or less, it would mostly
// be guessed wrong.
template <class Scalar, class StorageIndex>
void dots(const SparseColumns<Scalar, StorageIndex>& x, std::span<const Index> columns, const double* v,
          double* out) {
  for (const Index j : columns) {
    const StorageIndex begin = x.start[j], count = x.start[j + 1] - begin;
    if (count == 0) {
      *out++ = 0;
      continue;
    }
    const auto term = [&](StorageIndex k) {
      return static_cast<double>(x.value[begin + k]) * v[x.row[begin + k]];
    };
    const auto term_or_zero = [&](StorageIndex k) {  // a compiler would make a branch of ?:
      const auto bits = std::bit_cast<std::uint64_t>(term(std::min<StorageIndex>(k, count - 1)));
      return std::bit_cast<double>(bits & -static_cast<std::uint64_t>(k < count));
    };
    double even = term(0) + term_or_zero(2), odd = term_or_zero(1) + term_or_zero(3);
    StorageIndex k = 4;
    for (; k + 1 < count; k += 2) even += term(k), odd += term(k + 1);
    if (k < count) even += term(k);
    *out++ = even + odd;
  }
}

template <class Scalar>
void add_column(const DenseColumns<Scalar>& x, Index j, double a, double* eta, Index begin, Index length) {
  kernels::axpy(a, x.data + j * x.rows + begin, eta + begin, length);
}

template <class Scalar, class StorageIndex>
void add_column(const SparseColumns<Scalar, StorageIndex>& x, Index j, double a, double* eta) {
  for (StorageIndex k = x.start[j]; k < x.start[j + 1]; ++k)
    eta[x.row[k]] += a * static_cast<double>(x.value[k]);
}

// out <- the entries of the rows from `begin` on, less a shift.
template <class Scalar>
void entries_less(const DenseColumns<Scalar>& x, Index j, double shift, Index begin, std::span<double> out) {
  const Scalar* from = x.data + j * x.rows + begin;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(from[i]) - shift;
}

template <class Scalar, class StorageIndex>
void entries_less(const SparseColumns<Scalar, StorageIndex>& x, Index j, double shift, Index begin,
                  std::span<double> out) {
  std::ranges::fill(out, -shift);
  const StorageIndex* last = x.row + x.start[j + 1];
  const StorageIndex* row = std::lower_bound(x.row + x.start[j], last, begin);
  for (; row != last && *row < begin + std::ssize(out); ++row)
    out[static_cast<std::size_t>(*row - begin)] = static_cast<double>(x.value[row - x.row]) - shift;
}

}  // namespace

template <class F>
void Design::for_each_block(Index column, Index begin, Index end, F f) const {
  constexpr Index kBlock = 1024;
  std::array<double, kBlock> block;
  const double mean = offsets()(0, column);
  std::visit(
      [&](const auto& x) {
        for (; begin < end; begin += kBlock) {
          const Index length = std::min(kBlock, end - begin);
          entries_less(x, raw(column), mean, begin, {block.data(), static_cast<std::size_t>(length)});
          f(begin, std::span<const double>(block.data(), static_cast<std::size_t>(length)));
        }
      },
      storage_);
}

void Design::far_dots(Index column, const double* v, Index count, double* out) const {
  std::fill_n(out, count, 0.0);
  for_each_block(column, 0, rows_, [&](Index begin, std::span<const double> block) {
    for (Index k = 0; k < count; ++k)
      out[k] += kernels::dot(block.data(), v + k * rows_ + begin, std::ssize(block));
  });
}

void Design::add_far(Index column, double a, Index begin, Index length, Vector& eta) const {
  for_each_block(column, begin, begin + length, [&](Index at, std::span<const double> block) {
    kernels::axpy(a, block.data(), eta.data() + at, std::ssize(block));
  });
}

Index Design::count_read(std::span<const Index> columns) const {
  Index entries = 0;
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; }) {
          for (const Index j : columns) entries += static_cast<Index>(x.start[raw(j) + 1] - x.start[raw(j)]);
        } else {
          entries = x.rows * std::ssize(columns);
        }
      },
      storage_);
  count(entries);
  return entries;
}

void Design::transpose_multiply(std::span<const Index> columns, const Vector& v, double* out) const {
  const Index entries = count_read(columns);
  Vector room;
  const Vector &factors = with_roots(v, room), along = along_basis(v);
  const Index tasks = (std::ssize(columns) + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, entries), [&](Index task) {
    const Index begin = task * kColumnGroup, count = std::min(kColumnGroup, std::ssize(columns) - begin);
    std::array<Index, kColumnGroup> group;
    std::array<double, kColumnGroup> sums;
    std::size_t near = 0;
    const auto own = columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    for (const Index j : own)
      if (!far(j)) group[near++] = raw(j);
    std::visit([&](const auto& x) { dots(x, {group.data(), near}, factors.data(), sums.data()); }, storage_);
    const double* next = sums.data();
    for (Index k = 0; k < count; ++k) {
      const Index j = own[static_cast<std::size_t>(k)];
      if (far(j))
        far_dots(j, factors.data(), 1, out + begin + k);
      else
        out[begin + k] = *next++;
      out[begin + k] = corrected(out[begin + k], j, along);
    }
  });
}

void Design::pack(std::span<const Index> columns, Index begin, Index length, double* out) const {
  const double* root = roots().size() > 0 ? roots().data() + begin : nullptr;
  for (const Index j : columns) {
    const double center = frame_->centred ? offsets()(0, j) : 0, factor = 1 / scale(j);
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.start; }) {
            std::fill_n(out, length, -center * factor);
            for (auto k = x.start[raw(j)]; k < x.start[raw(j) + 1]; ++k)
              if (x.row[k] >= begin && x.row[k] < begin + length)
                out[x.row[k] - begin] = (static_cast<double>(x.value[k]) - center) * factor;
            for (Index i = 0; root != nullptr && i < length; ++i) out[i] *= root[i];
          } else {
            const auto* from = x.data + raw(j) * x.rows + begin;
            if (root == nullptr)
              for (Index i = 0; i < length; ++i) out[i] = (static_cast<double>(from[i]) - center) * factor;
            else
              for (Index i = 0; i < length; ++i)
                out[i] = (static_cast<double>(from[i]) - center) * factor * root[i];
          }
        },
        storage_);
    for (Index d = frame_->centred ? 1 : 0; d < basis().cols(); ++d)
      Eigen::Map<Vector>(out, length) -= offsets()(d, j) * factor * basis().col(d).segment(begin, length);
    out += length;
  }
}

Design Design::keeping_products(std::vector<Index> columns, Matrix products) const {
  Design result = *this;
  result.kept_ = std::make_shared<Kept>(Kept{
      std::move(columns), std::vector<Index>(static_cast<std::size_t>(cols()), -1), std::move(products)});
  for (Index k = 0; k < std::ssize(result.kept_columns()); ++k)
    result.kept_->place[static_cast<std::size_t>(result.kept_columns()[static_cast<std::size_t>(k)])] = k;
  return result;
}

void Design::products(std::span<const Index> columns, MatrixView out) const {
  if (!kept_) return compute_products(columns, out);
  const Index before = std::ssize(kept_->columns);
  std::vector<Index>& place = kept_->place;
  for (const Index j : columns)
    if (place[static_cast<std::size_t>(j)] < 0) {
      place[static_cast<std::size_t>(j)] = std::ssize(kept_->columns);
      kept_->columns.push_back(j);
    }
  const Index after = std::ssize(kept_->columns), fresh = after - before;
  if (fresh > 0) {
    Matrix& kept = kept_->products;
    kept.conservativeResize(after, after);
    compute_products(kept_->columns, kept.rightCols(fresh));
    kept.bottomLeftCorner(fresh, before) = kept.topRightCorner(before, fresh).transpose();
  }
  std::vector<Index> places;
  for (const Index j : columns) places.push_back(place[static_cast<std::size_t>(j)]);
  out = kept_->products(places, std::span(places).last(static_cast<std::size_t>(out.cols())));
}

// Dense columns in tiles, by blocks of rows that stay in the cache; sparse ones one at a time against all.
void Design::compute_products(std::span<const Index> columns,
                              Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out) const {
  const Index all = std::ssize(columns), fresh = out.cols();
  if (is_sparse()) {
    Vector v(rows_);
    for (Index k = 0; k < fresh; ++k) {
      pack(columns.subspan(static_cast<std::size_t>(all - fresh + k), 1), 0, rows_, v.data());
      transpose_multiply(columns, v, out.col(k).data());
    }
    return;
  }
  constexpr Index kThin = 24, kSmall = Index{1} << 21;
  if (fresh <= kThin && 4 * fresh <= all &&
      rows_ * fresh <= kSmall) {  // few beside many: these stay in place
    Matrix thin(rows_, fresh), values;
    pack(columns.last(static_cast<std::size_t>(fresh)), 0, rows_, thin.data());
    transpose_multiply(columns, thin, values);
    out = values;
    return;
  }
  count_read(columns);
  constexpr Index kTile = 128, kBlock = 256;
  const Index tiles = (fresh + kTile - 1) / kTile;
  const int threads = useful_threads(threads_, rows_ * fresh);
  const Index share = (tiles + threads - 1) / threads;  // tiles of a thread, from the same packed block
  parallel_for((tiles + share - 1) / share, threads, [&](Index part) {
    const Index end = std::min(fresh, (part + 1) * share * kTile), width = all - fresh + end;
    Matrix block(std::min(kBlock, rows_), width);
    for (Index row = 0; row < rows_; row += kBlock) {
      const Index length = std::min(kBlock, rows_ - row);
      if (length != block.rows()) block.resize(length, width);
      pack(columns.first(static_cast<std::size_t>(width)), row, length, block.data());
      for (Index begin = part * share * kTile; begin < end; begin += kTile) {
        const Index count = std::min(kTile, end - begin);
        const Index height = all - fresh + begin + count;  // the rest follows by symmetry
        transpose_product(block.leftCols(height), block.middleCols(height - count, count),
                          row == 0 ? 0.0 : 1.0, out.block(0, begin, height, count));
      }
    }
  });
  const Index old = all - fresh;
  for (Index k = 0; k < fresh; ++k)
    for (Index i = (k / kTile + 1) * kTile; i < fresh; ++i) out(old + i, k) = out(old + k, i);
}

void Design::transpose_multiply(const Vector& v, Vector& out) const {
  resize_to_write(out, cols());
  if (!columns_->far.empty()) return transpose_multiply(all_but({}, cols()), v, out.data());
  Vector room;
  const Vector &factors = with_roots(v, room), along = along_basis(v);
  const Index entries = stored_entries();
  count(entries);
  parallel_for(column_groups(), useful_threads(threads_, entries), [&](Index task) {
    const Index begin = task * kColumnGroup, count = std::min(kColumnGroup, cols() - begin);
    std::array<Index, kColumnGroup> numbers;
    const std::span<const Index> group = columns_->raw.part(begin, count, numbers);
    std::visit([&](const auto& x) { dots(x, group, factors.data(), out.data() + begin); }, storage_);
    auto part = out.segment(begin, count).array();
    for (Index d = 0; d < along.size(); ++d)
      if (along[d] != 0) part -= offsets().row(d).segment(begin, count).transpose().array() * along[d];
    if (columns_->scale.size() > 0) part /= columns_->scale.segment(begin, count).array();
  });
}

void Design::multiply(const Vector& beta, Vector& eta) const {
  IndexSet support;
  for (Index begin = 0; begin < cols(); begin += kColumnGroup) {
    const Index count = std::min(kColumnGroup, cols() - begin);
    if (beta.segment(begin, count).lpNorm<1>() == 0) continue;  // mostly; what is not a number counts
    for (Index j = begin; j < begin + count; ++j)
      if (beta[j] != 0) support.push_back(j);
  }
  multiply(support, beta(support), eta);
}

void Design::multiply(std::span<const Index> columns, const Vector& factors, Vector& eta) const {
  eta.setZero(rows_);
  Vector shift = Vector::Zero(offsets().rows()), scaled = factors;
  for (Index k = 0; k < scaled.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    scaled[k] /= scale(j);
    const Index centred = far(j) ? 1 : 0;
    if (shift.size() > centred)
      shift.tail(shift.size() - centred) += scaled[k] * offsets().col(j).tail(shift.size() - centred);
  }
  const Index entries = count_read(columns);
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; }) {
          for (Index k = 0; k < scaled.size(); ++k) {
            const Index j = columns[static_cast<std::size_t>(k)];
            if (far(j))
              add_far(j, scaled[k], 0, rows_, eta);
            else
              add_column(x, raw(j), scaled[k], eta.data());
          }
        } else {
          parallel_for((rows_ + kRowBlock - 1) / kRowBlock, useful_threads(threads_, entries),
                       [&](Index block) {
                         const Index begin = block * kRowBlock, length = std::min(kRowBlock, rows_ - begin);
                         for (Index k = 0; k < scaled.size(); ++k) {
                           const Index j = columns[static_cast<std::size_t>(k)];
                           if (far(j))
                             add_far(j, scaled[k], begin, length, eta);
                           else
                             add_column(x, raw(j), scaled[k], eta.data(), begin, length);
                         }
                       });
        }
      },
      storage_);
  take_out(shift, eta);
}

void Design::axpy(Index column, double a, Vector& eta) const {
  if (!frame_->plain) {
    Vector packed(rows_);
    pack({&column, 1}, 0, rows_, packed.data());
    eta += a * packed;
    return;
  }
  const double factor = a / scale(column);
  if (far(column)) return add_far(column, factor, 0, rows_, eta);
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; })
          add_column(x, raw(column), factor, eta.data());
        else
          add_column(x, raw(column), factor, eta.data(), 0, rows_);
      },
      storage_);
  if (basis().cols() > 0) eta.array() -= factor * offsets()(0, column);
}

const Vector& Design::with_roots(const Vector& v, Vector& room) const {
  if (roots().size() == 0) return v;
  room = roots().cwiseProduct(v);
  return room;
}

// A v that is centred but for rounding counts as centred: the mean of a column is at most its magnitude over
// sqrt(n), so that x_j'v is off by no more than its own rounding, and no offset has to be read.
Vector Design::along_basis(const Vector& v) const {
  if (basis().cols() == 0) return {};
  if (!frame_->plain) return basis().transpose() * v;
  const double sum = v.sum(), length = v.norm();
  const bool centred =
      std::isfinite(length) && std::abs(sum) <= 2 * std::numeric_limits<double>::epsilon() * length;
  return Vector::Constant(basis().cols(), centred ? 0 : sum);
}

void Design::take_out(const Vector& shift, Vector& eta) const {
  if (roots().size() > 0) eta.array() *= roots().array();
  if (frame_->plain && shift.size() > 0)
    eta.array() -= shift[0];
  else if (shift.size() > 0)
    eta -= basis() * shift;
}

}  // namespace tyto
