#ifndef _WIN32
#include "tyto/columns/watched_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "tyto/base/error.h"

namespace tyto {
namespace {

constexpr std::uint64_t kBlock = ReadBuffer::kBlock;

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

DataError cannot_read(const std::string& path, int error) {
  return DataError(path + ": cannot read: " + std::generic_category().message(error));
}

#ifdef O_DIRECT
constexpr int kDirect = O_DIRECT;
#else
constexpr int kDirect = 0;
#endif

}  // namespace

ReadBuffer::ReadBuffer(std::size_t bytes)
    : capacity_(rounded_up(bytes) + 2 * kBlock),
      data_(static_cast<std::byte*>(std::aligned_alloc(kBlock, static_cast<std::size_t>(capacity_)))) {
  if (!data_) throw std::bad_alloc();
}

void ReadBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

WatchedFile::WatchedFile(std::string path, std::uint64_t least_bytes) : path_(std::move(path)) {
  plain_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (plain_ < 0) throw cannot_read(path_, errno);
  try {
    std::tie(size_, changed_) = state();
    if (size_ < least_bytes)
      throw DataError(path_ + ": expected " + std::to_string(least_bytes) + " bytes, got " +
                      std::to_string(size_));
  } catch (...) {
    ::close(plain_);
    throw;
  }
  if (kDirect != 0) direct_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | kDirect);
  takes_direct_ = direct_ >= 0;
}

WatchedFile::~WatchedFile() {
  if (direct_ >= 0) ::close(direct_);
  if (plain_ >= 0) ::close(plain_);
}

std::pair<std::uint64_t, WatchedFile::Time> WatchedFile::state() const {
  struct stat status {};
  if (::fstat(plain_, &status) != 0) throw cannot_read(path_, errno);
  if (!S_ISREG(status.st_mode)) throw DataError(path_ + ": expected a file, to read columns anywhere in it");
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  return {static_cast<std::uint64_t>(status.st_size), {time.tv_sec, time.tv_nsec}};
}

void WatchedFile::check() const {
  const auto [size, changed] = state();
  if (size < size_)
    throw DataError(path_ + ": the file has become shorter while it was read: from " + std::to_string(size_) +
                    " to " + std::to_string(size) + " bytes");
  if (size != size_ || changed != changed_)
    throw DataError(path_ + ": the file has changed while it was read");
}

// Whole blocks where reads are direct. What a file system does not take directly is read as usual, from then
// on.
const std::byte* WatchedFile::read(std::uint64_t begin, std::uint64_t end, ReadBuffer& buffer) const {
  const std::uint64_t first = begin / kBlock * kBlock;
  std::uint64_t done = 0;
  while (first + done < end) {
    const bool direct = takes_direct_.load(std::memory_order_relaxed) && done % kBlock == 0;
    const std::uint64_t wanted = (direct ? rounded_up(end) : end) - first - done;
    const ssize_t count = ::pread(direct ? direct_ : plain_, buffer.data() + done,
                                  static_cast<std::size_t>(wanted), static_cast<off_t>(first + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EINVAL && direct) {
      takes_direct_.store(false, std::memory_order_relaxed);
      continue;
    }
    if (count < 0) throw cannot_read(path_, errno);
    if (count == 0) {
      check();
      throw DataError(path_ + ": the file ended early");
    }
    done += static_cast<std::uint64_t>(count);
  }
  bytes_read_.fetch_add(done, std::memory_order_relaxed);
  check();
  return buffer.data() + (begin - first);
}

}  // namespace tyto
#endif
