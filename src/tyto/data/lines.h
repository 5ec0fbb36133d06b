#pragma once

#include <string>
#include <string_view>

#include "tyto/data/source.h"

namespace tyto {

// No line is longer, so that a file without line ends, which may be compressed, does not fill the memory.
constexpr std::size_t kLongestLine = std::size_t{1} << 28;

// The lines of a text file, without their ends (\n, \r\n, or \r alone where the file has no \n) and without a
// byte order mark.
class Lines {
 public:
  explicit Lines(const Source& source) : name_(source.name()), stream_(source.open()) {}

  bool next(std::string_view& line);  // false at the end; the line is valid until the next call
  Index number() const { return number_; }
  const std::string& name() const { return name_; }
  [[noreturn]] void fail(std::string_view message) const;       // about this line
  [[noreturn]] void fail_file(std::string_view message) const;  // about the whole file

 private:
  void find_line_end();

  std::string name_;
  Stream stream_;
  std::string_view block_;
  std::string carry_;  // the beginning of a line that goes on in the next block
  Index number_ = 0;
  char line_end_ = '\n';
};

constexpr std::string_view kFileChanged = "the file changed while it was read";

}  // namespace tyto
