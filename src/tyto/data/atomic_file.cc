#include "tyto/data/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

[[noreturn]] void fail_write(const std::string& path, int error) {
  fail(path, 0, "cannot write: " + std::generic_category().message(error));
}

// Closes the file and, until it is kept, removes it.
class OpenFile {
 public:
  OpenFile(int fd, std::string temporary) : fd_(fd), temporary_(std::move(temporary)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int write(std::string_view contents) {  // an errno, or 0
    while (!contents.empty()) {
      const ssize_t count = ::write(fd_, contents.data(), contents.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      contents.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
  }
  int sync() { return ::fsync(fd_) == 0 ? 0 : errno; }
  int close() {
    const int status = ::close(fd_);
    fd_ = -1;
    return status == 0 ? 0 : errno;
  }
  int rename_to(const std::string& path) {
    if (::rename(temporary_.c_str(), path.c_str()) != 0) return errno;
    temporary_.clear();
    return 0;
  }
  int keep_mode(mode_t mode) { return ::fchmod(fd_, mode) == 0 ? 0 : errno; }

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

void write_atomically(const std::string& path, std::string_view contents) {
  if (path.empty()) fail_write(path, ENOENT);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_directly(path, contents);
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_write(path, errno);  // a rename would not ask

  const std::string target = final_path(path);
  std::string temporary;
  int fd = -1;
  for (int attempt = 0; fd < 0; ++attempt) {
    temporary = target + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && (errno != EEXIST || attempt > 100)) fail_write(path, errno);
  }
  OpenFile file(fd, temporary);
  if (const int error = exists ? file.keep_mode(status.st_mode & 07777) : 0) fail_write(path, error);
  if (const int error = file.write(contents)) fail_write(path, error);
  if (const int error = file.sync()) fail_write(path, error);
  if (const int error = file.close()) fail_write(path, error);
  if (const int error = file.rename_to(target)) fail_write(path, error);
}

std::string read_whole(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw DataError(path + ": cannot read: it is a folder");
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw DataError(path + ": cannot read: " + std::strerror(errno));
  return text;
}

}  // namespace tyto
