#include <gtest/gtest.h>

#include "tests/support/designs.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

TEST(DesignProducts, ResidualsAndTheirProductsAtOnce) {
  Random random(10);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {1, 1}, {7, 5}, {9000, 12}}) {
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    const Vector y = random_vector(random, rows);
    Eigen::MatrixXd beta = random_matrix(random, cols, 5), r, products, eta, want;
    beta.topRows(cols / 2).setZero();
    for (const Design& raw : every_storage(x)) {
      const Design design = raw.standardized(true, true);
      const IndexSet support = design.residuals(y, beta, r, products);
      EXPECT_EQ(support, all_but(all_but({}, cols / 2), cols));
      design.multiply(beta, eta);
      EXPECT_LE((r - (y.replicate(1, 5) - eta)).norm(), 1e-13 * (1 + y.norm() + eta.norm()));
      design.transpose_multiply(support, r, want);
      EXPECT_LE((products - want).norm(), 1e-12 * (1 + want.norm()));
      Eigen::MatrixXd r_many, products_many;
      design.residuals(y, beta, r_many, products_many, Work(2));
      EXPECT_EQ(r_many, r);
      EXPECT_EQ(products_many, products);
    }
  }
}

TEST(DesignProducts, SeveralVectorsAtOnceAreEachOnItsOwn) {
  Random random(9);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {3, 0}, {1, 1}, {7, 5}, {2500, 67}}) {
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    Eigen::MatrixXd beta = random_matrix(random, cols, 5), v = random_matrix(random, rows, 5), eta, out;
    beta.topRows(cols / 2).setZero();
    for (const Design& raw : every_storage(x)) {
      const Design whole = raw.standardized(true, true);
      const Design design = cols > 5 ? whole.select(IndexSet{0, 2, 3, 40, 66}) : whole;
      const Eigen::MatrixXd some = beta.topRows(design.cols());
      const IndexSet all = all_but({}, design.cols());
      design.multiply(some, eta), design.transpose_multiply(all, v, out);
      for (const int threads : {2, 3}) {
        Eigen::MatrixXd eta_many, out_many;
        const Work work(threads);
        design.multiply(some, eta_many, work), design.transpose_multiply(all, v, out_many, work);
        EXPECT_EQ(eta_many, eta);
        EXPECT_EQ(out_many, out);
      }
      for (Index k = 0; k < 5; ++k) {
        Vector one_eta, one_out;
        design.multiply(Vector(some.col(k)), one_eta), design.transpose_multiply(Vector(v.col(k)), one_out);
        EXPECT_LE((eta.col(k) - one_eta).norm(), 1e-13 * (1 + one_eta.norm()));
        EXPECT_LE((out.col(k) - one_out).norm(), 1e-12 * (1 + one_out.norm()));
      }
    }
  }
}

// Sizes around those of the tiles and of the blocks of rows.
TEST(DesignProducts, ProductsAreThoseOfTheColumns) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {40, 7}, {511, 6}, {512, 6}, {1030, 5}, {20, 300}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    Random random(static_cast<std::uint64_t>(rows));
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.5);
    for (const Design& raw : every_storage(x))
      for (const bool standardize : {false, true}) {
        const Design design = raw.standardized(standardize, standardize);
        const Eigen::MatrixXd values = entries_of(design);
        IndexSet columns;
        for (Index j = cols - 1; j >= 0; --j) columns.push_back(j);  // any order
        Eigen::MatrixXd chosen(rows, cols);
        for (Index j = 0; j < cols; ++j) chosen.col(j) = values.col(cols - 1 - j);
        const double size = 1e-13 * (1 + design.rounding_norms().squaredNorm());
        for (const Index fresh : {cols, (cols + 1) / 2, Index{1}}) {
          Eigen::MatrixXd room = Eigen::MatrixXd::Constant(cols + 2, fresh + 1, 99);
          design.gram(columns, room.block(1, 0, cols, fresh));
          const Eigen::MatrixXd want = chosen.transpose() * chosen.rightCols(fresh);
          EXPECT_LE((room.block(1, 0, cols, fresh) - want).cwiseAbs().maxCoeff(), size);
          EXPECT_EQ(room.row(0), Eigen::RowVectorXd::Constant(fresh + 1, 99));
          EXPECT_EQ(room.row(cols + 1), Eigen::RowVectorXd::Constant(fresh + 1, 99));
          EXPECT_EQ(room.col(fresh), Vector::Constant(cols + 2, 99));
        }
      }
  }
}

TEST(DesignProducts, ProductsHaveTheSameBitsForAnyThreads) {
  Random random(8);
  const Eigen::MatrixXd x = random_float_exact(random, 5000, 300, 1);
  for (const Design& raw :
       {Design::dense(x).standardized(true, true),
        Design::sparse(Sparse32(x.sparseView())).standardized(true, true).select(IndexSet{0, 1, 7})}) {
    IndexSet columns;
    for (Index j = 0; j < raw.cols(); ++j) columns.push_back(j);
    Eigen::MatrixXd one(raw.cols(), raw.cols()), many = one;
    raw.gram(columns, one);
    for (const int threads : {2, 3}) {
      raw.gram(columns, many, Work(threads));
      EXPECT_EQ(one, many);
    }
  }
}

