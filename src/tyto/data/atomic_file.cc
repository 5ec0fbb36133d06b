#include "tyto/data/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32
#include <io.h>
#else
#include <sys/file.h>
#endif

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <random>
#include <system_error>

#include "tyto/data/text.h"

namespace tyto {
namespace {

// What systems call differently, or do not have.
#ifdef _WIN32
constexpr int O_CLOEXEC = _O_NOINHERIT | _O_BINARY, O_NOFOLLOW = 0, O_NONBLOCK = 0;
int sync_file(int fd) { return ::_commit(fd); }
int set_mode(int, mode_t) { return 0; }
bool lock(int, bool) { return false; }  // nothing is removed that somebody might use
bool is_gone(const struct stat&) { return false; }
// As rename(2) elsewhere, which replaces a file that is there.
int replace_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error.value();
}
#else
int sync_file(int fd) { return ::fsync(fd); }
int set_mode(int fd, mode_t mode) { return ::fchmod(fd, mode); }
bool lock(int fd, bool wait) { return ::flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) == 0; }
bool is_gone(const struct stat& status) { return status.st_nlink == 0; }
int replace_file(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}
#endif

[[noreturn]] void fail_write(const std::string& path, int error) {
  fail(path, 0, "cannot write: " + std::generic_category().message(error));
}

// Closes the file and, until it is kept, removes it.
class OpenFile {
 public:
  OpenFile(int fd, std::string temporary) : fd_(fd), temporary_(std::move(temporary)) {}
  ~OpenFile() {
#ifdef _WIN32
    if (fd_ >= 0) close();  // an open file cannot be removed there
#endif
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int write(std::string_view contents) {  // an errno, or 0
    while (!contents.empty()) {
      constexpr std::size_t kMost = std::size_t{1} << 30;  // at once: some systems count in 32 bits
      const auto bytes = static_cast<unsigned>(std::min(contents.size(), kMost));
      const ssize_t count = ::write(fd_, contents.data(), bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      contents.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
  }
  int sync() { return sync_file(fd_) == 0 ? 0 : errno; }
  int close() {
    const int status = ::close(fd_);
    fd_ = -1;
    return status == 0 ? 0 : errno;
  }
  int rename_to(const std::string& path) {
#ifdef _WIN32
    if (const int error = close()) return error;  // nor renamed
#endif
    if (const int error = replace_file(temporary_, path)) return error;
    temporary_.clear();
    return 0;
  }
  int keep_mode(mode_t mode) { return set_mode(fd_, mode) == 0 ? 0 : errno; }

 private:
  int fd_;
  std::string temporary_;
};

void write_directly(const std::string& path, std::string_view contents) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail_write(path, errno);
  OpenFile file(fd, "");
  if (const int error = file.write(contents)) fail_write(path, error);
  if (const int error = file.close()) fail_write(path, error);
}

// Temporary files are called "target.tyto-<16 hexadecimal digits>.tmp", and locked for as long as somebody
// means to rename them: one without a lock is left over from a run that was killed.
constexpr std::string_view kInfix = ".tyto-", kSuffix = ".tmp";
constexpr std::size_t kDigits = 16;

std::string temporary_name(const std::string& target) {
  std::random_device device;
  return fmt::format("{}{}{:08x}{:08x}{}", target, kInfix, device(), device(), kSuffix);
}

bool is_temporary_of(std::string_view target, std::string_view name) {
  if (name.size() != target.size() + kInfix.size() + kDigits + kSuffix.size()) return false;
  if (!name.starts_with(target) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(target.size());
  if (!name.starts_with(kInfix)) return false;
  return name.substr(kInfix.size(), kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Where files cannot be locked, nothing is removed.
void remove_unless_locked(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (regular && lock(fd, false)) ::unlink(path.c_str());
  ::close(fd);
}

void remove_left_over(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const std::string name = target.filename().string();
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_temporary_of(name, it->path().filename().string())) remove_unless_locked(it->path().string());
}

// A new temporary file for `target`, locked. A run that cleans up may get the lock first, and removes the
// file: then another one is made.
std::unique_ptr<OpenFile> open_temporary(const std::string& path, const std::string& target) {
  constexpr int kMostAttempts = 100;
  for (int attempt = 0;; ++attempt) {
    const std::string temporary = temporary_name(target);
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && (errno != EEXIST || attempt == kMostAttempts)) fail_write(path, errno);
    if (fd < 0) continue;
    auto file = std::make_unique<OpenFile>(fd, temporary);
    struct stat status {};
    const bool locked = lock(fd, true);
    if (!locked || ::fstat(fd, &status) != 0 || !is_gone(status) || attempt == kMostAttempts) return file;
  }
}

// Where the links from `path` lead, whether or not a file is there already.
std::string final_path(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) fail_write(path, error.value());
    target = target.parent_path() / next;  // an absolute `next` replaces the folder
  }
  if (std::filesystem::is_symlink(target, error)) fail_write(path, ELOOP);
  return target.string();
}

}  // namespace

