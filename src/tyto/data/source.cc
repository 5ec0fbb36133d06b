#include "tyto/data/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "tyto/data/atomic_file.h"
#include "tyto/data/text.h"
#include "tyto/data/utf16.h"

namespace tyto {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18, kSniffed = std::size_t{1} << 16;

class Descriptor {
 public:
  explicit Descriptor(const std::string& name) : fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(name, 0, "cannot open: " + std::generic_category().message(errno));
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return fd_; }

 private:
  int fd_;
};

// Bytes that no format begins with, so that a pipe of them is not waited for: there may be no end to it.
bool is_junk(std::string_view beginning) {
  constexpr std::array<std::string_view, 7> kBinary{"\x93NUMPY",
                                                    "\x1f\x8b",
                                                    "BZh",
                                                    "\xfd"
                                                    "7zXZ",
                                                    "\x28\xb5\x2f\xfd",
                                                    "\xff\xfe",
                                                    "\xfe\xff"};
  for (const std::string_view magic : kBinary)
    if (beginning.starts_with(magic)) return false;
  return beginning.substr(0, kSniffed).find('\0') != std::string_view::npos;
}

// What cannot be opened twice.
std::string spool(const std::string& name, int fd) {
  std::string bytes(kSniffed, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name, 0, "cannot read: " + std::generic_category().message(errno));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  if (is_junk(bytes)) fail(name, 0, "expected text, .npy or compressed data, got other bytes");
  return bytes.size() < kSniffed ? bytes : bytes + read_all(name, fd);
}

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

}  // namespace

struct Stream::State {
  std::string name;
  std::unique_ptr<Descriptor> file;
  Archive archive;                  // declared after the file it reads
  int least_status = ARCHIVE_WARN;  // that is none of an error while data is read
  bool ended = false;
};

// Only the four compressions that the documentation names: libarchive's others start programs (lrzip) or take
// plain text for something else (uuencode).
Stream::Stream(std::string name, const std::string* memory) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->archive.reset(archive_read_new());
  archive* a = state_->archive.get();
  if (a == nullptr) throw std::bad_alloc();
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_format_raw(a);
  archive_read_support_format_empty(a);
  open(memory);
  std::string ignored;
  next_entry(ignored);
}

Stream::Stream(std::string name, const std::string* memory, Zip) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->least_status = ARCHIVE_OK;  // a wrong checksum is only a warning there
  state_->archive.reset(archive_read_new());
  if (!state_->archive) throw std::bad_alloc();
  archive_read_support_format_zip(state_->archive.get());
  open(memory);
}

void Stream::open(const std::string* memory) {
  int status;
  if (memory != nullptr) {
    status = archive_read_open_memory(state_->archive.get(), memory->data(), memory->size());
  } else {
    state_->file = std::make_unique<Descriptor>(state_->name);
    status = archive_read_open_fd(state_->archive.get(), state_->file->number(), kBlock);
  }
  if (status < ARCHIVE_WARN) fail_as_archive();
}

bool Stream::next_entry(std::string& name) {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(state_->archive.get(), &entry);
  state_->ended = status == ARCHIVE_EOF;
  if (state_->ended) return false;
  if (status < ARCHIVE_WARN) fail_as_archive();
  const char* path = archive_entry_pathname(entry);
  name = path == nullptr ? "" : path;
  return true;
}

bool Stream::next_member(std::string& name) {
  rest_ = {};
  return next_entry(name);
}

bool Stream::is_compressed() const {  // the last filter is the file itself
  return archive_filter_count(state_->archive.get()) > 1;
}

Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

void Stream::fail_as_archive() const {
  const char* reason = archive_error_string(state_->archive.get());
  fail(state_->name, 0,
       std::string("cannot decompress: ") + (reason ? printable(reason) : "damaged or cut off"));
}

std::string_view Stream::next_block() {
  while (!state_->ended) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(state_->archive.get(), &data, &size, &offset);
    state_->ended = status == ARCHIVE_EOF;
    if (!state_->ended && status < state_->least_status) fail_as_archive();
    if (size > 0) return {static_cast<const char*>(data), size};
  }
  return {};
}

bool Stream::read(void* to, std::size_t size) {
  char* out = static_cast<char*>(to);
  while (size > 0) {
    if (rest_.empty() && (rest_ = next_block()).empty()) return false;
    const std::size_t count = std::min(size, rest_.size());
    std::memcpy(out, rest_.data(), count);
    rest_.remove_prefix(count);
    out += count;
    size -= count;
  }
  return true;
}

Source::Source(std::string name) : name_(std::move(name)) {
  const Descriptor file(name_);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0)
    fail(name_, 0, "cannot read: " + std::generic_category().message(errno));
  if (S_ISDIR(status.st_mode)) fail(name_, 0, "expected a file, got a folder");
  spooled_ = !S_ISREG(status.st_mode);
  if (spooled_) memory_ = spool(name_, file.number());
  if (spooled_ ? memory_.empty() : status.st_size == 0) fail(name_, 0, "expected data, got an empty file");
  compressed_ = open().is_compressed();
  if (beginning(1).empty())
    fail(name_, 0, "expected data, got none: the compressed file is empty or cut off");
  take_wide_text();
}

// Characters of two bytes become UTF-8 in memory.
void Source::take_wide_text() {
  const std::string start = beginning(4);
  if (is_utf32(start)) fail(name_, 0, "expected UTF-8 text, got UTF-32: save the file as UTF-8");
  if (!is_utf16(start)) return;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::string bytes = beginning(kMost + 1);
  if (bytes.size() > kMost)
    fail(name_, 0, "expected at most 1 GiB of UTF-16 text, got more: save the file as UTF-8");
  memory_ = utf8_of_utf16(bytes, name_);
  spooled_ = true;
  if (memory_.empty()) fail(name_, 0, "expected data, got an empty file");
}

std::vector<std::string> Source::members() const {
  Stream stream(name_, spooled_ ? &memory_ : nullptr, Stream::Zip());
  std::vector<std::string> names;
  for (std::string name; stream.next_member(name);) names.push_back(name);
  return names;
}

Stream Source::open_member(const std::string& name) const {
  Stream stream(name_, spooled_ ? &memory_ : nullptr, Stream::Zip());
  for (std::string found; stream.next_member(found);)
    if (found == name) return stream;
  fail(name_, 0, "expected a member " + in_quotes(name) + " in the archive, got none");
}

std::string Source::beginning(std::size_t size) const {
  Stream stream = open();
  std::string bytes;
  for (std::string_view block; bytes.size() < size && !(block = stream.next_block()).empty();)
    bytes.append(block.substr(0, size - bytes.size()));
  return bytes;
}

std::size_t Source::size() const {
  if (is_plain()) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(name_, error);
    if (error) fail(name_, 0, "cannot read: " + error.message());
    return static_cast<std::size_t>(bytes);
  }
  Stream stream = open();
  std::size_t total = 0;
  for (std::string_view block; !(block = stream.next_block()).empty();) total += block.size();
  return total;
}

}  // namespace tyto
