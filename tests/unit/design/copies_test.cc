#include <gtest/gtest.h>

#include "tests/support/designs.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tyto/design/design.h"

namespace tyto {
namespace {

TEST(TakeRows, KeepsTheRowsAndTheStorage) {
  Random random(3);
  const Eigen::MatrixXd x = random_float_exact(random, 9, 5, 0.5);
  const std::vector<Design> designs = {
      Design::dense(x), Design::dense(Eigen::MatrixXf(x.cast<float>())),
      Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView())),
      Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>(x.sparseView())),
      Design::sparse(
          Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t>(x.cast<float>().sparseView()))};
  for (const IndexSet& rows :
       {IndexSet{0, 1, 2, 3, 4, 5, 6, 7, 8}, IndexSet{1, 4, 8}, IndexSet{5}, IndexSet{}})
    for (const Design& design : designs) {
      const Design some = design.take_rows(rows);
      EXPECT_EQ(some.is_sparse(), design.is_sparse());
      EXPECT_EQ(some.rows(), std::ssize(rows));
      EXPECT_EQ(dense_copy(some), x(rows, Eigen::all));
    }
}

TEST(TakeRows, ForgetsCentresAndTakesTheSelectedColumns) {
  Random random(4);
  const Eigen::MatrixXd x = random_matrix(random, 6, 4);
  const IndexSet columns{1, 3}, rows{0, 2, 5};
  for (const Design& design :
       {Design::dense(x),
        Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView()))}) {
    const Design some = design.standardized(true, true).select(columns).take_rows(rows);
    EXPECT_EQ(dense_copy(some), x(rows, columns));
    EXPECT_EQ(some.offsets().rows(), 0);
    EXPECT_EQ(some.scales(), Vector::Ones(2));
    EXPECT_NEAR(some.norms()[0], x(rows, 1).norm(), 1e-14);
  }
}

// In any order, whatever is done to columns.
TEST(Gather, IsTheSameColumnsInMemoryOfTheirOwn) {
  Random random(5);
  const Eigen::MatrixXd x = random_float_exact(random, 9, 6, 0.5);
  Vector weights = random_vector(random, 9).cwiseAbs();
  weights[3] = 0;
  for (const Design& raw : every_storage(x)) {
    for (const Design& design : {raw, raw.standardized(true, true), raw.standardized(false, true, weights),
                                 raw.standardized(true, true, weights).without(2)})
      for (const std::vector<Index>& columns :
           {std::vector<Index>{}, {4}, {0, 1, 2, 3, 4, 5}, {5, 0, 3, 1}}) {
        const Work work;
        const Design some = design.gather(columns, work);
        EXPECT_EQ(some.is_sparse(), raw.is_sparse());
        ASSERT_EQ(some.cols(), std::ssize(columns));
        Index entries = 0;
        for (Index k = 0; k < some.cols(); ++k) {
          const Index j = columns[static_cast<std::size_t>(k)];
          Vector got(9), want(9);
          some.pack({&k, 1}, 0, 9, got.data()), design.pack({&j, 1}, 0, 9, want.data());
          EXPECT_EQ(got, want);
          EXPECT_EQ(some.norms()[k], design.norms()[j]);
          EXPECT_EQ(some.rounding_norms()[k], design.rounding_norms()[j]);
          EXPECT_EQ(some.raw(k), k);
          entries += design.select({&j, 1}).stored_entries();
        }
        EXPECT_EQ(some.stored_entries(), entries);
        EXPECT_EQ(work.entries_read(), entries) << "to copy is to read";
        const Vector v = random_vector(random, 9), factors = random_vector(random, some.cols());
        Vector got, want(some.cols()), sum, same;
        some.transpose_multiply(v, got), design.transpose_multiply(columns, v, want.data());
        EXPECT_EQ(got, want);
        some.multiply(factors, sum), design.multiply(columns, factors, same);
        EXPECT_LE((sum - same).norm(), 1e-14 * (1 + same.norm()));
      }
  }
}

TEST(Gather, OutlivesWhatItWasCopiedFrom) {
  auto values = std::make_shared<std::vector<double>>(std::vector{1.0, 2.0, 3.0});
  const std::vector<std::int32_t> row{0, 1, 1}, start{0, 1, 2, 3};
  Design some;
  {
    const Design design(sparse_columns(
        SparseView<double, std::int32_t>{values->data(), row.data(), start.data(), 2, 3}, nullptr));
    some = design.gather(std::vector<Index>{2, 0});
  }
  values->assign(3, -1);
  EXPECT_EQ(dense_copy(some), (Eigen::Matrix2d() << 0, 1, 3, 0).finished());
}

}  // namespace
}  // namespace tyto
