#include "tyto/math/linear_algebra.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/instruction_sets.h"
#include "tests/support/random.h"
#include "tyto/base/parallel.h"
#include "tyto/math/kernels.h"

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

// Rows and strides are odd, so that nothing is aligned, and what is behind the last row is somebody else's.
TEST(LinearAlgebra, FactorsForEveryInstructionSet) {
  for_every_instruction_set([] {
    for (const Index size : {1, 2, 3, 5, 8, 13, 31}) {
      SCOPED_TRACE(size);
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
  });
}

TEST(LinearAlgebra, CholeskyRefusesWhatIsNotPositiveDefinite) {
  Matrix indefinite{{1, 2}, {2, 1}}, zero = Matrix::Zero(2, 2), singular{{1, 1}, {1, 1}};
  EXPECT_FALSE(cholesky(indefinite));
  EXPECT_FALSE(cholesky(zero));
  for (const Index n : {3, 60, 120}) {  // at once, and by halves
    Matrix unknown = Matrix::Identity(n, n);
    unknown(n - 1, 1) = std::nan("");
    EXPECT_FALSE(cholesky(unknown)) << n;
  }
  EXPECT_FALSE(cholesky(singular));
}

// The sum of |a_ti b_tj| over t: what the rounding error of an entry of a'b is proportional to.
Matrix magnitudes(const Matrix& a, const Matrix& b) { return a.cwiseAbs().transpose() * b.cwiseAbs(); }

// Around all edges of tiles, panels and blocks: 4, 8, 12, 24, 96, 256 and 960.
TEST(LinearAlgebra, ProductsForEveryInstructionSet) {
  for_every_instruction_set([] {
    for (const auto& [k, m, n] : {std::array<Index, 3>{1, 25, 9},
                                  {3, 7, 13},
                                  {8, 24, 8},
                                  {9, 23, 7},
                                  {31, 97, 26},
                                  {255, 12, 4},
                                  {256, 49, 33},
                                  {257, 5, 97},
                                  {600, 30, 11},
                                  {5, 2, 963},
                                  {5, 963, 2}}) {
      SCOPED_TRACE(::testing::Message() << k << " " << m << " " << n);
      Random random(static_cast<std::uint64_t>(k + m));
      const Matrix a = room_for(random, k, m), b = room_for(random, k, n), before = room_for(random, m, n);
      const Matrix left = a.block(1, 2, k, m), right = b.block(1, 2, k, n);
      Matrix c = before, want = before;
      transpose_product(a.block(1, 2, k, m), b.block(1, 2, k, n), 0, c.block(1, 2, m, n));
      want.block(1, 2, m, n) = left.transpose() * right;
      const Matrix bound = 1e-15 * static_cast<double>(k + 1) * magnitudes(left, right);
      EXPECT_TRUE(((c - want).block(1, 2, m, n).array().abs() <= bound.array()).all());
      c.block(1, 2, m, n) = want.block(1, 2, m, n) = before.block(1, 2, m, n);
      EXPECT_EQ(c, before) << "nothing outside";
      const Matrix rows = a.transpose();
      product(rows.block(2, 1, m, k), b.block(1, 2, k, n), c.block(1, 2, m, n));
      want.block(1, 2, m, n) = left.transpose() * right;
      EXPECT_TRUE(((c - want).block(1, 2, m, n).array().abs() <= bound.array()).all());
      c.block(1, 2, m, n) = before.block(1, 2, m, n);
      EXPECT_EQ(c, before) << "nothing outside";
    }
  });
}

// What the solvers rest on when they let a Gram matrix grow: an entry does not depend on its neighbours.
TEST(LinearAlgebra, AnEntryHasTheSameBitsWhereverItIsComputed) {
  for_every_instruction_set([] {
    Random random(7);
    const Matrix a = random_matrix(random, 301, 131);
    Matrix all(131, 131), part(131, 131), by_product(131, 131);
    gram(a, 0, all);
    EXPECT_EQ(all, all.transpose());
    transpose_product(a, a, 0, by_product);
    EXPECT_EQ(all, by_product);
    for (Index begin = 0; begin < 131; begin += 17) {
      const Index width = std::min<Index>(17, 131 - begin);
      transpose_product(a, a.middleCols(begin, width), 0, part.middleCols(begin, width));
    }
    EXPECT_EQ(all, part);
    product(all, by_product, part);  // wide at once, and narrow: read in place
    Matrix narrow(131, 131);
    for (Index begin = 0; begin < 131; begin += 17) {
      const Index width = std::min<Index>(17, 131 - begin);
      product(all, by_product.middleCols(begin, width), narrow.middleCols(begin, width));
    }
    EXPECT_EQ(part, narrow);
  });
}

TEST(LinearAlgebra, LargeFactorsForEveryInstructionSet) {
  for_every_instruction_set([] {
    for (const Index size : {97, 130, 193, 389}) {
      SCOPED_TRACE(size);
      Random random(static_cast<std::uint64_t>(size));
      const Matrix root = random_matrix(random, size + 5, size), kept = root.transpose() * root;
      Matrix room = Matrix::Constant(size + 2, size + 1, 7);
      MatrixView a = room.block(1, 1, size, size);
      a.triangularView<Eigen::Lower>() = kept;
      ASSERT_TRUE(cholesky(a));
      const Matrix lower = a.triangularView<Eigen::Lower>();
      EXPECT_LE((lower * lower.transpose() - kept).norm(), 1e-14 * kept.norm());
      a.triangularView<Eigen::Lower>().setConstant(7);
      EXPECT_EQ(room, Matrix::Constant(size + 2, size + 1, 7)) << "only the lower triangle is written";
    }
  });
}

// A library that knows processors by a list takes slow code on one that is newer than the list.
TEST(LinearAlgebra, KernelsAreThoseOfTheProcessor) {
  const std::string name = kernels::instruction_set();
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) {
    EXPECT_EQ(name.substr(0, 4), "AVX3");
  } else if (avx2) {
    EXPECT_EQ(name, "AVX2");
  }
#elif defined(__aarch64__)
  EXPECT_EQ(name.substr(0, 4), "NEON");
#endif
  EXPECT_FALSE(name.empty());
}

// Kernels that shared buffers between threads would fail this in a few percent of the products.
TEST(LinearAlgebra, ThreadsDoNotShareBuffers) {
  std::atomic<Index> wrong = 0;
  parallel_for(4, 4, [&](Index seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Eigen::MatrixXd a = random_matrix(random, 100, 24);
    Eigen::MatrixXd first(24, 24), again(24, 24);
    gram(a, 0, first);
    for (int run = 0; run < 2000; ++run) {
      gram(a, 0, again);
      if (again != first) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tyto