TEST(DesignProducts, ProductsWithSomeColumnsAreThoseOfAll) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Eigen::MatrixXd x = random_float_exact(random, 31, 90, 0.5);
    const Vector v = random_vector(random, 31);
    for (const Design& raw : every_storage(x)) {
      const Design design = raw.standardized(true, true).select(random_columns(random, 90));
      Vector all;
      design.transpose_multiply(v, all);
      const IndexSet some = random_columns(random, design.cols());
      Vector out = Vector::Constant(std::ssize(some) + 1, 99);
      design.transpose_multiply(some, v, out.data());
      // The kernels take four columns at a time: the last digit may depend on the neighbours.
      for (std::size_t k = 0; k < some.size(); ++k)
        EXPECT_NEAR(out[static_cast<Index>(k)], all[some[k]],
                    1e-13 * v.norm() * (1 + design.rounding_norms()[some[k]]));
      EXPECT_EQ(out[std::ssize(some)], 99);
    }
  }
}

// Columns that are one number but for a few entries: what is left without their mean is a hundredth of it and
// less. Products are as exact as if they had been centred before. Rows for several blocks.
TEST(DesignProducts, AMeanThatIsLargeIsTakenOffFirst) {
  Random random(13);
  const Index n = 9000;
  Eigen::MatrixXd x = random_float_exact(random, n, 4, 1);
  for (const Index j : {0, 2, 3})
    for (Index i = 0; i < n; ++i) x(i, j) = i % (n / 4) == j ? 97 : 100;
  x.col(3).setConstant(100);
  Vector weights(n);
  for (Index i = 0; i < n; ++i) weights[i] = random.uniform(0.1, 2);
  for (const Design& raw : {Design::dense(x), Design::dense(Eigen::MatrixXf(x.cast<float>()))})
    for (const Vector& rows : {Vector(), weights})
      for (const bool without : {false, true}) {
        const Design centred = raw.standardized(true, true, rows);
        const Design design = (without ? centred.without(1) : centred).select(IndexSet{0, 2, 3});
        const Eigen::MatrixXd entries = entries_of(design), &basis = design.basis();
        Eigen::MatrixXd v = random_matrix(random, n, 3), several, etas;
        for (Index d = 0; d < basis.cols(); ++d)
          v -= basis.col(d) * (basis.col(d).transpose() * v) / basis.col(d).squaredNorm();
        for (const Index j : {0, 1}) EXPECT_LE(design.rounding_norms()[j], 1.001 * design.norms()[j]);
        EXPECT_EQ(design.rounding_norms()[2], 0) << "a constant";
        EXPECT_TRUE(design.is_zero(2));
        const Eigen::MatrixXd want = entries.transpose() * v;
        const double size = 1e-15 * entries.norm() * v.norm();
        const IndexSet all = all_but({}, 3);
        design.transpose_multiply(all, v, several);
        EXPECT_LE((several - want).norm(), size);
        const Eigen::MatrixXd beta = random_matrix(random, 3, 2), eta = entries * beta;
        design.multiply(beta, etas);
        EXPECT_LE((etas - eta).norm(), 1e-15 * eta.norm());
        Eigen::MatrixXd products(3, 3), r, ascents;
        design.gram(all, products);
        EXPECT_LE((products - entries.transpose() * entries).norm(), 1e-13 * entries.squaredNorm());
        design.residuals(v.col(0), beta, r, ascents);
        EXPECT_LE((ascents - entries.transpose() * r).norm(), 1e-15 * entries.norm() * r.norm());
        for (Index k = 0; k < 2; ++k) {
          Vector one, some(3), got, added = v.col(k);
          design.transpose_multiply(Vector(v.col(k)), one);
          EXPECT_LE((one - want.col(k)).norm(), size);
          design.transpose_multiply(all, Vector(v.col(k)), some.data());
          EXPECT_LE((some - want.col(k)).norm(), size);
          design.multiply(Vector(beta.col(k)), got);
          EXPECT_LE((got - eta.col(k)).norm(), 1e-15 * eta.col(k).norm());
          design.axpy(1, 0.5, added);
          EXPECT_LE((added - v.col(k) - 0.5 * entries.col(1)).norm(), 1e-15 * added.norm());
        }
      }
}

// Enough entries for threads to be useful, and among them columns of both kinds.
TEST(DesignProducts, ColumnsWithALargeMeanHaveTheSameBitsForAnyThreads) {
  Random random(14);
  Eigen::MatrixXd x = random_matrix(random, 20000, 70);
  for (Index j = 0; j < 70; j += 3) x.col(j).array() += 1e4;
  const Design design = Design::dense(x).standardized(true, true);
  const Vector v = random_vector(random, 20000), beta = random_vector(random, 70);
  const Eigen::MatrixXd two = random_matrix(random, 20000, 3);
  const IndexSet all = all_but({}, 70);
  Vector out, eta, out_many, eta_many;
  Eigen::MatrixXd several, several_many;
  design.transpose_multiply(v, out), design.multiply(beta, eta), design.transpose_multiply(all, two, several);
  for (const int threads : {2, 3}) {
    const Work work(threads);
    design.transpose_multiply(v, out_many, work), design.multiply(beta, eta_many, work);
    design.transpose_multiply(all, two, several_many, work);
    EXPECT_EQ(out_many, out);
    EXPECT_EQ(eta_many, eta);
    EXPECT_EQ(several_many, several);
  }
}

}  // namespace
}  // namespace tyto
