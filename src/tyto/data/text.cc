#include "tyto/data/text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

#include "tyto/base/error.h"

namespace tyto {
namespace {

unsigned char byte(char c) { return static_cast<unsigned char>(c); }

// Length of the valid UTF-8 sequence of a character at the start of `text`, or 0; 0 also for control
// characters and separators of lines.
std::size_t character_length(std::string_view text) {
  const unsigned char first = byte(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7f;
  const std::size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(text[i]) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(text[1]);
  const bool control = first == 0xc2 && second < 0xa0;  // U+0080 .. U+009F
  const bool separator = first == 0xe2 && second == 0x80 && byte(text[2]) >= 0xa8 && byte(text[2]) <= 0xa9;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return control || separator || overlong || beyond ? 0 : length;
}

// Marks without a shape of their own, which hide or reorder what stands beside them: U+061C, U+200B, U+200E,
// U+200F, U+202A to U+202E, U+2060 to U+206F, U+FEFF.
bool is_hidden_mark(std::string_view character) {
  if (character == "\xd8\x9c" || character == "\xef\xbb\xbf") return true;
  if (character.size() != 3 || byte(character[0]) != 0xe2) return false;
  const unsigned char second = byte(character[1]), third = byte(character[2]);
  if (second == 0x81) return third >= 0xa0 && third <= 0xaf;
  return second == 0x80 &&
         (third == 0x8b || third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae));
}

enum class Keep { kShown, kLines, kAscii };  // shown only; those and line ends; all characters, and all ASCII

std::size_t kept_length(std::string_view text, Keep keep) {
  if (keep == Keep::kLines && text[0] == '\n') return 1;
  if (keep == Keep::kAscii && byte(text[0]) < 0x80) return 1;
  const std::size_t length = character_length(text);
  return keep != Keep::kAscii && is_hidden_mark(text.substr(0, length)) ? 0 : length;
}

std::string escaped(std::string_view text, Keep keep) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = kept_length(text, keep);
    if (length > 0)
      out += text.substr(0, length);
    else
      out += fmt::format("\\x{:02x}", byte(text[0]));
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

// How a formula may begin (OWASP, CSV injection), full-width signs included.
bool begins_like_a_formula(std::string_view text) {
  for (const std::string_view sign :
       {"=", "+", "-", "@", "\t", "\r", "\n", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"})
    if (text.starts_with(sign)) return true;
  return false;
}

// The decimal exponent of a number that std::from_chars finds out of range: positive for one that is too
// large.
bool is_too_large(std::string_view number) {
  if (const auto e = number.find_first_of("eE"); e != std::string_view::npos) return number[e + 1] != '-';
  return number.find_first_of("123456789") < number.find('.');
}

// std::from_chars for doubles, which libc++ before 20 lacks.
#if defined(__cpp_lib_to_chars) && !defined(TYTO_OWN_PARSE_DOUBLE)
std::from_chars_result parse_double(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}
#else
const char* skip_digits(const char* c, const char* end) {
  while (c < end && *c >= '0' && *c <= '9') ++c;
  return c;
}

// The end of the number that std::from_chars would take, or `begin` where there is none.
const char* number_end(const char* begin, const char* end) {
  const char* c = begin;
  if (c < end && *c == '-') ++c;
  const std::string rest = lower_case({c, std::min<std::size_t>(8, static_cast<std::size_t>(end - c))});
  for (const std::string_view word : {"infinity", "inf", "nan"})
    if (rest.starts_with(word)) return c + word.size();
  const char* whole = skip_digits(c, end);
  std::ptrdiff_t digits = whole - c;
  if (whole < end && *whole == '.') {
    const char* point = whole + 1;
    whole = skip_digits(point, end);
    digits += whole - point;
  }
  if (digits == 0) return begin;
  if (whole == end || (*whole != 'e' && *whole != 'E')) return whole;
  const char* power = whole + 1;
  if (power < end && (*power == '-' || *power == '+')) ++power;
  const char* last = skip_digits(power, end);
  return last > power ? last : whole;
}

// By a stream in the C locale, which rounds correctly: for the rare numbers that parse_number() leaves.
std::from_chars_result parse_double(const char* begin, const char* end, double& value) {
  const char* stop = number_end(begin, end);
  if (stop == begin) return {begin, std::errc::invalid_argument};
  const bool negative = *begin == '-';
  const char first = begin[negative];
  if (first == 'i' || first == 'I' || first == 'n' || first == 'N') {
    const double found = first == 'i' || first == 'I' ? std::numeric_limits<double>::infinity()
                                                      : std::numeric_limits<double>::quiet_NaN();
    value = negative ? -found : found;
    return {stop, std::errc()};
  }
  const std::string number(begin, stop);
  if (number.substr(0, number.find_first_of("eE")).find_first_of("123456789") == std::string::npos) {
    value = negative ? -0.0 : 0.0;  // whatever its exponent
    return {stop, std::errc()};
  }
  std::istringstream stream(number);
  stream.imbue(std::locale::classic());
  double found = 0;
  stream >> found;
  if (stream.fail() || std::isinf(found) || found == 0) return {stop, std::errc::result_out_of_range};
  value = found;
  return {stop, std::errc()};
}
#endif

}  // namespace

void fail(std::string_view name, Index line, std::string_view message) {
  if (line > 0) throw DataError(fmt::format("{}:{}: {}", printable(name), line, message));
  throw DataError(fmt::format("{}: {}", printable(name), message));
}

std::string printable(std::string_view text) { return escaped(text, Keep::kShown); }
std::string printable_lines(std::string_view text) { return escaped(text, Keep::kLines); }
std::string valid_utf8(std::string_view text) { return escaped(text, Keep::kAscii); }

std::string csv_text(std::string_view text) {
  double value = 0;
  const bool formula = begins_like_a_formula(text) && !(is_number(text, value) && std::isfinite(value));
  const bool quotes = text.find_first_of(",;\"\t\r\n") != std::string_view::npos;
  std::string field;
  if (quotes) field += '"';
  if (formula) field += '\'';
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  if (quotes) field += '"';
  return field;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() <= kLongest) return fmt::format("'{}'", printable(text));
  std::size_t cut = kLongest - 3;
  while (cut > 0 && (byte(text[cut]) & 0xc0) == 0x80) --cut;  // not inside a character
  return fmt::format("'{}...'", printable(text.substr(0, cut)));
}

std::string count_of(Index count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && !is_blank(text[length])) ++length;
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_truth(std::string_view text, double& value) {
  const bool yes = text == "TRUE" || text == "true" || text == "True";
  if (!yes && text != "FALSE" && text != "false" && text != "False") return false;
  value = yes ? 1 : 0;
  return true;
}

bool is_comma_number(std::string_view text, double& value) {
  constexpr std::size_t kLongest = 64;
  if (text.size() > kLongest || text.find('.') != std::string_view::npos) return false;
  std::string with_point(text);
  if (const std::size_t comma = with_point.find(','); comma != std::string::npos) with_point[comma] = '.';
  return is_number(with_point, value);
}

const char* parse_any_number(const char* begin, const char* end, double& value) {
  const char* start = begin;
  if (start < end && *start == '+') {
    ++start;
    if (start < end && *start == '-') return begin;
  }
  const auto [stop, error] = parse_double(start, end, value);
  if (error == std::errc()) return stop;
  if (error != std::errc::result_out_of_range) return begin;
  const std::string_view number(start, static_cast<std::size_t>(stop - start));
  value = is_too_large(number) ? std::numeric_limits<double>::infinity() : 0.0;
  if (*start == '-') value = -value;
  return stop;
}

}  // namespace tyto
