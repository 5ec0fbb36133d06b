#pragma once

#include "tyto/base/types.h"

// Dense products and Cholesky factors, on the kernels of kernels.h. All serial: who calls them may be one of
// many threads.
namespace tyto {

using Matrix = Eigen::MatrixXd;
using MatrixView = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

// c <- a'b + keep * c
void transpose_product(const ConstMatrixView& a, const ConstMatrixView& b, double keep, MatrixView c);
void product(const ConstMatrixView& a, const ConstMatrixView& b, MatrixView c);  // c <- a b
// c <- a'a + keep * c, both triangles.
void gram(const ConstMatrixView& a, double keep, MatrixView c);
void add_product(double factor, const ConstMatrixView& a, const Vector& x, Vector& y);  // y <- y + factor a x
void transpose_product(const ConstMatrixView& a, const Vector& x, Vector& y);           // y <- a'x

// a <- its Cholesky factor, in the lower triangle. False where a is not positive definite.
bool cholesky(MatrixView a);
void cholesky_solve(const ConstMatrixView& factor, Vector& x);  // x <- a^-1 x
// With the lower triangle of a.
void solve_lower(const ConstMatrixView& a, Vector& x);                        // x <- a^-1 x
void solve_lower_transposed(const ConstMatrixView& a, Vector& x);             // x <- a^-T x
void multiply_lower(const ConstMatrixView& a, const Vector& x, Vector& out);  // out <- a x

}  // namespace tyto
