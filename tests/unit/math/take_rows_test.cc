#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tyto/math/design.h"

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

}  // namespace
}  // namespace tyto
