#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

class Npy : public testing::Test {
 protected:
  // A 2 x 3 array 1 .. 6 with the last column as response.
  void expect_one_to_six(const std::string& file, const char* what) const {
    const Dataset data = read({dir_.write("a.npy", file)});
    EXPECT_EQ(dense_copy(data.design), (Eigen::Matrix2d() << 1, 2, 4, 5).finished()) << what;
    EXPECT_EQ(data.response, Eigen::Vector2d(3, 6)) << what;
  }
  template <class Element>
  void expect_type(const char* type) const {
    const std::vector<Element> by_rows{1, 2, 3, 4, 5, 6}, by_columns{1, 4, 2, 5, 3, 6};
    for (const int version : {1, 2, 3}) {
      expect_one_to_six(npy_file(type, "(2, 3)", bytes_of(by_rows), false, version), type);
      expect_one_to_six(npy_file(type, "(2, 3)", bytes_of(by_columns), true, version), type);
    }
  }
  TempDir dir_;
};

TEST_F(Npy, ReadsEveryType) {
  expect_type<double>("<f8");
  expect_type<float>("<f4");
  expect_type<std::int8_t>("|i1");
  expect_type<std::uint8_t>("|u1");
  expect_type<std::int16_t>("<i2");
  expect_type<std::uint16_t>("<u2");
  expect_type<std::int32_t>("<i4");
  expect_type<std::uint32_t>("<u4");
  expect_type<std::int64_t>("<i8");
  expect_type<std::uint64_t>("<u8");
}

TEST_F(Npy, KeepsFloats) {
  const std::string file = npy_file("<f4", "(2, 2)", bytes_of<float>({.1f, 2, .3f, 4}));
  const Dataset data = read({dir_.write("a.npy", file)});
  EXPECT_EQ(dense_copy(data.design)(0, 0), static_cast<double>(.1f));
}

TEST_F(Npy, TakesTheResponseFromAFile) {
  const std::string x = dir_.write("x.npy", npy_file("<f8", "(2, 1)", bytes_of<double>({1, 2})));
  for (const std::string& y :
       {dir_.write("y.npy", npy_file("<f8", "(2,)", bytes_of<double>({3, 4}))),
        dir_.write("y.csv", "y\n3\n4\n"), dir_.write("y.txt", "3\n4"),
        dir_.write("y.mtx", "%%MatrixMarket matrix array real general\n2 1\n3\n4\n")}) {
    const Dataset data = read({x}, {.target = y});
    EXPECT_EQ(data.response, Eigen::Vector2d(3, 4)) << y;
    EXPECT_EQ(data.design.cols(), 1) << y;
  }
}

TEST_F(Npy, DropsRowsWithMissingValues) {
  const std::string x =
      dir_.write("x.npy", npy_file("<f8", "(3, 2)", bytes_of<double>({1, 2, NAN, 4, 5, 6})));
  EXPECT_EQ(read({x}, {.missing = Missing::kDropRows}).response, Eigen::Vector2d(2, 6));
  const std::string y = dir_.write("y.csv", "1\nNA\n3\n");
  const std::string complete = dir_.write("c.npy", npy_file("<f8", "(3, 1)", bytes_of<double>({1, 2, 3})));
  EXPECT_EQ(read({complete}, {.target = y, .missing = Missing::kDropRows}).response, Eigen::Vector2d(1, 3));
}

TEST_F(Npy, StacksRowsAndColumns) {
  const std::string c = dir_.write("c.npy", npy_file("<f4", "(1, 2)", bytes_of<float>({1, 2})));
  const std::string f =
      dir_.write("f.npy", npy_file("|i1", "(2, 2)", bytes_of<std::int8_t>({3, 5, 4, 6}), true));
  const Dataset data = read({c, f, c});
  EXPECT_EQ(dense_copy(data.design), Eigen::Vector4d(1, 3, 5, 1));
  EXPECT_EQ(data.response, Eigen::Vector4d(2, 4, 6, 2));
}

TEST_F(Npy, ReadsNewDataWithAndWithoutResponse) {
  const std::string x = dir_.write("x.npy", npy_file("<f8", "(1, 2)", bytes_of<double>({1, 2})));
  EXPECT_EQ(read({x}, {.target_optional = true, .features = 2}).response.size(), 0);
  EXPECT_EQ(read({x}, {.target_optional = true, .features = 1}).response[0], 2);
  EXPECT_EQ(read({x}, {.target = "0", .target_optional = true, .features = 1}).response[0], 1);
}

}  // namespace
}  // namespace tyto
