#include "tyto/data/lines.h"

#include <cstring>

#include "tyto/data/text.h"

namespace tyto {

bool Lines::next(std::string_view& line) {
  carry_.clear();
  for (;;) {
    if (block_.empty() && (block_ = stream_.next_block()).empty()) {
      if (carry_.empty()) return false;
      line = carry_;
      break;
    }
    if (const void* found = std::memchr(block_.data(), '\n', block_.size())) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - block_.data());
      line = block_.substr(0, length);
      block_.remove_prefix(length + 1);
      if (!carry_.empty()) line = carry_.append(line);
      break;
    }
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
