#include "tyto/data/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFile, WritesAndReplaces) {
  const TempDir dir;
  const std::string path = dir.path("a");
  write_atomically(path, "one");
  EXPECT_EQ(contents_of(path), "one");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  write_atomically(path, std::string(1 << 20, 'x'));
  EXPECT_EQ(contents_of(path).size(), std::size_t{1} << 20);
  EXPECT_EQ(files_in(dir.path("")), 1);
}

TEST(AtomicFile, FollowsLinks) {
  const TempDir dir;
  fs::create_directory(dir.path("sub"));
  fs::create_symlink("sub/target", dir.path("link"));
  write_atomically(dir.path("link"), "one");  // the target does not exist yet
  write_atomically(dir.path("link"), "two");
  EXPECT_TRUE(fs::is_symlink(dir.path("link")));
  EXPECT_EQ(contents_of(dir.path("sub/target")), "two");
  EXPECT_EQ(files_in(dir.path("sub")), 1);
}

TEST(AtomicFile, WritesToWhatIsNoFile) {
  const TempDir dir;
  write_atomically("/dev/null", "gone");
  const std::string path = dir.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = contents_of(path); });
  write_atomically(path, "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(AtomicFile, LeavesNothingBehindOnFailure) {
  const TempDir dir;
  const auto message = [](const std::string& path) {
    try {
      write_atomically(path, "x");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string nowhere = dir.path("no/such/folder"), folder = dir.path("folder");
  EXPECT_EQ(message(nowhere), nowhere + ": cannot write: No such file or directory");
  fs::create_directory(folder);
  EXPECT_EQ(message(folder), folder + ": cannot write: Is a directory");
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(message("/dev/full"), "/dev/full: cannot write: No space left on device");
  }
  EXPECT_EQ(files_in(dir.path("")), 1);
}

TEST(AtomicFile, AllOrNone) {
  const TempDir dir;
  dir.write("a", "old");
  {
    AtomicFiles files;
    files.add(dir.path("a"), "new");
    files.add(dir.path("b"), "new");
    EXPECT_EQ(contents_of(dir.path("a")), "old");
    EXPECT_THROW(files.add(dir.path("no/c"), "new"), DataError);
  }
  EXPECT_EQ(contents_of(dir.path("a")), "old");
  EXPECT_EQ(files_in(dir.path("")), 1);
  AtomicFiles files;
  files.add(dir.path("a"), "new");
  files.add(dir.path("b"), "newer");
  files.commit();
  EXPECT_EQ(contents_of(dir.path("a")), "new");
  EXPECT_EQ(contents_of(dir.path("b")), "newer");
  EXPECT_EQ(files_in(dir.path("")), 2);
}

TEST(AtomicFile, WhatCannotBeWrittenThroughKeepsTheOthersBack) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const TempDir dir;
  dir.write("a", "old");
  AtomicFiles files;
  files.add("/dev/full", "new");
  files.add(dir.path("a"), "new");
  EXPECT_THROW(files.commit(), DataError);
  EXPECT_EQ(contents_of(dir.path("a")), "old");
}

TEST(AtomicFile, RemovesWhatKilledRunsLeft) {
  const TempDir dir;
  dir.write("a.tyto-0123456789abcdef.tmp", "left over");
  for (const char* other : {"a.tyto-0123456789abcdeg.tmp", "a.tyto-0123456789abcde.tmp", "a.tmp",
                            "b.tyto-0123456789abcdef.tmp", "aa.tyto-0123456789abcdef.tmp"})
    dir.write(other, "not ours");
  fs::create_directory(dir.path("a.tyto-1123456789abcdef.tmp"));
  AtomicFiles living;
  living.add(dir.path("a"), "living");
  write_atomically(dir.path("a"), "new");  // leaves alone what `living` is about to rename
  EXPECT_FALSE(fs::exists(dir.path("a.tyto-0123456789abcdef.tmp")));
  EXPECT_EQ(files_in(dir.path("")), 8);
  living.commit();
  EXPECT_EQ(contents_of(dir.path("a")), "living");
  EXPECT_EQ(files_in(dir.path("")), 7);
}

TEST(AtomicFile, ReadsNoDeviceWithoutEnd) {
  EXPECT_EQ(read_whole("/dev/null"), "");
  EXPECT_THROW(read_whole("/dev/zero"), DataError);
}

}  // namespace
}  // namespace tyto
