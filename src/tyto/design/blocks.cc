// What is computed from the columns of a design for several vectors at once, a block of rows at a time.
#include <algorithm>
#include <array>
#include <vector>

#include "tyto/base/parallel.h"
#include "tyto/design/design.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

IndexSet nonzero_rows(const Matrix& beta) {
  IndexSet result;
  for (Index j = 0; j < beta.rows(); ++j)
    if ((beta.row(j).array() != 0).any()) result.push_back(j);
  return result;
}

}  // namespace

// Blocks of rows of the columns that some beta needs, packed, times their coefficients.
void Design::multiply(const Matrix& beta, Matrix& eta, const Work& work) const {
  eta.resize(rows(), beta.cols());
  if (is_sparse() || classes() > 1) {
    Vector one;
    for (Index k = 0; k < beta.cols(); ++k) {
      multiply(Vector(beta.col(k)), one, work);
      eta.col(k) = one;
    }
    return;
  }
  const IndexSet support = nonzero_rows(beta);
  const Matrix factors = beta(support, Eigen::all);
  if (is_slow()) return copied(support).multiply(factors, eta, work);
  const Index entries = count_read(support, work);
  constexpr Index kBlock = 256;
  parallel_for((rows() + kBlock - 1) / kBlock, useful_threads(work.threads(), entries), [&](Index block) {
    const Index begin = block * kBlock;
    const Index length = std::min(kBlock, rows() - begin);
    Matrix part(length, std::ssize(support));
    pack(support, begin, length, part.data());
    product(part, factors, eta.middleRows(begin, length));
  });
}

// Parts of the rows add to the products in the order of the rows, whichever thread makes them.
IndexSet Design::residuals(const Vector& y, const Matrix& beta, Matrix& r, Matrix& out,
                           const Work& work) const {
  IndexSet support = nonzero_rows(beta);
  if (is_sparse() || classes() > 1) {
    multiply(beta, r, work);
    r = y.replicate(1, beta.cols()) - r;
    transpose_multiply(support, r, out, work);
    return support;
  }
  constexpr Index kPart = 8192, kBlock = 256;
  const Matrix factors = beta(support, Eigen::all);
  if (is_slow()) {
    copied(support).residuals(y, factors, r, out, work);
    return support;
  }
  const Index entries = count_read(support, work);
  const Index parts = (rows() + kPart - 1) / kPart;
  r.resize(rows(), beta.cols());
  out.setZero(std::ssize(support), beta.cols());
  std::vector<Matrix> sums(static_cast<std::size_t>(parts), out);
  parallel_for(parts, useful_threads(work.threads(), entries), [&](Index part) {
    const Index end = std::min(rows(), (part + 1) * kPart);
    Matrix block(kBlock, std::ssize(support));
    for (Index begin = part * kPart; begin < end; begin += kBlock) {
      const Index length = std::min(kBlock, end - begin);
      if (length < kBlock) block.resize(length, std::ssize(support));
      pack(support, begin, length, block.data());
      auto rest = r.middleRows(begin, length);
      product(block, factors, rest);
      for (Index k = 0; k < rest.cols(); ++k) rest.col(k) = y.segment(begin, length) - rest.col(k);
      transpose_product(block, rest, 1, sums[static_cast<std::size_t>(part)]);
    }
  });
  for (const Matrix& sum : sums) out += sum;
  return support;
}

