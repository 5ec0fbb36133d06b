#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

struct Malformed {
  std::string name, contents, message;  // DIR/ in the message stands for the folder
  ReadOptions options = {};
};

std::string mtx(const std::string& rest) { return "%%MatrixMarket matrix " + rest; }

const ReadOptions kNoTarget{.target_optional = true};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Malformed> libsvm_cases() {
  return {
      {"a.svm", "1 0:1\n", "DIR/a.svm:1: expected an index of at least 1 (indices start at 1), got 0"},
      {"a.svm", "1 1:1\n1 2:1 2:3\n", "DIR/a.svm:2: expected increasing indices, got 2 after 2"},
      {"a.svm", "1 1:1\n\nx 2:1\n", "DIR/a.svm:3: expected a number as label, got 'x'"},
      {"a.svm", "inf 2:1\n", "DIR/a.svm:1: expected a finite label, got 'inf'"},
      {"a.svm", "3:1 4:1\n", "DIR/a.svm:1: expected a number as label, got '3:1'"},
      {"a.svm", "1 2:\n", "DIR/a.svm:1: expected a finite number for feature 2, got ''"},
      {"a.svm", "1 2: 3\n", "DIR/a.svm:1: expected index:value, got '3'; --format csv reads plain tables"},
      {"a.svm", "1 2:nan\n", "DIR/a.svm:1: expected a finite number for feature 2, got 'nan'"},
      {"a.svm", "1 2:1x\n", "DIR/a.svm:1: expected a finite number for feature 2, got '1x'"},
      {"a.svm", "1 2\n", "DIR/a.svm:1: expected index:value, got '2'; --format csv reads plain tables"},
      {"a.svm", "1 -2:1\n", "DIR/a.svm:1: expected index:value, got '-2:1'"},
      {"a.svm", "1 99999999999:1\n", "DIR/a.svm:1: expected an index up to 2147483647, got '99999999999:1'"},
      {"a.svm", "1 2147483647:1\n",
       "DIR/a.svm: expected indices up to 1049600 beside 1 entries, got 2147483647; give the number of "
       "features"},
      {"a.svm", "1 7:1\n", "DIR/a.svm:1: expected at most 6 features, got index 7", {.features = 6}},
      {"a.svm", "1\n2\n", "DIR/a.svm: expected at least one feature, got labels only"},
      {"a.svm", "# nothing\n", "DIR/a.svm: no data rows"},
      {"a.svm", std::string("1 \x01\0\x7f:1\n", 8),
       "DIR/a.svm:1: expected index:value, got '\\x01\\x00\\x7f:1'"},
      {"a.svm",
       "1 1:1\n",
       "target: want none for libsvm files, whose label is the response, got 'y'",
       {.target = "y"}},
      {"a.svm", "1 1:1\n", "drop: want none for libsvm files, got 'y'", {.drop = {"y"}}},
  };
}

std::vector<Malformed> csv_cases() {
  return {
      {"a.csv", "sex,y\n1,2\nmale,3\n", "DIR/a.csv:3: column 'sex': expected a number, got 'male'"},
      {"a.csv", "1,2\n1,male\n", "DIR/a.csv:2: column 1: expected a number, got 'male'"},
      {"a.csv", "a,y\n1,2\n1,2,3\n", "DIR/a.csv:3: expected 2 fields, got 3"},
      {"a.csv", "a,b,c,y\n1,2,3,4\n1,2\n", "DIR/a.csv:3: expected 4 fields, got 2"},
      {"a.csv", "a,b,y\n1,2,3\n1000,20\n", "DIR/a.csv:3: expected 3 fields, got 2"},
      {"a.csv", "a,y\n1,2\ninf,3\n", "DIR/a.csv:3: column 'a': expected a finite number, got 'inf'"},
      {"a.csv", "a,y\n1,2\n1e999,3\n", "DIR/a.csv:3: column 'a': expected a finite number, got '1e999'"},
      {"a.csv", "a,b,y\n1,2,3\n,NA,3\n1,2,\n",
       "DIR/a.csv:3: column 'a': missing value (3 missing values in 2 rows); use --missing mean or "
       "drop-rows"},
      {"a.csv", "a,y\n\n1,?\n",
       "DIR/a.csv:3: column 'y': missing value (1 missing value in 1 row); use --missing mean or drop-rows"},
      {"a.csv",
       "a,y\n,1\n2,\n",
       "DIR/a.csv:2: column 'a': missing value, as in every other row: no row is left",
       {.missing = Missing::kDropRows}},
      {"a.csv", "a,y\n", "DIR/a.csv: no data rows"},
      {"a.csv", "\n \n", "DIR/a.csv: no data rows"},
      {"a.csv", "y\n1\n", "DIR/a.csv: expected at least one feature column beside the response, got none"},
      {"a.csv", "a,y\n1,2\n\"3,4\n5,6\n", "DIR/a.csv:3: expected a closing quote, got the end of the file"},
      {"a.csv", "a,y\n1,\"2\"x\n", "DIR/a.csv:2: column 'y': expected a number, got '\"2\"x'"},
      {"a.csv", "a,b,y\n1,2,3\n", "target: no column 'foo' in DIR/a.csv; known: a, b, y", {.target = "foo"}},
      {"a.csv",
       "1,2\n",
       "target: no column '2' in DIR/a.csv; known: 0 to 1 (the file has no header)",
       {.target = "2"}},
      {"a.csv", "a,b,y\n1,2,3\n", "drop: no column 'z' in DIR/a.csv; known: a, b, y", {.drop = {"z"}}},
      {"a.csv",
       "a,y,y\n1,2,3\n",
       "target: 2 columns are named 'y' in DIR/a.csv; give the number of one: 1, 2",
       {.target = "y"}},
      {"a.csv",
       "a,b,y\n1,2,3\n",
       "target: want a column that is not dropped, got 'b'",
       {.target = "b", .drop = {"b"}}},
      {"a.csv",
       "1,2,3,4\n",
       "DIR/a.csv: expected 2 columns, or one more for the response, got 4",
       {.target_optional = true, .features = 2}},
      {"a.csv", "", "DIR/a.csv: expected data, got an empty file"},
      {"a.txt",
       "\xff\xfe"
       "1\n1",
       "DIR/a.txt: expected UTF-16 text, got half a character at its end"},
      {"a.csv",
       "1,2\n",
       "format: unknown format 'xls'; known: bed, csv, libsvm, mtx, npy, npz, tyto",
       {.format = "xls"}},
  };
}

