#include "tyto/data/lines.h"

#include <fmt/format.h>

#include <cstring>

#include "tyto/data/text.h"

namespace tyto {

// For a block without \n. In a file of an old Mac, or one that Excel saved for it, \r alone ends a line; the
// last byte of a block does not tell.
void Lines::find_line_end() {
  if (block_.substr(0, block_.size() - 1).find('\r') != std::string_view::npos) line_end_ = '\r';
}

bool Lines::next(std::string_view& line) {
  carry_.clear();
  for (;;) {
    if (block_.empty() && (block_ = stream_.next_block()).empty()) {
      if (carry_.empty()) return false;
      line = carry_;
      break;
    }
    const void* found = std::memchr(block_.data(), line_end_, block_.size());
    if (found == nullptr && number_ == 0) {
      find_line_end();
      found = std::memchr(block_.data(), line_end_, block_.size());
    }
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - block_.data());
      line = block_.substr(0, length);
      block_.remove_prefix(length + 1);
      if (!carry_.empty()) line = carry_.append(line);
      break;
    }
    if (carry_.size() + block_.size() > kLongestLine)
      tyto::fail(name_, number_ + 1,
                 fmt::format("expected lines of at most {} MiB, got a longer one", kLongestLine >> 20));
    carry_.append(block_);
    block_ = {};
  }
  if (++number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void Lines::fail(std::string_view message) const { tyto::fail(name_, number_, message); }
void Lines::fail_file(std::string_view message) const { tyto::fail(name_, 0, message); }

}  // namespace tyto
