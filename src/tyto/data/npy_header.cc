#include "tyto/data/npy_header.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kLongestHeader = std::size_t{1} << 20;

// Parses the Python dictionary {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  void parse(NpyHeader& header) {
    bool type = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted_text();
      expect(':');
      if (key == "descr") {
        header.type = quoted_text();
        type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        parse_shape(header);
        shape = true;
      } else {
        fail_here("'descr', 'fortran_order' or 'shape'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!type || !order || !shape) fail(name_, 0, "expected a header with descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void fail_here(std::string_view wanted) const {
    fail(name_, 0,
         fmt::format("expected {} in the header, got {}", wanted,
                     in_quotes(trimmed(rest_.substr(0, rest_.find('\n'))))));
  }
  void skip_blanks() {
    while (!rest_.empty() && (is_blank(rest_[0]) || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail_here(in_quotes({&c, 1}));
  }
  std::string quoted_text() {
    skip_blanks();
    if (rest_.starts_with('[')) fail_here("one type of number");
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail_here("a closing quote");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_blanks();
    const bool value = rest_.starts_with("True");
    if (!value && !rest_.starts_with("False")) fail_here("True or False");
    rest_.remove_prefix(value ? 4 : 5);
    return value;
  }
  void parse_shape(NpyHeader& header) {
    std::array<Index, 2> shape{1, 1};
    std::size_t count = 0;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      Index length = 0;
      if (!is_count(rest_.substr(0, digits), length)) fail_here("a length");
      if (count == 2) fail(name_, 0, "expected an array of one or two dimensions, got more");
      shape[count++] = length;
      rest_.remove_prefix(digits);
      accept('L');  // written by Python 2
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    if (count == 0) fail(name_, 0, "expected an array of one or two dimensions, got a single number");
    header.rows = shape[0];
    header.cols = shape[1];
  }

  std::string_view rest_;
  const std::string& name_;
};

}  // namespace

bool looks_like_npy(std::string_view beginning) { return beginning.starts_with(kMagic); }

NpyHeader read_npy_header(Stream& stream, const std::string& name) {
  std::array<unsigned char, 12> head{};  // magic, version, length of the text in 2 or 4 bytes
  if (!stream.read(head.data(), 8))
    fail(name, 0, "expected the header of an .npy file, got the end of the file");
  if (!looks_like_npy({reinterpret_cast<const char*>(head.data()), kMagic.size()}))
    fail(name, 0, "expected an .npy file, got " + in_quotes({reinterpret_cast<const char*>(head.data()), 8}));
  if (head[6] < 1 || head[6] > 3) fail(name, 0, fmt::format("expected .npy version 1 to 3, got {}", head[6]));
  const std::size_t bytes = head[6] == 1 ? 2 : 4;
  std::size_t length = 0;
  const bool complete = stream.read(head.data() + 8, bytes);
  for (std::size_t i = 0; i < bytes; ++i) length += std::size_t{head[8 + i]} << (8 * i);
  if (length > kLongestHeader)
    fail(name, 0, fmt::format("expected a header of up to 1 MiB, got {} bytes", length));
  std::string text(length, '\0');
  if (!complete || !stream.read(text.data(), length))
    fail(name, 0, "expected the header of an .npy file, got the end of the file");
  NpyHeader header;
  HeaderParser(text, name).parse(header);
  header.size = 8 + bytes + length;
  return header;
}

}  // namespace tyto
