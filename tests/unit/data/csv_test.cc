#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

using Names = std::vector<std::string>;

class Csv : public testing::Test {
 protected:
  Dataset read_text(const std::string& text, const ReadOptions& options = {}) const {
    return read({dir_.write("a.csv", text)}, options);
  }
  static Eigen::MatrixXd matrix(Index rows, Index cols, std::initializer_list<double> by_rows) {
    return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(by_rows.begin(), rows, cols);
  }
  TempDir dir_;
};

TEST_F(Csv, TakesTheLastColumnByDefault) {
  EXPECT_EQ(read_text("1,2,3\n").response[0], 3);
  const Dataset data = read_text("a,b,y\n1,2,3\n4,+5e0,.6\n");
  EXPECT_EQ(dense_copy(data.design), matrix(2, 2, {1, 2, 4, 5}));
  EXPECT_EQ(data.response, Eigen::Vector2d(3, .6));
  EXPECT_EQ(data.names, (Names{"a", "b"}));
  EXPECT_EQ(data.response_name, "y");
}

TEST_F(Csv, FindsHeaderAndDelimiter) {
  for (const char* text :
       {"1,2,3\n4,5,6", "1;2;3\n4;5;6\n", "1\t2\t3\r\n4\t5\t6\r\n\r\n", "  1 2   3 \n4\t5 6\n",
        "\xef\xbb\xbf\n1, 2, 3\n\n\n4 ,5 ,6\n", "\"1\",\"2\",3\n\"4\",5,\"6\""}) {
    const Dataset data = read_text(text);
    EXPECT_EQ(dense_copy(data.design), matrix(2, 2, {1, 2, 4, 5})) << text;
    EXPECT_EQ(data.response, Eigen::Vector2d(3, 6)) << text;
    EXPECT_TRUE(data.names.empty()) << text;
  }
  EXPECT_EQ(read_text("y,1377,1748\n1,2,3\n", {.target = "1748"}).names, (Names{"y", "1377"}));
}

TEST_F(Csv, FindsTheTargetByItsName) {
  const Dataset data = read_text("Y,1377,1748\n1,2,3\n");
  EXPECT_EQ(data.names, (Names{"1377", "1748"}));
  EXPECT_EQ(data.response[0], 1);
  EXPECT_TRUE(data.response_by_name);
  EXPECT_FALSE(read_text("1,2,3\n").response_by_name);
  EXPECT_THROW(read_text("a,b\n1,2\n"), InvalidArgument);
  EXPECT_THROW(read_text("label,y\n1,2\n"), InvalidArgument);
}

TEST_F(Csv, TakesTheHeaderAsItIsTold) {
  const std::string text = "1,2,3\n0.5,7,2\n";
  EXPECT_EQ(read_text(text).warnings.size(), 1U);
  EXPECT_EQ(read_text(text).design.rows(), 2);
  const Dataset told = read_text(text, {.target = "3", .header = Header::kYes});
  EXPECT_EQ(told.names, (Names{"1", "2"}));
  EXPECT_EQ(told.design.rows(), 1);
  EXPECT_TRUE(told.warnings.empty());
  EXPECT_TRUE(read_text(text, {.header = Header::kNo}).warnings.empty());
  EXPECT_TRUE(read_text("1,2,3\n2,3,4\n0.5,1,1\n").warnings.empty());
}

TEST_F(Csv, ReadsLinesThatEndAsOnOldMacs) {
  const Dataset data = read_text("a,b,y\r1,2,3\r4,5,6\r");
  EXPECT_EQ(dense_copy(data.design), matrix(2, 2, {1, 2, 4, 5}));
}

TEST_F(Csv, FollowsQuotes) {
  const Dataset data = read_text("\"a, \"\"b\"\"\",\"two\nlines\",y\n1,\"2\",3\n");
  EXPECT_EQ(data.names, (Names{"a, \"b\"", "two\nlines"}));
  EXPECT_EQ(dense_copy(data.design), matrix(1, 2, {1, 2}));
}

