#include "tyto/data/utf16.h"

#include <cstdint>

#include "tyto/data/text.h"

namespace tyto {
namespace {

using namespace std::string_view_literals;

void append_utf8(std::uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

bool is_utf32(std::string_view beginning) {
  return beginning.starts_with("\xff\xfe\0\0"sv) || beginning.starts_with("\0\0\xfe\xff"sv);
}

bool is_utf16(std::string_view beginning) {
  if (is_utf32(beginning)) return false;
  if (beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff")) return true;
  const auto is_ascii = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n'; };
  if (beginning.size() < 4) return false;
  const bool little = beginning[1] == '\0' && beginning[3] == '\0';
  const bool big = beginning[0] == '\0' && beginning[2] == '\0';
  return (little && is_ascii(beginning[0]) && is_ascii(beginning[2])) ||
         (big && is_ascii(beginning[1]) && is_ascii(beginning[3]));
}

std::string utf8_of_utf16(std::string_view bytes, std::string_view file) {
  const bool marked = bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
  const bool big = marked ? bytes.starts_with("\xfe\xff") : bytes.starts_with('\0');
  if (marked) bytes.remove_prefix(2);
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]),
               second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(big ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  out.reserve(bytes.size() / 2);
  if (bytes.size() % 2 == 1) fail(file, 0, "expected UTF-16 text, got half a character at its end");
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    const bool high = code >= 0xd800 && code < 0xdc00;
    const bool low = code >= 0xdc00 && code < 0xe000;
    const std::uint32_t next = high && at + 2 < bytes.size() ? unit(at + 2) : 0;
    if (low || (high && (next < 0xdc00 || next >= 0xe000)) || code == 0)
      fail(file, 0, "expected UTF-16 text, got bytes that are none at offset " + std::to_string(at));
    if (high) {
      code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
      at += 2;
    }
    append_utf8(code, out);
  }
  return out;
}

}  // namespace tyto
