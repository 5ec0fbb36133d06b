// What the library's readers ask of libarchive, for the package of R, which may not bring that library along:
// files that are not compressed. tools/vendor.sh puts it in the place of libarchive's header.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

constexpr int ARCHIVE_EOF = 1, ARCHIVE_OK = 0, ARCHIVE_WARN = -20, ARCHIVE_FATAL = -30;
using la_int64_t = std::int64_t;

struct archive_entry {};

struct archive {
  int fd = -1;
  std::string_view memory = {};
  std::vector<char> block = std::vector<char>(std::size_t{1} << 18);
  std::size_t filled = 0;  // of the block, by the first look
  bool started = false, zip = false;
  const char* error = nullptr;
};

inline archive* archive_read_new() { return new archive; }
inline void archive_read_free(archive* a) { delete a; }
inline void archive_read_support_filter_gzip(archive*) {}
inline void archive_read_support_filter_bzip2(archive*) {}
inline void archive_read_support_filter_xz(archive*) {}
inline void archive_read_support_filter_zstd(archive*) {}
inline void archive_read_support_format_raw(archive*) {}
inline void archive_read_support_format_empty(archive*) {}
inline void archive_read_support_format_zip(archive* a) { a->zip = true; }
inline int archive_filter_count(archive*) { return 1; }
inline const char* archive_error_string(archive* a) { return a->error; }
inline const char* archive_entry_pathname(archive_entry*) { return "data"; }

inline int archive_failure(archive* a, const char* error) {
  a->error = error;
  return ARCHIVE_FATAL;
}

inline int archive_read_open_fd(archive* a, int fd, std::size_t) {
  a->fd = fd;
  return ARCHIVE_OK;
}

inline int archive_read_open_memory(archive* a, const void* data, std::size_t size) {
  a->memory = {static_cast<const char*>(data), size};
  return ARCHIVE_OK;
}

// The next bytes: of the file into the block.
inline int archive_next_bytes(archive* a, const void** data, std::size_t* size) {
  if (a->fd < 0) {
    *data = a->memory.data();
    *size = a->memory.size();
    a->memory = {};
    return *size > 0 ? ARCHIVE_OK : ARCHIVE_EOF;
  }
  ssize_t count = 0;
  do count = ::read(a->fd, a->block.data(), a->block.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) return archive_failure(a, std::strerror(errno));
  *data = a->block.data();
  *size = static_cast<std::size_t>(count);
  return count > 0 ? ARCHIVE_OK : ARCHIVE_EOF;
}

inline int archive_read_next_header(archive* a, archive_entry** entry) {
  using namespace std::string_view_literals;
  static archive_entry only;
  *entry = &only;
  if (a->zip) return archive_failure(a, "this build reads no .npz; the command line and Python do");
  if (a->started) return ARCHIVE_EOF;
  a->started = true;
  const void* data = nullptr;
  const int status = archive_next_bytes(a, &data, &a->filled);
  if (status != ARCHIVE_OK) return status;
  const std::string_view start(static_cast<const char*>(data), a->filled);
  for (const std::string_view magic : {"\x1f\x8b"sv, "BZh"sv, "\xfd\x37zXZ"sv, "\x28\xb5\x2f\xfd"sv})
    if (start.starts_with(magic))
      return archive_failure(a, "this build reads files that are not compressed; decompress it first");
  if (a->fd < 0) a->memory = start;
  return ARCHIVE_OK;
}

inline int archive_read_data_block(archive* a, const void** data, std::size_t* size, la_int64_t* offset) {
  *offset = 0;
  *size = 0;
  if (a->fd >= 0 && a->filled > 0) {
    *data = a->block.data();
    *size = a->filled;
    a->filled = 0;
    return ARCHIVE_OK;
  }
  return archive_next_bytes(a, data, size);
}
