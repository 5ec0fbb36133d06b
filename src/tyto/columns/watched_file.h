#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace tyto {

// Memory for direct reads: whole blocks of the disk.
class ReadBuffer {
 public:
  static constexpr std::uint64_t kBlock = 4096;
  explicit ReadBuffer(std::size_t bytes);  // rounded up to blocks, and one more
  std::byte* data() { return data_.get(); }
  std::uint64_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::uint64_t capacity_;
  std::unique_ptr<std::byte, Free> data_;
};

// A file that is to stay as it is while it is read, past the system's cache where the file system can do
// that. Several threads may read at once, each with a buffer of its own. All throw DataError, where a read
// fails and where the file is no longer what it was.
class WatchedFile {
 public:
  WatchedFile(std::string path, std::uint64_t least_bytes);
  ~WatchedFile();
  WatchedFile(const WatchedFile&) = delete;
  WatchedFile& operator=(const WatchedFile&) = delete;

  int descriptor() const { return plain_; }
  std::uint64_t size() const { return size_; }
  void check() const;  // size and time of change
  // The bytes begin .. end - 1, which are in the buffer until it is used again; at most its capacity less two
  // blocks. The file was what it had been when they had been read.
  const std::byte* read(std::uint64_t begin, std::uint64_t end, ReadBuffer& buffer) const;
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  using Time = std::pair<std::int64_t, std::int64_t>;  // seconds and nanoseconds
  std::pair<std::uint64_t, Time> state() const;

  std::string path_;
  int plain_ = -1, direct_ = -1;
  std::uint64_t size_ = 0;
  Time changed_;
  mutable std::atomic<bool> takes_direct_ = false;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace tyto
