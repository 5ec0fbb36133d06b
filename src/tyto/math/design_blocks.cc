// What is computed from the columns of a design for several vectors at once, a block of rows at a time.
#include <algorithm>
#include <array>

#include "tyto/base/parallel.h"
#include "tyto/math/design.h"
#include "tyto/math/kernels.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

// raw_j'v for the columns of a group and many v, two at a time, in blocks of rows that stay in the cache.
template <class Scalar>
void dots(const DenseColumns<Scalar>& x, std::span<const Index> columns, const Matrix& v, Matrix& out) {
  const Index count = std::ssize(columns),
              block = std::max<Index>(1024, 16384 / std::max<Index>(v.cols(), 1));
  for (Index begin = 0; begin < x.rows; begin += block) {
    const Index length = std::min(block, x.rows - begin);
    const auto at = [&](Index k) {  // the last column fills up its group of four
      return x.data + columns[static_cast<std::size_t>(std::min(k, count - 1))] * x.rows + begin;
    };
    for (Index k = 0; k < count; k += 4) {
      const std::array<const Scalar*, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
      for (Index c = 0; c < v.cols(); c += 2) {
        std::array<double, 8> sums{};
        const double* first = v.col(c).data() + begin;
        if (c + 1 < v.cols())
          kernels::dot4x2(four.data(), first, first + x.rows, length, sums.data());
        else
          kernels::dot4(four.data(), first, length, sums.data());
        for (Index i = 0; i < std::min<Index>(4, count - k); ++i) {
          out(k + i, c) += sums[static_cast<std::size_t>(i)];
          if (c + 1 < v.cols()) out(k + i, c + 1) += sums[static_cast<std::size_t>(4 + i)];
        }
      }
    }
  }
}

IndexSet nonzero_rows(const Matrix& beta) {
  IndexSet result;
  for (Index j = 0; j < beta.rows(); ++j)
    if ((beta.row(j).array() != 0).any()) result.push_back(j);
  return result;
}

}  // namespace

// Blocks of rows of the columns that some beta needs, packed, times their coefficients.
void Design::multiply(const Matrix& beta, Matrix& eta) const {
  eta.resize(rows_, beta.cols());
  if (is_sparse()) {
    Vector one;
    for (Index k = 0; k < beta.cols(); ++k) multiply(Vector(beta.col(k)), one), eta.col(k) = one;
    return;
  }
  const IndexSet support = nonzero_rows(beta);
  const Matrix factors = beta(support, Eigen::all);
  const Index entries = count_read(support);
  constexpr Index kBlock = 256;
  parallel_for((rows_ + kBlock - 1) / kBlock, useful_threads(threads_, entries), [&](Index block) {
    const Index begin = block * kBlock, length = std::min(kBlock, rows_ - begin);
    Matrix part(length, std::ssize(support));
    pack(support, begin, length, part.data());
    product(part, factors, eta.middleRows(begin, length));
  });
}

// Parts of the rows add to the products in the order of the rows, whichever thread makes them.
IndexSet Design::residuals(const Vector& y, const Matrix& beta, Matrix& r, Matrix& out) const {
  IndexSet support = nonzero_rows(beta);
  if (is_sparse()) {
    multiply(beta, r);
    r = y.replicate(1, beta.cols()) - r;
    transpose_multiply(support, r, out);
    return support;
  }
  constexpr Index kPart = 8192, kBlock = 256;
  const Matrix factors = beta(support, Eigen::all);
  const Index entries = count_read(support), parts = (rows_ + kPart - 1) / kPart;
  r.resize(rows_, beta.cols());
  out.setZero(std::ssize(support), beta.cols());
  std::vector<Matrix> sums(static_cast<std::size_t>(parts), out);
  parallel_for(parts, useful_threads(threads_, entries), [&](Index part) {
    const Index end = std::min(rows_, (part + 1) * kPart);
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

void Design::transpose_multiply(std::span<const Index> columns, const Matrix& v, Matrix& out) const {
  const Index count = std::ssize(columns);
  out.setZero(count, v.cols());
  if (is_sparse()) {
    for (Index k = 0; k < v.cols(); ++k) transpose_multiply(columns, Vector(v.col(k)), out.col(k).data());
    return;
  }
  constexpr Index kGroup = 64;
  const Index entries = count_read(columns), tasks = (count + kGroup - 1) / kGroup;
  const Matrix along = basis().transpose() * v;
  const Matrix factors = roots().size() > 0 ? Matrix(roots().asDiagonal() * v) : Matrix();
  const Matrix& scaled = roots().size() > 0 ? factors : v;
  parallel_for(tasks, useful_threads(threads_, entries), [&](Index task) {
    const Index begin = kGroup * task, width = std::min(kGroup, count - begin);
    const auto own = columns.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(width));
    std::array<Index, kGroup> group;
    std::size_t near = 0;
    for (const Index j : own)
      if (!far(j)) group[near++] = raw(j);
    Matrix part = Matrix::Zero(static_cast<Index>(near), v.cols());
    std::visit(
        [&](const auto& x) {
          if constexpr (!requires { x.start; }) dots(x, {group.data(), near}, scaled, part);
        },
        storage_);
    Vector one(v.cols());
    Index next = 0;
    for (Index k = 0; k < width; ++k) {
      const Index j = own[static_cast<std::size_t>(k)];
      if (far(j))
        far_dots(j, scaled.data(), v.cols(), one.data());
      else
        one = part.row(next++);
      for (Index c = 0; c < v.cols(); ++c) out(begin + k, c) = corrected(one[c], j, along.col(c));
    }
  });
}

}  // namespace tyto
