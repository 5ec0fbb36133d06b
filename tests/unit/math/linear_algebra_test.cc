#include "tyto/math/linear_algebra.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/random.h"
#include "tyto/base/parallel.h"

namespace tyto {
namespace {

// The block at (1, 2) of a larger matrix, so that columns are not contiguous.
Matrix room_for(Random& random, Index rows, Index cols) { return random_matrix(random, rows + 3, cols + 4); }

TEST(LinearAlgebra, ProductsOfBlocksAreThoseOfTheirEntries) {
  for (const auto& [k, m, n] : {std::array<Index, 3>{1, 1, 1}, {7, 3, 5}, {40, 33, 2}, {2, 30, 41}}) {
    SCOPED_TRACE(::testing::Message() << k << " " << m << " " << n);
    Random random(static_cast<std::uint64_t>(k));
    const Matrix a = room_for(random, k, m), b = room_for(random, k, n), before = room_for(random, m, n);
    for (const double keep : {0.0, 1.0, -0.5}) {
      Matrix c = before;
      transpose_product(a.block(1, 2, k, m), b.block(1, 2, k, n), keep, c.block(1, 2, m, n));
      Matrix want = before;
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          double sum = keep * before(1 + i, 2 + j);
          for (Index l = 0; l < k; ++l) sum += a(1 + l, 2 + i) * b(1 + l, 2 + j);
          want(1 + i, 2 + j) = sum;
        }
      EXPECT_LE((c - want).cwiseAbs().maxCoeff(), 1e-13 * static_cast<double>(k)) << "and nothing outside";
    }
  }
}

TEST(LinearAlgebra, PlainProductsToo) {
  for (const auto& [m, k, n] : {std::array<Index, 3>{1, 1, 1}, {7, 3, 5}, {33, 40, 2}, {3, 0, 2}}) {
    Random random(static_cast<std::uint64_t>(m));
    const Matrix a = room_for(random, m, k), b = room_for(random, k, n), before = room_for(random, m, n);
    Matrix c = before, want = before;
    product(a.block(1, 2, m, k), b.block(1, 2, k, n), c.block(1, 2, m, n));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        want(1 + i, 2 + j) = 0;
        for (Index l = 0; l < k; ++l) want(1 + i, 2 + j) += a(1 + i, 2 + l) * b(1 + l, 2 + j);
      }
    EXPECT_LE((c - want).cwiseAbs().maxCoeff(), 1e-13 * static_cast<double>(k + 1)) << "and nothing outside";
  }
}

TEST(LinearAlgebra, OldContentThatIsNotKeptDoesNotMatter) {
  Matrix c = Matrix::Constant(2, 2, std::nan(""));
  const Matrix a = Matrix::Identity(3, 2);
  transpose_product(a, a, 0, c);
  EXPECT_EQ(c, Matrix::Identity(2, 2));
  c.setConstant(std::nan(""));
  gram(a, 0, c);
  EXPECT_EQ(c, Matrix::Identity(2, 2));
}

