#include "tyto/math/linear_algebra.h"

#include <algorithm>
#include <array>

#include "tyto/math/kernels.h"

namespace tyto {
namespace {

// Rows up to which a triangle is factorised at once, and by which larger ones are cut: the loops go across
// columns, which should stay in the cache.
constexpr Index kSmall = 96;
// Columns up to which a triangle is solved against many rows at once.
constexpr Index kNarrow = 32;

kernels::ColumnBlock block(const ConstMatrixView& a) {
  return {a.data(), a.outerStride(), a.rows(), a.cols()};
}
kernels::Factor columns_of(const ConstMatrixView& a) { return {a.data(), a.outerStride(), true}; }
kernels::Factor rows_of(const ConstMatrixView& a) { return {a.data(), a.outerStride(), false}; }

// c <- c - a b', or its lower triangle alone.
void subtract_product(const ConstMatrixView& a, const ConstMatrixView& b, MatrixView c, bool lower) {
  kernels::multiply({.a = rows_of(a),
                     .b = rows_of(b),
                     .rows = c.rows(),
                     .cols = c.cols(),
                     .depth = a.cols(),
                     .keep = 1,
                     .factor = -1,
                     .lower = lower},
                    c.data(), c.outerStride());
}

void scale(double factor, MatrixView c) {
  if (factor == 0)
    c.setZero();
  else
    c *= factor;
}

// Where a matrix is cut in two, in whole vectors.
Index half(Index n) { return (n / 2 + 7) / 8 * 8; }

// b <- b a^-T with the lower triangle of a.
void solve_right(const ConstMatrixView& a, MatrixView b) {
  const Index n = a.rows();
  if (n <= kNarrow) return kernels::solve_lower_right(block(a), b.data(), b.outerStride(), b.rows());
  const Index first = half(n), rest = n - first;
  solve_right(a.topLeftCorner(first, first), b.leftCols(first));
  subtract_product(b.leftCols(first), a.bottomLeftCorner(rest, first), b.rightCols(rest), false);
  solve_right(a.bottomRightCorner(rest, rest), b.rightCols(rest));
}

// A triangle is small ones along its diagonal, and what is below each of them: f(first row, the small one,
// what is below).
template <class F>
void for_panels(const ConstMatrixView& a, F f) {
  const Index n = a.rows();
  for (Index begin = 0; begin < n; begin += kSmall) {
    const Index size = std::min(kSmall, n - begin), end = begin + size;
    f(begin, a.block(begin, begin, size, size), a.block(end, begin, n - end, size));
  }
}

}  // namespace

void transpose_product(const ConstMatrixView& a, const ConstMatrixView& b, double keep, MatrixView c) {
  if (a.rows() == 0) {
    scale(keep, c);
    return;
  }
  kernels::multiply({.a = columns_of(a),
                     .b = columns_of(b),
                     .rows = c.rows(),
                     .cols = c.cols(),
                     .depth = a.rows(),
                     .keep = keep},
                    c.data(), c.outerStride());
}

void product(const ConstMatrixView& a, const ConstMatrixView& b, MatrixView c) {
  if (a.cols() == 0) {
    c.setZero();
    return;
  }
  kernels::multiply(
      {.a = rows_of(a), .b = columns_of(b), .rows = c.rows(), .cols = c.cols(), .depth = a.cols()}, c.data(),
      c.outerStride());
}

void gram(const ConstMatrixView& a, double keep, MatrixView c) {
  if (a.rows() == 0) {
    scale(keep, c);
    return;
  }
  kernels::multiply({.a = columns_of(a),
                     .b = columns_of(a),
                     .rows = c.rows(),
                     .cols = c.cols(),
                     .depth = a.rows(),
                     .keep = keep,
                     .lower = true},
                    c.data(), c.outerStride());
  kernels::mirror(c.data(), c.outerStride(), c.rows());
}

void add_product(double factor, const ConstMatrixView& a, const Vector& x, Vector& y) {
  kernels::add_product(factor, block(a), x.data(), y.data());
}

void transpose_product(const ConstMatrixView& a, const Vector& x, Vector& y) {
  y.setZero(a.cols());
  Index j = 0;
  for (; j + 4 <= a.cols(); j += 4) {
    const std::array<const double*, 4> four{a.col(j).data(), a.col(j + 1).data(), a.col(j + 2).data(),
                                            a.col(j + 3).data()};
    kernels::dot4(four.data(), x.data(), a.rows(), y.data() + j);
  }
  for (; j < a.cols(); ++j) y[j] = kernels::dot(a.col(j).data(), x.data(), a.rows());
}

// By halves, so that nearly all of the work is products.
bool cholesky(MatrixView a) {
  const Index n = a.rows();
  if (n <= kSmall) return kernels::cholesky(a.data(), a.outerStride(), n);
  const Index first = half(n), rest = n - first;
  if (!cholesky(a.topLeftCorner(first, first))) return false;
  const auto below = a.bottomLeftCorner(rest, first);
  solve_right(a.topLeftCorner(first, first), below);
  subtract_product(below, below, a.bottomRightCorner(rest, rest), true);
  return cholesky(a.bottomRightCorner(rest, rest));
}

void cholesky_solve(const ConstMatrixView& factor, Vector& x) {
  solve_lower(factor, x);
  solve_lower_transposed(factor, x);
}

void solve_lower(const ConstMatrixView& a, Vector& x) {
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView& below) {
    double* part = x.data() + begin;
    kernels::solve_lower(panel.data(), panel.outerStride(), panel.rows(), part);
    kernels::add_product(-1, block(below), part, part + panel.rows());
  });
}

void solve_lower_transposed(const ConstMatrixView& a, Vector& x) {  // along columns: any size will do
  kernels::solve_lower_transposed(a.data(), a.outerStride(), a.rows(), x.data());
}

void multiply_lower(const ConstMatrixView& a, const Vector& x, Vector& out) {
  out.resize(x.size());
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView&) {
    kernels::multiply_lower(panel.data(), panel.outerStride(), panel.rows(), x.data() + begin,
                            out.data() + begin);
  });
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView& below) {
    kernels::add_product(1, block(below), x.data() + begin, out.data() + begin + panel.rows());
  });
}

}  // namespace tyto