std::vector<Malformed> npy_cases() {
  const std::string good = bytes_of<double>({1, 2, 3, 4});
  return {
      {"a.npy", "hello, world", "DIR/a.npy: expected an .npy file, got 'hello, w'"},
      {"a.npy", npy_file("<f8", "(2, 2)", good).substr(0, 50),
       "DIR/a.npy: expected the header of an .npy file, got the end of the file"},
      {"a.npy", npy_file("<f8", "(2, 2)", good.substr(1)),
       "DIR/a.npy: expected 32 bytes of data for the shape (2, 2), got 31"},
      {"a.npy", npy_file("<f8", "(4611686018427387904, 4)", good),
       "DIR/a.npy: expected very many bytes of data for the shape (4611686018427387904, 4), got 32"},
      {"a.npy", npy_file("<f8", "(-2, 2)", good),
       "DIR/a.npy: expected a length in the header, got '-2, 2), }'"},
      {"a.npy", npy_file("<f8", "(2, 2, 1)", good),
       "DIR/a.npy: expected an array of one or two dimensions, got more"},
      {"a.npy", npy_file("<f8", "()", good),
       "DIR/a.npy: expected an array of one or two dimensions, got a single number"},
      {"a.npy", npy_file("<f8", "(0, 2)", ""), "DIR/a.npy: no data rows"},
      {"a.npy", npy_file(">f8", "(2, 2)", good), "DIR/a.npy: expected little-endian numbers, got '>f8'"},
      {"a.npy", npy_file("<c16", "(2, 1)", good),
       "DIR/a.npy: expected real numbers such as '<f8' or '<f4', got '<c16'"},
      {"a.npy", npy_file("<f8", "(2, 2)", good, false, 9), "DIR/a.npy: expected .npy version 1 to 3, got 9"},
      {"a.npy", npy_file("<f8", "(4,)", good),
       "DIR/a.npy: expected at least one feature column beside the response, got none"},
      {"a.npy", npy_file("<f8", "(2, 2)", bytes_of<double>({1, 2, kInfinity, 4})),
       "DIR/a.npy: element [1, 0]: expected a finite number, got inf"},
      {"a.npy", npy_file("<f8", "(2, 2)", bytes_of<double>({1, kNan, kNan, kNan})),
       "DIR/a.npy: element [0, 1]: missing value (3 missing values in 2 rows); use --missing mean or "
       "drop-rows"},
      {"a.npy",
       npy_file("<f8", "(2, 2)", good),
       "target: no column '2' in DIR/a.npy; known: 0 to 1, or a file",
       {.target = "2"}},
  };
}

