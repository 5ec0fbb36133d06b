// Law: a design for classes is the block diagonal matrix of its columns, whatever its storage and adjustment.
#include <gtest/gtest.h>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/design/design.h"

namespace tyto {
namespace {

constexpr Index kClasses = 3;

Eigen::MatrixXd written_out(const Design& design) {
  Eigen::MatrixXd x(design.rows(), design.cols());
  design.pack(all_but({}, design.cols()), 0, design.rows(), x.data());
  return x;
}

// Weights, a mean, a scale, an unpenalised column, a selection: each at times.
Design random_design(Random& random, bool sparse) {
  const Index rows = random.between(4, 40);
  const Index cols = random.between(2, 90);
  Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.6);
  if (random.chance(0.3)) x.col(0).array() += 1e6;  // nearly constant
  Design design = sparse ? Design::sparse(Sparse32(x.sparseView())) : Design::dense(x);
  Vector weights;
  if (random.chance(0.5)) weights = random_vector(random, rows).cwiseAbs();
  if (random.chance(0.8)) design = design.standardized(random.chance(0.7), random.chance(0.7), weights);
  if (random.chance(0.3)) design = design.without(1);
  if (random.chance(0.5)) {
    IndexSet some;
    for (Index j = 0; j < cols; j += 2) some.push_back(j);
    design = design.select(some);
  }
  return design;
}

class ClassDesign : public ::testing::TestWithParam<bool> {};

TEST_P(ClassDesign, IsBlockDiagonal) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Design one = random_design(random, GetParam());
    const Design all = one.for_classes(kClasses);
    const Eigen::MatrixXd block = written_out(one);
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(kClasses * one.rows(), kClasses * one.cols());
    for (Index j = 0; j < one.cols(); ++j)
      for (Index c = 0; c < kClasses; ++c)
        expected.block(c * one.rows(), j * kClasses + c, one.rows(), 1) = block.col(j);
    EXPECT_EQ(written_out(all), expected);
    const double size = 1 + expected.norm();
    const Vector beta = random_vector(random, all.cols());
    const Vector v = random_vector(random, all.rows());
    Vector eta;
    Vector products;
    all.multiply(beta, eta);
    EXPECT_LE((eta - expected * beta).norm(), 1e-11 * size * beta.norm());
    all.transpose_multiply(v, products);
    EXPECT_LE((products - expected.transpose() * v).norm(), 1e-10 * size * v.norm());
    IndexSet some = random_columns(random, all.cols());
    Vector of_some(std::ssize(some));
    all.transpose_multiply(some, v, of_some.data());
    for (std::size_t k = 0; k < some.size(); ++k)
      EXPECT_NEAR(of_some[static_cast<Index>(k)], products[some[k]], 1e-11 * size * v.norm());
    const Design part = all.select(some);
    EXPECT_EQ(written_out(part), Eigen::MatrixXd(expected(Eigen::all, some)));
    for (std::size_t k = 0; k < some.size(); ++k)
      EXPECT_EQ(part.class_of(static_cast<Index>(k)), some[k] % kClasses);
    Eigen::MatrixXd many;
    all.multiply(Eigen::MatrixXd(beta.replicate(1, 2)), many);
    EXPECT_EQ(Vector(many.col(1)), eta);
    for (Index j = 0; j < all.cols(); ++j) EXPECT_EQ(all.norms()[j], one.norms()[j / kClasses]);
    EXPECT_EQ(all.stored_entries(), kClasses * one.stored_entries());
    Vector added = Vector::Zero(all.rows());
    all.axpy(all.cols() - 1, 2, added);
    EXPECT_LE((added - 2 * expected.rightCols(1)).norm(), 1e-12 * size);
  }
}

// The weights are those of the rows of one class.
TEST_P(ClassDesign, AColumnIsZeroWhereItsRowsDoNotCount) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(4, 2);
  x(3, 0) = x(0, 1) = 1;
  const Design stored =
      GetParam() ? Design::sparse(Eigen::SparseMatrix<double>(x.sparseView())) : Design::dense(x);
  const Vector weights = (Vector(4) << 1, 1, 1, 0).finished();
  const Design all = stored.standardized(false, false, weights).for_classes(kClasses);
  for (Index j = 0; j < all.cols(); ++j) EXPECT_EQ(all.is_zero(j), j < kClasses) << j;
}

INSTANTIATE_TEST_SUITE_P(Storage, ClassDesign, ::testing::Bool());

}  // namespace
}  // namespace tyto
