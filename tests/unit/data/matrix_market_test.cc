#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

class MatrixMarket : public testing::Test {
 protected:
  Dataset read_text(const std::string& text) const {
    return read({dir_.write("a.mtx", "%%MatrixMarket matrix " + text)}, {.target_optional = true});
  }
  TempDir dir_;
};

TEST_F(MatrixMarket, ReadsCoordinates) {
  const Dataset data = read_text("coordinate real general\n% c\n\n3 2 4\n3 1 5\n1 1 -1e0\n2 2 4\n3 1 0.5\n");
  ASSERT_TRUE(data.design.is_sparse());
  EXPECT_EQ(data.design.stored_entries(), 3);  // duplicates are summed
  EXPECT_EQ(dense_copy(data.design), (Eigen::MatrixXd(3, 2) << -1, 0, 0, 4, 5.5, 0).finished());
}

TEST_F(MatrixMarket, ReadsPatternsAndSymmetry) {
  EXPECT_EQ(dense_copy(read_text("coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n").design),
            (Eigen::Matrix2d() << 1, 1, 1, 0).finished());
  EXPECT_EQ(dense_copy(read_text("coordinate integer skew-symmetric\n2 2 1\n2 1 3\n").design),
            (Eigen::Matrix2d() << 0, -3, 3, 0).finished());
}

TEST_F(MatrixMarket, ReadsArrays) {
  EXPECT_EQ(dense_copy(read_text("array real general\n2 3\n1\n2\n3\n4\n5\n6\n").design),
            (Eigen::MatrixXd(2, 3) << 1, 3, 5, 2, 4, 6).finished());
  EXPECT_EQ(dense_copy(read_text("array real symmetric\n2 2\n1\n2\n3\n").design),
            (Eigen::Matrix2d() << 1, 2, 2, 3).finished());
  EXPECT_EQ(dense_copy(read_text("array real skew-symmetric\n2 2\n7\n").design),
            (Eigen::Matrix2d() << 0, -7, 7, 0).finished());
}

TEST_F(MatrixMarket, StacksAndTakesTheResponse) {
  const std::string a = dir_.write("a", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 3\n");
  const std::string y = dir_.write("y.csv", "y\n5\n6\n");
  const Dataset data = read({a, a}, {.target = y});
  EXPECT_EQ(dense_copy(data.design), (Eigen::Matrix2d() << 0, 3, 0, 3).finished());
  EXPECT_EQ(data.response, Eigen::Vector2d(5, 6));
}

}  // namespace
}  // namespace tyto
