#include "tyto/data/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

std::string many_rows(Index rows) {
  std::string text = "a,b,y\n";
  for (Index i = 0; i < rows; ++i)
    text +=
        std::to_string(i * 7919 % 1000) + "," + std::to_string(i) + "," + std::to_string(i * i % 97) + "\n";
  return text;
}

TEST(Source, ReadsEveryCompression) {
  const TempDir dir;
  const std::string text = many_rows(50000);  // more than one block
  const Dataset plain = read({dir.write("a.csv", text)});
  for (const char* extension : {"gz", "bz2", "xz", "zst"}) {
    for (const std::string& name : {std::string("a.csv.") + extension, std::string("no_extension")}) {
      const Dataset data = read({dir.write(name, compressed(text, extension))});
      EXPECT_EQ(dense_copy(data.design), dense_copy(plain.design)) << extension;
      EXPECT_EQ(data.response, plain.response) << extension;
    }
  }
}

TEST(Source, RefusesWhatIsCutOff) {
  const TempDir dir;
  const std::string text = many_rows(20000);
  for (const char* extension : {"gz", "bz2", "xz", "zst"}) {
    const std::string whole = compressed(text, extension);
    for (const std::size_t size : {std::size_t{1}, std::size_t{20}, whole.size() / 2, whole.size() - 1}) {
      const std::string path = dir.write(std::string("a.csv.") + extension, whole.substr(0, size));
      EXPECT_THROW(read({path}), DataError) << extension << " " << size;
    }
  }
}

TEST(Source, ReadsAPipe) {
  const TempDir dir;
  for (const std::string& contents : {many_rows(40000), compressed(many_rows(40000), "gz")}) {
    const std::string path = dir.path("pipe" + std::to_string(contents.size()));
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << contents; });
    const Dataset data = read({path}, {.format = "csv"});
    writer.join();
    EXPECT_EQ(data.design.rows(), 40000);
  }
}

TEST(Source, ReadsAResponseFromAPipe) {
  const TempDir dir;
  const std::string x = dir.write("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n3\n4\n");
  const std::string path = dir.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "1\n2\n"; });
  const Dataset data = read({x}, {.target = path});
  writer.join();
  EXPECT_EQ(data.response, Eigen::Vector2d(1, 2));
}

TEST(Source, SurvivesAFileThatChanges) {
  const TempDir dir;
  const std::vector<std::string> versions{
      many_rows(3000),          many_rows(2000),          "1 2:3\n",
      "a,b,c,d,y\n1,2,3,4,5\n", std::string(50000, '\n'), many_rows(3000) + "9,9,9,9,9\n"};
  const std::string path = dir.write("a.csv", versions[0]);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::size_t i = 0; !stop; ++i) dir.write("a.csv", versions[i % versions.size()]);
  });
  for (int i = 0; i < 300; ++i) {
    for (const char* format : {"csv", "libsvm"}) {
      try {
        read({path}, {.format = format});
      } catch (const DataError&) {
      } catch (const InvalidArgument&) {
      }
    }
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace tyto
