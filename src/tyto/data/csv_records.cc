#include "tyto/data/csv_records.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tyto {
namespace {

constexpr std::size_t kLongestJoined = std::size_t{1}
                                       << 26;  // a quote that is never closed must not swallow a file

bool has_open_quote(std::string_view text) { return std::ranges::count(text, '"') % 2 == 1; }

// Whether all fields between semicolons are numbers, some with a comma.
bool has_comma_numbers(std::string_view record) {
  double value = 0;
  const std::vector<std::string> fields = split(record, ';');
  return fields.size() > 1 && record.find(',') != std::string_view::npos &&
         std::ranges::all_of(
             fields, [&](const std::string& f) { return is_missing(f) || is_comma_number(f, value); });
}

}  // namespace

Records::Records(const Source& source) : preamble_(preamble_of(source)), lines_(source) {
  std::string_view line;
  for (Index k = 0; k < preamble_.lines; ++k) lines_.next(line);
}

bool Records::next(std::string_view& record) {
  while (lines_.next(record)) {
    if (record.find_first_not_of(' ') == std::string_view::npos) continue;
    line_ = lines_.number();
    if (record.front() == '#') {  // quotes of a comment are not closed
      if (preamble_.is_marked && line_ == preamble_.lines + 1)
        record.remove_prefix(std::min(record.size(), record.find_first_not_of("# \t")));
      return true;
    }
    if (std::memchr(record.data(), '"', record.size()) != nullptr && has_open_quote(record)) join(record);
    return true;
  }
  return false;
}

void Records::join(std::string_view& record) {
  joined_ = record;
  for (std::string_view line; lines_.next(line) && joined_.size() < kLongestJoined;) {
    joined_ += '\n';
    joined_ += line;
    if (!has_open_quote(line)) continue;
    record = joined_;
    return;
  }
  fail("expected a closing quote, got the end of the file");
}

std::string_view Fields::next() {
  while (cursor_ < end_ && is_blank(*cursor_) && !is_field_end(cursor_)) ++cursor_;
  std::string_view field;
  if (cursor_ < end_ && *cursor_ == '"' && next_quoted(field)) return field;
  const char* stop = cursor_;
  while (!is_field_end(stop)) ++stop;
  field = trimmed({cursor_, static_cast<std::size_t>(stop - cursor_)});
  step_over(stop);
  return field;
}

// False, with nothing consumed, where the quotes are not those of a quoted field.
bool Fields::next_quoted(std::string_view& field) {
  unquoted_.clear();
  const char* begin = cursor_ + 1;
  for (;;) {
    const auto* quote =
        static_cast<const char*>(std::memchr(begin, '"', static_cast<std::size_t>(end_ - begin)));
    if (quote == nullptr) return false;
    unquoted_.append(begin, quote);
    begin = quote + 1;
    if (begin == end_ || *begin != '"') break;
    unquoted_ += '"';
    ++begin;
  }
  while (!is_field_end(begin) && is_blank(*begin)) ++begin;
  if (!is_field_end(begin)) return false;
  field = unquoted_;
  step_over(begin);
  return true;
}

char delimiter_of(std::string_view record) {
  constexpr std::array<char, 3> kDelimiters{',', '\t', ';'};
  std::array<Index, 3> count{};
  bool inside = false;
  for (const char c : record) {
    if (c == '"') inside = !inside;
    if (const auto* found = std::ranges::find(kDelimiters, c); !inside && found != kDelimiters.end())
      ++count[static_cast<std::size_t>(found - kDelimiters.begin())];
  }
  if (count[2] > 0 && count[0] >= count[2] && has_comma_numbers(record)) return ';';
  const auto most = std::ranges::max_element(count);
  return *most == 0 ? kBlanks : kDelimiters[static_cast<std::size_t>(most - count.begin())];
}

std::vector<std::string> split(std::string_view record, char delimiter) {
  std::vector<std::string> fields;
  for (Fields rest(record, delimiter); !rest.done();) fields.emplace_back(rest.next());
  return fields;
}

bool is_comment(std::string_view record, char delimiter, Index fields) {
  return record.starts_with('#') && std::ssize(split(record, delimiter)) != fields;
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 10> kMissing{"",    "NA",   "N/A",  "NaN", "nan",
                                                      "NAN", "null", "NULL", "?",   "."};
  return std::ranges::find(kMissing, field) != kMissing.end();
}

}  // namespace tyto
