#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "tyto/base/types.h"

namespace tyto {

// Throws DataError "name:line: message", or "name: message" where line is 0.
[[noreturn]] void fail(std::string_view name, Index line, std::string_view message);

// For a terminal, in one line: control characters, bytes that are no character, and marks that hide or
// reorder what stands beside them are written \xNN.
std::string printable(std::string_view text);
std::string printable_lines(std::string_view text);  // the same, but line ends stay
std::string valid_utf8(std::string_view text);       // bytes that are no character are written \xNN
std::string in_quotes(std::string_view text);        // 'printable', cut after 40 characters
// Text as a field of a CSV file. What a spreadsheet would take for a formula begins with an apostrophe, which
// says that it is text.
std::string csv_text(std::string_view text);
std::string count_of(Index count, std::string_view noun);  // "1 row", "2 rows"

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
std::string_view trimmed(std::string_view text);  // of spaces and tabs
// The next word of `text`, which loses it; empty at the end.
std::string_view take_word(std::string_view& text);
std::string lower_case(std::string_view text);

// Parses the longest number at `begin` and returns its end, or `begin` where there is none. Takes what
// std::from_chars takes, inf and nan included, and a leading '+'; what is too large becomes inf, what is too
// small 0.
const char* parse_any_number(const char* begin, const char* end, double& value);

// The same, fast for short decimals: m / 10^k is correctly rounded if m < 2^53 and k <= 22 (Clinger 1990).
inline const char* parse_number(const char* begin, const char* end, double& value) {
  static constexpr std::array<double, 16> kPowers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* c = begin;
  const bool negative = c < end && *c == '-';
  c += negative;
  std::uint64_t mantissa = 0;
  const char* digits = c;
  const char* limit = end - c > 16 ? c + 16 : end;  // 15 digits and a point
  while (c < limit && *c >= '0' && *c <= '9')
    mantissa = 10 * mantissa + static_cast<std::uint64_t>(*c++ - '0');
  std::ptrdiff_t count = c - digits, decimals = 0;
  if (c < limit && *c == '.') {
    const char* point = c++;
    while (c < limit && *c >= '0' && *c <= '9')
      mantissa = 10 * mantissa + static_cast<std::uint64_t>(*c++ - '0');
    decimals = c - point - 1;
    count += decimals;
  }
  const bool longer = c < end && ((*c >= '0' && *c <= '9') || *c == '.' || *c == 'e' || *c == 'E');
  if (count == 0 || count > 15 || longer) return parse_any_number(begin, end, value);
  const double magnitude = static_cast<double>(mantissa) / kPowers[static_cast<std::size_t>(decimals)];
  value = negative ? -magnitude : magnitude;
  return c;
}

inline bool is_number(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  return !text.empty() && parse_number(text.data(), end, value) == end;
}

// TRUE and FALSE as R, Python and spreadsheets write them: 1 and 0.
bool is_truth(std::string_view text, double& value);
// A number with a decimal comma and no point: 3,14 or 1,5e-3; whole numbers as well.
bool is_comma_number(std::string_view text, double& value);

// A whole number >= 0 that fills `text`; false also where it does not fit.
inline bool is_count(std::string_view text, Index& value) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace tyto
