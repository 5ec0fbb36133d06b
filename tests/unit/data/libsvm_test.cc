#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

Eigen::MatrixXd matrix(Index rows, Index cols, std::initializer_list<double> by_rows) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(by_rows.begin(), rows, cols);
}

TEST(Libsvm, ReadsSparseRows) {
  const TempDir dir;
  const Dataset data = read({dir.write("a.svm",
                                       "# heading\n"
                                       "+1 qid:3 2:.5 9:-2e1 \r\n"
                                       "\n"
                                       "-1.5\t 1:1\t  # the rest is not read: 3:x\n"
                                       "2\n"
                                       "0 1:+3")});
  ASSERT_TRUE(data.design.is_sparse());
  EXPECT_EQ(dense_copy(data.design), matrix(4, 9, {0, .5, 0, 0, 0, 0, 0, 0, -20,  //
                                                   1, 0,  0, 0, 0, 0, 0, 0, 0,    //
                                                   0, 0,  0, 0, 0, 0, 0, 0, 0,    //
                                                   3, 0,  0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(data.response, Eigen::Vector4d(1, -1.5, 2, 0));
  EXPECT_TRUE(data.names.empty());
}

TEST(Libsvm, IsDenseWhereMostEntriesAreThere) {
  const TempDir dir;
  std::string text;
  Eigen::MatrixXd expected(300, 3);
  for (Index i = 0; i < 300; ++i) {
    expected.row(i) << double(i), 0, -double(i);
    text += std::to_string(i) + " 1:" + std::to_string(i) + " 3:-" + std::to_string(i) + "\n";
  }
  const Dataset data = read({dir.write("a.svm", text)});
  EXPECT_FALSE(data.design.is_sparse());
  EXPECT_EQ(dense_copy(data.design), expected);
  EXPECT_EQ(data.response, Vector::LinSpaced(300, 0, 299));
}

TEST(Libsvm, TakesTheNumberOfFeatures) {
  const TempDir dir;
  const std::string path = dir.write("a.svm", "1 1:2\n");
  EXPECT_EQ(read({path}).design.cols(), 1);
  ReadOptions options;
  options.features = 5;
  EXPECT_EQ(read({path}, options).design.cols(), 5);
}

TEST(Libsvm, StacksFilesOfDifferentWidth) {
  const TempDir dir;
  const Dataset data = read({dir.write("a.svm", "1 1:2\n"), dir.write("b.svm", "2 4:3\n")});
  EXPECT_EQ(dense_copy(data.design), matrix(2, 4, {2, 0, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(data.response, Eigen::Vector2d(1, 2));
}

TEST(Libsvm, IsFoundByContent) {
  const TempDir dir;
  EXPECT_EQ(read({dir.write("a.txt", "1\n-1 2:4\n")}).design.cols(), 2);
  EXPECT_EQ(read({dir.write("b", "# c\n\n3 qid:1 7:1")}).design.cols(), 7);
}

}  // namespace
}  // namespace tyto
