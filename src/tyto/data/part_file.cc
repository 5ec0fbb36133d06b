#include "tyto/data/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "tyto/base/checksum.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/data/tyto_file.h"

namespace tyto {
namespace {

// The first block of a file that is not complete: magic, numbers, and their checksum.
using Numbers = std::array<std::uint64_t, 8>;
constexpr std::size_t kJournalBytes = 8 + sizeof(Numbers);

std::uint64_t checksum_of(const Numbers& numbers) {
  return checksum(std::as_bytes(std::span(numbers)).first(sizeof numbers - sizeof numbers[0]));
}

Numbers numbers_of(const PartJournal& j) {
  const auto number = [](Index value) { return static_cast<std::uint64_t>(value); };
  Numbers numbers{kTytoVersion,     j.inputs,       static_cast<std::uint64_t>(j.type),
                  number(j.rows),   number(j.cols), number(j.done),
                  number(j.dropped)};
  numbers.back() = checksum_of(numbers);
  return numbers;
}

}  // namespace

PartFile::PartFile(std::string output, std::uint64_t inputs)
    : output_(std::move(output)), path_(output_ + ".part") {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd_ < 0) fail_write(errno);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(std::exchange(fd_, -1));
    throw InvalidArgument("output: want a file that nobody else writes, got " + in_quotes(output_) +
                          ", which another run is converting to");
  }
  journal_.inputs = inputs;
  read_journal();
}

PartFile::~PartFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PartFile::fail_write(int error) const {
  fail(output_, 0, "cannot write: " + std::generic_category().message(error));
}

void PartFile::read_journal() {
  std::array<char, kJournalBytes> bytes{};
  if (::pread(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return;
  Numbers n{};
  std::memcpy(n.data(), bytes.data() + 8, sizeof n);
  const bool same = std::string_view(bytes.data(), 8) == kTytoPartMagic && n.back() == checksum_of(n) &&
                    n[0] == kTytoVersion && n[1] == journal_.inputs;
  if (!same) return;
  const auto number = [&](std::size_t k) { return static_cast<Index>(n[k]); };
  journal_ = {n[1], static_cast<StoredType>(n[2]), number(3), number(4), number(5), number(6)};
}

void PartFile::write_journal() {
  const Numbers numbers = numbers_of(journal_);
  std::string bytes(kTytoPartMagic);
  bytes.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
  write(bytes, 0);
  sync();
}

// A disk that has no room says so here, where the file system can reserve it.
void PartFile::start(const PartJournal& journal, std::uint64_t bytes) {
  if (::ftruncate(fd_, 0) != 0) fail_write(errno);
#ifdef __linux__
  if (::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    fail_write(errno);
#endif
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail_write(errno);
  journal_ = journal;
  write_journal();
}

void PartFile::write(std::string_view bytes, std::uint64_t place) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_write(errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    place += static_cast<std::uint64_t>(count);
  }
}

void PartFile::write(std::span<const std::byte> bytes, std::uint64_t place) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), place);
}

void PartFile::sync() {
  if (::fdatasync(fd_) != 0) fail_write(errno);
}

void PartFile::advance(Index done) {
  sync();  // before anything says so
  journal_.done = done;
  write_journal();
}

void PartFile::commit(std::uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail_write(errno);
  if (::fsync(fd_) != 0) fail_write(errno);
  if (std::rename(path_.c_str(), output_.c_str()) != 0) fail_write(errno);
  ::close(std::exchange(fd_, -1));
}

void PartFile::discard() { ::unlink(path_.c_str()); }

}  // namespace tyto