struct AtomicFiles::Staged {
  std::string path, target;  // as given, and where its links lead
  std::unique_ptr<OpenFile> file;
};

AtomicFiles::AtomicFiles() = default;
AtomicFiles::~AtomicFiles() = default;

void AtomicFiles::add(const std::string& path, std::string_view contents) {
  if (path.empty()) fail_write(path, ENOENT);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    others_.emplace_back(path, contents);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_write(path, errno);  // a rename would not ask

  const std::string target = final_path(path);
  remove_left_over(target);
  auto staged = std::make_unique<Staged>(Staged{path, target, open_temporary(path, target)});
  OpenFile& file = *staged->file;
  if (const int error = exists ? file.keep_mode(status.st_mode & 07777) : 0) fail_write(path, error);
  if (const int error = file.write(contents)) fail_write(path, error);
  if (const int error = file.sync()) fail_write(path, error);
  staged_.push_back(std::move(staged));
}

void AtomicFiles::write_others() {
  const auto others = std::exchange(others_, {});
  for (const auto& [path, contents] : others) write_directly(path, contents);
}

void AtomicFiles::commit() {
  write_others();
  const auto staged = std::exchange(staged_, {});
  for (const auto& one : staged)
    if (const int error = one->file->rename_to(one->target)) fail_write(one->path, error);
}

void write_atomically(const std::string& path, std::string_view contents) {
  AtomicFiles files;
  files.add(path, contents);
  files.commit();
}

namespace {

#ifdef _WIN32
std::size_t most_in_memory() { return std::numeric_limits<std::size_t>::max(); }
#else
std::size_t most_in_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || size <= 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) / 2;
}
#endif

[[noreturn]] void fail_read(const std::string& name, const std::string& reason) {
  fail(name, 0, "cannot read: " + reason);
}

}  // namespace

std::string read_all(const std::string& name, int fd) {
  constexpr unsigned kBlock = 1U << 18;
  struct stat status {};
  const bool endless = ::fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && ::isatty(fd) == 0;
  const std::size_t most = most_in_memory();
  std::string bytes;
  std::string block(kBlock, '\0');
  for (;;) {
    const ssize_t count = ::read(fd, block.data(), kBlock);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_read(name, std::generic_category().message(errno));
    if (count == 0) return bytes;
    if (endless) fail_read(name, "it is a device, which may have no end; want a file or a pipe");
    bytes.append(block, 0, static_cast<std::size_t>(count));
    if (bytes.size() > most)
      fail_read(name, fmt::format("want at most {} MiB, half of the memory here, got more", most >> 20));
  }
}

std::string read_whole(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_read(path, "it is a folder");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_read(path, std::generic_category().message(errno));
  const OpenFile file(fd, "");
  return read_all(path, fd);
}

}  // namespace tyto
