#include <gtest/gtest.h>

#include <random>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

struct Valid {
  std::string name, contents;
};

std::vector<Valid> valid_files() {
  const std::string csv = "a,\"b \"\"c\"\"\",y\r\n1,2.5e1,NA\n\"3\",4,5\n";
  std::vector<Valid> files{
      {"a.svm", "# c\n+1 qid:1 1:2 3:-4e1\n-1 2:.5 # d\n\n1 1:1 2:2 3:3\n"},
      {"a.csv", csv},
      {"a.txt", "\xef\xbb\xbf\"x\" \"y\"\n\"1\" 2 3\n\"2\" 4 5\n"},
      {"b.npy", npy_file("<f8", "(3, 2)", bytes_of<double>({1, 2, 3, 4, 5, 6}))},
      {"c.npy", npy_file("|i1", "(2, 3)", bytes_of<std::int8_t>({1, 2, 3, 4, 5, 6}), true, 2)},
      {"a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 2\n3 1 -1\n2 2 1e1\n"},
      {"b.mtx", "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n"},
  };
  for (const std::string extension : {"gz", "bz2", "xz", "zst"})
    files.push_back({"a.csv." + extension, compressed(csv, extension)});
  return files;
}

// Read as its name says, and by what the content looks like.
void expect_result_or_error(const TempDir& dir, const Valid& file, std::string_view contents) {
  const ReadOptions options{.target_optional = true, .missing = Missing::kDropRows};
  for (const std::string& name : {file.name, std::string("unknown")}) {
    const std::string path = dir.write(name, contents);
    try {
      const Dataset data = read({path}, options);
      EXPECT_GE(data.design.rows(), 1);
      EXPECT_GE(data.design.cols(), 1);
      EXPECT_LE(data.design.cols(), 1 << 21);
      EXPECT_TRUE(data.response.size() == 0 || data.response.size() == data.design.rows());
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    } catch (const InvalidArgument&) {
    }
  }
}

TEST(Fuzz, EveryPrefix) {
  const TempDir dir;
  for (const Valid& file : valid_files())
    for (std::size_t size = 0; size <= file.contents.size(); ++size)
      expect_result_or_error(dir, file, std::string_view(file.contents).substr(0, size));
}

void change_somewhere(std::string& contents, std::mt19937_64& random) {
  constexpr std::string_view kLikely = "0123456789.:,;-+e\"\n\r\t #%nN(){}'";
  const std::size_t at = random() % contents.size();
  const char c = random() % 3 == 0 ? static_cast<char>(random()) : kLikely[random() % kLikely.size()];
  switch (random() % 4) {
    case 0:
      contents.insert(at, 1, c);
      break;
    case 1:
      contents.erase(at, 1 + random() % 3);
      break;
    case 2:
      contents.insert(at, contents.substr(random() % contents.size(), random() % 9));
      break;
    default:
      contents[at] = c;
  }
  if (contents.empty()) contents.push_back('\n');
}

TEST(Fuzz, RandomChanges) {
  const TempDir dir;
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const Valid& file : valid_files())
    for (int trial = 0; trial < 400; ++trial) {
      std::string contents = file.contents;
      for (auto changes = 1 + random() % 4; changes > 0; --changes) change_somewhere(contents, random);
      expect_result_or_error(dir, file, contents);
    }
}

}  // namespace
}  // namespace tyto
