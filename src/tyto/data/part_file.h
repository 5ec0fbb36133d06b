#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tyto/columns/stored_type.h"

namespace tyto {

// What a .tyto file that is being written says of itself, for a run that goes on with it.
struct PartJournal {
  std::uint64_t inputs = 0;  // a checksum of what it is made of, and how
  StoredType type = StoredType::kDouble;
  Index rows = 0, cols = 0, done = 0;  // done: rows that are on the disk
  Index dropped = 0;
};

// A file under a temporary name, "output.part", locked for as long as it is open. All throw DataError
// "output: cannot write: reason".
class PartFile {
 public:
  // What is there already of the same inputs is gone on with; of others, it is written over.
  PartFile(std::string output, std::uint64_t inputs);
  ~PartFile();  // closes; the file stays, unless it was discarded
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& path() const { return path_; }
  const PartJournal& journal() const { return journal_; }
  void start(const PartJournal& journal, std::uint64_t bytes);  // from nothing, with so much room
  void write(std::string_view bytes, std::uint64_t place);
  void write(std::span<const std::byte> bytes, std::uint64_t place);
  void advance(Index done);  // once the rows are on the disk
  // Ends the file there, makes it `output`, and closes it.
  void commit(std::uint64_t bytes);
  void discard();  // removes it

 private:
  [[noreturn]] void fail_write(int error) const;
  void sync();
  void write_journal();
  void read_journal();

  std::string output_, path_;
  int fd_ = -1;
  PartJournal journal_;
};

}  // namespace tyto
