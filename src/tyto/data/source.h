#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

// The bytes of a file, decompressed, block after block.
class Stream {
 public:
  // `memory`: the file's bytes, where it cannot be opened again; it must outlive the stream.
  Stream(std::string name, const std::string* memory);
  // The members of a zip archive: each has to be asked for by next_member().
  struct Zip {};
  Stream(std::string name, const std::string* memory, Zip);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  std::string_view next_block();  // valid until the next call; empty at the end
  // Exactly `size` bytes; false where the stream ends before.
  bool read(void* to, std::size_t size);
  bool is_compressed() const;
  bool next_member(std::string& name);  // of a zip archive; false at its end

 private:
  struct State;
  void open(const std::string* memory);
  bool next_entry(std::string& name);
  [[noreturn]] void fail_as_archive() const;

  std::unique_ptr<State> state_;
  std::string_view rest_;  // of the last block, for read()
};

// A file that can be read several times. What cannot be opened twice, such as a pipe, is kept in memory.
class Source {
 public:
  explicit Source(std::string name);  // throws DataError unless it can be read and is not empty

  const std::string& name() const { return name_; }
  Stream open() const { return Stream(name_, spooled_ ? &memory_ : nullptr); }
  std::vector<std::string> members() const;  // of a zip archive, by name
  Stream open_member(const std::string& name) const;
  std::string beginning(std::size_t size) const;  // its first bytes, decompressed
  std::size_t size() const;                       // of all its bytes, decompressed
  // A regular file that is not compressed, so that its parts can be read where they stand.
  bool is_plain() const { return !spooled_ && !compressed_; }

 private:
  void take_wide_text();

  std::string name_;
  bool spooled_ = false, compressed_ = false;
  std::string memory_;
};

}  // namespace tyto