TEST(LinearAlgebra, GramFillsBothTriangles) {
  Random random(2);
  const Matrix a = room_for(random, 9, 6), before = random_matrix(random, 6, 6);
  const Matrix symmetric = before + before.transpose();
  for (const double keep : {0.0, 1.0}) {
    Matrix c = symmetric;
    gram(a.block(1, 2, 9, 6), keep, c);
    const Matrix want = a.block(1, 2, 9, 6).transpose() * a.block(1, 2, 9, 6) + keep * symmetric;
    EXPECT_LE((c - want).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_EQ(c, c.transpose());
  }
}

TEST(LinearAlgebra, ProductsWithVectors) {
  Random random(3);
  const Matrix a = room_for(random, 8, 5);
  const auto block = a.block(1, 2, 8, 5);
  const Vector x = random_vector(random, 5), v = random_vector(random, 8);
  Vector y = v, out = Vector::Ones(2);
  add_product(-2, block, x, y);
  EXPECT_LE((y - (v - 2 * (block * x))).norm(), 1e-13);
  transpose_product(block, v, out);
  ASSERT_EQ(out.size(), 5);
  EXPECT_LE((out - block.transpose() * v).norm(), 1e-13);
}

TEST(LinearAlgebra, NothingTimesNothing) {
  Matrix none(0, 0), c(0, 3), sums = Matrix::Ones(2, 2);
  transpose_product(Matrix(4, 0), Matrix(4, 3), 0, c);
  gram(Matrix(4, 0), 0, none);
  Vector y = Vector::Ones(4), out = Vector::Ones(3);
  add_product(1, Matrix(4, 0), Vector(), y);
  EXPECT_EQ(y, Vector::Ones(4));
  transpose_product(Matrix(4, 0), y, out);
  EXPECT_EQ(out.size(), 0);
  transpose_product(Matrix(0, 3), Vector(), out);
  EXPECT_EQ(out, Vector::Zero(3));
  transpose_product(Matrix(0, 2), Matrix(0, 2), 0, sums);
  EXPECT_EQ(sums, Matrix::Zero(2, 2));
  EXPECT_TRUE(cholesky(none));
  Vector empty;
  cholesky_solve(none, empty);
  EXPECT_EQ(empty.size(), 0);
}

TEST(LinearAlgebra, CholeskySolves) {
  std::vector<Index> sizes(50);
  std::iota(sizes.begin(), sizes.end(), Index{1});
  for (const Index size : {95, 96, 97, 128, 192, 193, 300}) sizes.push_back(size);
  for (const Index size : sizes) {
    SCOPED_TRACE(size);
    Random random(static_cast<std::uint64_t>(size));
    const Matrix root = random_matrix(random, size + 5, size);
    Matrix a = root.transpose() * root;
    const Matrix kept = a;
    a.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));  // not read
    const Vector want = random_vector(random, size);
    Vector x = kept * want;
    ASSERT_TRUE(cholesky(a));
    cholesky_solve(a, x);
    EXPECT_LE((x - want).norm(), 1e-9 * want.norm());
    const Matrix lower = a.triangularView<Eigen::Lower>();
    EXPECT_LE((lower * lower.transpose() - kept).norm(), 1e-14 * kept.norm());
    Vector product;
    multiply_lower(a, want, product);
    EXPECT_LE((product - lower * want).norm(), 1e-14 * lower.norm() * want.norm());
  }
}

// Every instruction set of this machine, not only its best one. Rows and strides are odd, so that nothing is
// aligned, and what is behind the last row is somebody else's.
TEST(LinearAlgebra, FactorsForEveryInstructionSet) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Index size : {1, 2, 3, 5, 8, 13, 31}) {
      SCOPED_TRACE(::testing::Message() << hwy::TargetName(target) << " " << size);
      Random random(static_cast<std::uint64_t>(size));
      const Matrix root = random_matrix(random, size + 5, size), kept = root.transpose() * root;
      Matrix room = Matrix::Constant(size + 2, size + 1, 7);
      MatrixView a = room.block(1, 1, size, size);
      a = kept;
      const Vector want = random_vector(random, size);
      Vector x = kept * want, product;
      ASSERT_TRUE(cholesky(a));
      cholesky_solve(a, x);
      EXPECT_LE((x - want).norm(), 1e-9 * want.norm());
      const Matrix lower = a.triangularView<Eigen::Lower>();
      multiply_lower(a, want, product);
      EXPECT_LE((product - lower * want).norm(), 1e-14 * lower.norm() * want.norm());
      EXPECT_EQ(room.row(size + 1), Vector::Constant(size + 1, 7).transpose());
      EXPECT_EQ(room.row(0), Vector::Constant(size + 1, 7).transpose());
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(LinearAlgebra, CholeskyRefusesWhatIsNotPositiveDefinite) {
  Matrix indefinite{{1, 2}, {2, 1}}, zero = Matrix::Zero(2, 2), singular{{1, 1}, {1, 1}};
  EXPECT_FALSE(cholesky(indefinite));
  EXPECT_FALSE(cholesky(zero));
  for (const Index n : {3, 60, 120}) {  // our own and LAPACK's
    Matrix unknown = Matrix::Identity(n, n);
    unknown(n - 1, 1) = std::nan("");
    EXPECT_FALSE(cholesky(unknown)) << n;
  }
  EXPECT_FALSE(cholesky(singular));
}

// A BLAS that shares buffers between threads fails this in a few percent of the products.
TEST(LinearAlgebra, ThreadsDoNotShareBuffers) {
  std::atomic<Index> wrong = 0;
  parallel_for(4, 4, [&](Index seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Eigen::MatrixXd a = random_matrix(random, 100, 24);
    Eigen::MatrixXd first(24, 24), again(24, 24);
    gram(a, 0, first);
    for (int run = 0; run < 20000; ++run) {
      gram(a, 0, again);
      if (again != first) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tyto
