#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyto {

// Files that are replaced together. Each is written in full to a temporary name beside its place, and the
// first takes its place only once all are there: a failure before that leaves every old file as it was. Each
// one is replaced as a whole: a reader, or a crash in between, meets the old contents or the new ones. A
// symbolic link stays, and what it points to is replaced. What is no regular file (/dev/stdout, a pipe) is
// written to directly, after the temporary files and before the first of them takes its place. Temporary
// files that killed runs left of the same file are removed. All throw DataError "path: cannot write: reason".
class AtomicFiles {
 public:
  AtomicFiles();
  ~AtomicFiles();  // removes what was not committed
  AtomicFiles(const AtomicFiles&) = delete;
  AtomicFiles& operator=(const AtomicFiles&) = delete;

  void add(const std::string& path, std::string_view contents);
  void write_others();  // those that are no regular files; commit() does so unless it was done
  void commit();

 private:
  struct Staged;

  std::vector<std::unique_ptr<Staged>> staged_;
  std::vector<std::pair<std::string, std::string>> others_;  // path and contents
};

void write_atomically(const std::string& path, std::string_view contents);  // one file

// The contents of a file. Throws DataError "path: cannot read: reason", also for a device without an end and
// for what would take more than half of the memory.
std::string read_whole(const std::string& path);
std::string read_all(const std::string& name, int fd);  // the rest of an open file, with the same limits

}  // namespace tyto