std::vector<Malformed> matrix_market_cases() {
  return {
      {"a.mtx", "1 1 1\n", "DIR/a.mtx:1: expected %%MatrixMarket, got '1 1 1'", kNoTarget},
      {"a.mtx", mtx("coordinate complex general\n"),
       "DIR/a.mtx:1: expected real, integer or pattern, got 'complex'", kNoTarget},
      {"a.mtx", mtx("array pattern general\n"), "DIR/a.mtx:1: expected real or integer, got 'pattern'",
       kNoTarget},
      {"a.mtx", mtx("array real hermitian\n"),
       "DIR/a.mtx:1: expected general, symmetric or skew-symmetric, got 'hermitian'", kNoTarget},
      {"a.mtx", mtx("array real general\n% c\n2\n"), "DIR/a.mtx:3: expected rows and columns, got '2'",
       kNoTarget},
      {"a.mtx", mtx("array real symmetric\n2 3\n"), "DIR/a.mtx:2: expected a square matrix, got '2 3'",
       kNoTarget},
      {"a.mtx", mtx("array real general\n2 2\n1\n2\n3\n"), "DIR/a.mtx: expected 4 values, got 3", kNoTarget},
      {"a.mtx", mtx("array real general\n2 1\n1\nx\n"), "DIR/a.mtx:4: expected a finite number, got 'x'",
       kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 1\n3 1 1\n"),
       "DIR/a.mtx:3: expected a row from 1 to 2, got 3", kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 1\n1 0 1\n"),
       "DIR/a.mtx:3: expected a column from 1 to 2, got 0", kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 1\n1 x 1\n"),
       "DIR/a.mtx:3: expected row, column and value, got '1 x 1'", kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 2\n1 1 1\n"), "DIR/a.mtx: expected 2 entries, got 1",
       kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 1\n1 1 1\n2 2 2\n"),
       "DIR/a.mtx:4: expected the end after 1 entries, got '2 2 2'", kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2 1\n1 1\n"), "DIR/a.mtx:3: expected a finite number, got ''",
       kNoTarget},
      {"a.mtx", mtx("coordinate real general\n2 2000000000 1\n1 1 1\n"),
       "DIR/a.mtx: expected sizes up to 1049600 beside 1 entries, got 2 x 2000000000", kNoTarget},
      {"a.mtx", mtx("array real general\n1 1\n1\n"),
       "response: want a file with the response of DIR/a.mtx (--response FILE), got none"},
  };
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::string message_of(const std::vector<std::string>& files, const ReadOptions& options) {
  try {
    read(files, options);
  } catch (const DataError& error) {
    return error.what();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Malformed, IsRefusedWithPlaceAndReason) {
  for (const auto& cases : {libsvm_cases(), csv_cases(), npy_cases(), matrix_market_cases()})
    for (const Malformed& c : cases) {
      const TempDir dir;
      const std::string message = message_of({dir.write(c.name, c.contents)}, c.options);
      EXPECT_EQ(replaced(message, dir.path(""), "DIR/"), c.message);
    }
}

TEST(Malformed, FilesThatDoNotFitTogether) {
  const TempDir dir;
  const std::string a = dir.write("a.csv", "a,y\n1,2\n"), svm = dir.write("a.svm", "1 1:1\n");
  const auto message = [&](const std::vector<std::string>& files) {
    return replaced(replaced(message_of(files, {}), dir.path(""), "DIR/"), dir.path(""), "DIR/");
  };
  EXPECT_EQ(message({}), "files: want at least one, got none");
  EXPECT_EQ(message({a, svm}), "DIR/a.svm: expected csv as in DIR/a.csv, got libsvm");
  EXPECT_EQ(message({a, dir.write("b.csv", "b,y\n1,2\n")}),
            "DIR/b.csv:1: expected column 'a' as in DIR/a.csv, got 'b'");
  EXPECT_EQ(message({a, dir.write("b.csv", "a,b,y\n1,2,3\n")}),
            "DIR/b.csv:1: expected 2 columns as in DIR/a.csv, got 3");
  EXPECT_EQ(message({a, dir.write("b.csv", "a,y\n1,x\n")}),
            "DIR/b.csv:2: column 'y': expected a number, got 'x'");
  EXPECT_EQ(message({svm, dir.write("b.svm", "1 1:1\n1 x\n")}), "DIR/b.svm:2: expected index:value, got 'x'");
}

TEST(Malformed, PathsThatCannotBeRead) {
  const TempDir dir;
  const std::string missing = dir.path("missing.csv"), folder = dir.path("folder"),
                    secret = dir.write("secret", "1,2");
  EXPECT_EQ(message_of({missing}, {}), missing + ": cannot open: No such file or directory");
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  EXPECT_EQ(message_of({folder}, {}), folder + ": expected a file, got a folder");
  EXPECT_EQ(message_of({"/dev/null"}, {}), "/dev/null: expected data, got an empty file");
  if (::geteuid() != 0) {
    ASSERT_EQ(::chmod(secret.c_str(), 0), 0);
    EXPECT_EQ(message_of({secret}, {}), secret + ": cannot open: Permission denied");
  }
  const std::string x = dir.write("x.mtx", mtx("array real general\n2 1\n1\n2\n"));
  EXPECT_EQ(message_of({x}, {.target = missing}), missing + ": cannot open: No such file or directory");
  const std::string y = dir.write("y.csv", "y\n1\n");
  EXPECT_EQ(message_of({x}, {.target = y}), y + ": expected 2 rows as in the matrix, got 1");
  const std::string two = dir.write("two.csv", "1,2\n3,4\n");
  EXPECT_EQ(message_of({x}, {.target = two}),
            "target: want one of the columns of " + two + " (--response " + two + " --target NAME): 0, 1");
}

}  // namespace
}  // namespace tyto