// raw_j'v, or without the mean for columns that are nearly constant.
void Design::correlate_group(std::span<const Index> columns, const Matrix& v, MatrixView out) const {
  IndexSet group;
  for (const Index j : columns)
    if (!adjustment_->is_nearly_constant(j)) group.push_back(raw(j));
  Matrix part(std::ssize(group), v.cols());
  columns_->correlate_all(group, v, part);
  Vector one(v.cols());
  Index next = 0;
  for (Index k = 0; k < out.rows(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    if (adjustment_->is_nearly_constant(j))
      dots_less_mean(j, v.data(), v.cols(), one.data());
    else
      one = part.row(next++);
    out.row(k) = one;
  }
}

void Design::transpose_multiply(std::span<const Index> columns, const Matrix& v, Matrix& out,
                                const Work& work) const {
  const Index count = std::ssize(columns);
  out.setZero(count, v.cols());
  if (is_sparse() || classes() > 1) {
    for (Index k = 0; k < v.cols(); ++k)
      transpose_multiply(columns, Vector(v.col(k)), out.col(k).data(), work);
    return;
  }
  constexpr Index kWide = 64;  // columns that share a task
  const Index entries = count_read(columns, work);
  const Matrix along = basis().transpose() * v;
  const Matrix factors = roots().size() > 0 ? Matrix(roots().asDiagonal() * v) : Matrix();
  const Matrix& scaled = roots().size() > 0 ? factors : v;
  const auto expected = expect(columns);
  parallel_for((count + kWide - 1) / kWide, useful_threads(work.threads(), entries), [&](Index task) {
    const Index begin = kWide * task;
    const Index width = std::min(kWide, count - begin);
    const auto own = columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(width));
    correlate_group(own, scaled, out.middleRows(begin, width));
    for (Index k = begin; k < begin + width; ++k)
      for (Index c = 0; c < v.cols(); ++c)
        out(k, c) = adjustment_->corrected(out(k, c), columns[static_cast<std::size_t>(k)], along.col(c));
  });
}

// Sparse columns one at a time against all; and so dense ones, if they are few beside many, which then stay
// in place.
void Design::gram(std::span<const Index> columns, MatrixView out, const Work& work) const {
  const Index all = std::ssize(columns), fresh = out.cols();
  const auto last = columns.last(static_cast<std::size_t>(fresh));
  if (is_slow() && classes() == 1) return copied(columns).gram(all_but({}, all), out, work);
  if (is_sparse()) {
    Vector v(rows());
    for (Index k = 0; k < fresh; ++k) {
      pack(last.subspan(static_cast<std::size_t>(k), 1), 0, rows(), v.data());
      transpose_multiply(columns, v, out.col(k).data(), work);
    }
    return;
  }
  constexpr Index kThin = 24, kSmall = Index{1} << 21;
  if (fresh > kThin || 4 * fresh > all || rows() * fresh > kSmall) return gram_of_blocks(columns, out, work);
  Matrix thin(rows(), fresh), values;
  pack(last, 0, rows(), thin.data());
  transpose_multiply(columns, thin, values, work);
  out = values;
}

// Dense columns in tiles, by blocks of rows that stay in the cache.
void Design::gram_of_blocks(std::span<const Index> columns, MatrixView out, const Work& work) const {
  const Index fresh = out.cols(), old = std::ssize(columns) - fresh;
  count_read(columns, work);
  constexpr Index kTile = 128, kBlock = 256;
  const Index tiles = (fresh + kTile - 1) / kTile;
  const int threads = useful_threads(work.threads(), rows() * fresh);
  const Index share = (tiles + threads - 1) / threads;  // tiles of a thread, from the same packed block
  parallel_for((tiles + share - 1) / share, threads, [&](Index part) {
    const Index end = std::min(fresh, (part + 1) * share * kTile), width = old + end;
    Matrix block(std::min(kBlock, rows()), width);
    for (Index row = 0; row < rows(); row += kBlock) {
      const Index length = std::min(kBlock, rows() - row);
      if (length != block.rows()) block.resize(length, width);
      pack(columns.first(static_cast<std::size_t>(width)), row, length, block.data());
      for (Index begin = part * share * kTile; begin < end; begin += kTile) {
        const Index count = std::min(kTile, end - begin);
        const Index height = old + begin + count;  // the rest follows by symmetry
        transpose_product(block.leftCols(height), block.middleCols(height - count, count),
                          row == 0 ? 0.0 : 1.0, out.block(0, begin, height, count));
      }
    }
  });
  for (Index k = 0; k < fresh; ++k)
    for (Index i = (k / kTile + 1) * kTile; i < fresh; ++i) out(old + i, k) = out(old + k, i);
}

}  // namespace tyto
