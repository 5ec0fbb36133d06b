#include "tyto/data/npy_header.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
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
  HeaderParser(std::string_view text, const std::string& name, NpyShape wanted)
      : rest_(text), name_(name), wanted_(wanted) {}

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
    if (count == 0 && wanted_ == NpyShape::kMatrix)
      fail(name_, 0, "expected an array of one or two dimensions, got a single number");
    header.rows = shape[0];
    header.cols = shape[1];
  }

  std::string_view rest_;
  const std::string& name_;
  NpyShape wanted_;
};

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in the file");

template <class Element>
void convert(const char* bytes, Index count, double* out) {
  for (Index k = 0; k < count; ++k) {
    Element element;
    std::memcpy(&element, bytes + static_cast<std::size_t>(k) * sizeof element, sizeof element);
    out[k] = static_cast<double>(element);
  }
}

constexpr std::array<NpyType, 11> kTypes{{{"f8", 8, convert<double>},
                                          {"f4", 4, convert<float>},
                                          {"i1", 1, convert<std::int8_t>},
                                          {"u1", 1, convert<std::uint8_t>},
                                          {"b1", 1, convert<std::uint8_t>},
                                          {"i2", 2, convert<std::int16_t>},
                                          {"u2", 2, convert<std::uint16_t>},
                                          {"i4", 4, convert<std::int32_t>},
                                          {"u4", 4, convert<std::uint32_t>},
                                          {"i8", 8, convert<std::int64_t>},
                                          {"u8", 8, convert<std::uint64_t>}}};

}  // namespace

bool looks_like_npy(std::string_view beginning) { return beginning.starts_with(kMagic); }

const NpyType& npy_type(const NpyHeader& header, const std::string& name) {
  const std::string_view type = header.type;
  if (type.starts_with('>')) fail(name, 0, "expected little-endian numbers, got " + in_quotes(type));
  if (type.starts_with('<') || type.starts_with('|') || type.starts_with('='))
    for (const NpyType& known : kTypes)
      if (known.name == type.substr(1)) return known;
  fail(name, 0, "expected real numbers such as '<f8' or '<f4', got " + in_quotes(type));
}

NpyHeader read_npy_header(Stream& stream, const std::string& name, NpyShape shape) {
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
  HeaderParser(text, name, shape).parse(header);
  header.size = 8 + bytes + length;
  return header;
}

}  // namespace tyto