TEST_F(Csv, SelectsTheTarget) {
  const std::string text = "2,0,y\n1,2,3\n";
  EXPECT_EQ(read_text(text, {.target = "0"}).response[0], 2);  // the name wins over the number
  EXPECT_EQ(read_text(text, {.target = "1"}).response[0], 2);
  EXPECT_EQ(read_text(text, {.target = "y"}).response[0], 3);
  EXPECT_EQ(read_text("1,2,3\n", {.target = "0"}).response[0], 1);
}

TEST_F(Csv, DropsColumnsUnread) {
  const Dataset data = read_text("sex,a,y,id\nmale,1,2,x\nfemale,,4,y\n",
                                 {.drop = {"sex", "3"}, .missing = Missing::kDropRows});
  EXPECT_EQ(dense_copy(data.design), matrix(1, 1, {1}));
  EXPECT_EQ(data.response_name, "y");
}

TEST_F(Csv, TakesRowNamesOfR) {
  for (const char* text :
       {"\"a\" \"y\"\n\"r1\" 1 2\n\"r 2\" 3 4\n", "\"\",\"a\",\"y\"\n\"r1\",1,2\n\"2\",3,4\n"}) {
    const Dataset data = read_text(text);
    EXPECT_EQ(data.names, Names{"a"}) << text;
    EXPECT_EQ(dense_copy(data.design), matrix(2, 1, {1, 3})) << text;
    EXPECT_EQ(read_text(text, {.target = "0"}).response, Eigen::Vector2d(1, 3)) << text;
  }
}

TEST_F(Csv, DropsRowsWithMissingValues) {
  std::string text = "a,b,y\n";
  for (const char* missing : {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?", "."})
    text += std::string("1,2,") + missing + "\n" + missing + ",2,3\n7,8,9\n";
  const Dataset data = read_text(text, {.missing = Missing::kDropRows});
  EXPECT_EQ(data.design.rows(), 9);
  EXPECT_EQ(dense_copy(data.design).colwise().sum(), Eigen::RowVector2d(63, 72));
  EXPECT_EQ(data.response, Vector::Constant(9, 9));
  EXPECT_NEAR(data.design.norms()[0], 21, 1e-12);
  EXPECT_TRUE(std::isnan(read_text("a,y\n1,NA\n", {.missing = Missing::kKeep}).response[0]));
}

TEST_F(Csv, ReadsNewDataWithAndWithoutResponse) {
  const ReadOptions named{.target = "y", .target_optional = true, .features = 2};
  EXPECT_EQ(read_text("a,b\n1,2\n", named).response.size(), 0);
  EXPECT_EQ(read_text("a,y,b\n1,2,3\n", named).response[0], 2);
  const ReadOptions numbered{.target = "0", .target_optional = true, .features = 2};
  EXPECT_EQ(read_text("1,2\n", numbered).response.size(), 0);
  EXPECT_EQ(read_text("1,2,3\n", numbered).response[0], 1);
  EXPECT_EQ(read_text("1,2,3\n", {.target_optional = true, .features = 2}).response[0], 3);
  EXPECT_EQ(read_text("a,b\n1,2\n", numbered).response.size(), 0);
}

TEST_F(Csv, StacksFiles) {
  const Dataset data = read({dir_.write("1.csv", "a,y\n1,2\n"), dir_.write("2.csv", "a,y\r\n3,4\r\n5,6")});
  EXPECT_EQ(dense_copy(data.design), matrix(3, 1, {1, 3, 5}));
  EXPECT_EQ(data.response, Eigen::Vector3d(2, 4, 6));
}

TEST_F(Csv, TransposesTallAndWideMatrices) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {1, 500}, {500, 1}, {127, 9}, {128, 9}, {333, 7}}) {
    std::string text;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) text += std::to_string(i * cols + j) + ",";
      text += "0\n";
    }
    const Vector numbers = Vector::LinSpaced(rows * cols, 0, static_cast<double>(rows * cols - 1));
    const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> expected(numbers.data(), rows,
                                                                                    cols);
    EXPECT_EQ(dense_copy(read_text(text).design), expected) << rows << " x " << cols;
  }
}

}  // namespace
}  // namespace tyto
