#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/lines.h"
#include "tyto/data/text.h"

namespace tyto {

// What stands before the first record of a file: blank lines, comments ("# ..."), and a line that names the
// separator ("sep=;", as spreadsheets write it).
struct Preamble {
  Index lines = 0;
  char separator = '\0';   // none was named
  bool is_marked = false;  // the first record is a header that begins like a comment: "# x, y"
};
Preamble preamble_of(const Source& source);

// The records of a delimited file: lines, joined where a quoted field goes on in the next one. Blank lines
// and the preamble are no records.
class Records {
 public:
  explicit Records(const Source& source);

  bool next(std::string_view& record);  // false at the end; the record is valid until the next call
  char separator() const { return preamble_.separator; }
  Index line() const { return line_; }  // where the record begins
  const std::string& name() const { return lines_.name(); }
  [[noreturn]] void fail(std::string_view message) const { tyto::fail(name(), line_, message); }
  [[noreturn]] void fail_file(std::string_view message) const { lines_.fail_file(message); }

 private:
  void join(std::string_view& record);

  Preamble preamble_;
  Lines lines_;
  Index line_ = 0;
  std::string joined_;
};

constexpr char kBlanks = ' ';  // as delimiter: any number of spaces and tabs

// The fields of one record, one after the other (RFC 4180).
class Fields {
 public:
  Fields(std::string_view record, char delimiter) : delimiter_(delimiter) {
    if (delimiter == kBlanks) record = trimmed(record);
    cursor_ = record.data();
    end_ = record.data() + record.size();
  }

  bool done() const { return done_; }
  bool next_if_finite_number(double& value) {  // false, and still the same field, for all the others
    const char* stop = parse_number(cursor_, end_, value);
    if (stop == cursor_ || !is_field_end(stop) || !std::isfinite(value)) return false;
    step_over(stop);
    return true;
  }
  std::string_view next();  // trimmed, without its quotes; valid until the next call

 private:
  bool is_field_end(const char* c) const {
    return c == end_ || *c == delimiter_ || (delimiter_ == kBlanks && *c == '\t');
  }
  void step_over(const char* field_end) {
    cursor_ = field_end;
    done_ = cursor_ == end_;
    if (done_) return;
    ++cursor_;
    if (delimiter_ == kBlanks)
      while (is_blank(*cursor_)) ++cursor_;  // the record does not end with a blank
  }
  bool next_quoted(std::string_view& field);

  char delimiter_;
  bool done_ = false;
  const char *cursor_, *end_;
  std::string unquoted_;
};

// Comma, tab or semicolon, whichever is the most frequent outside of quotes; otherwise kBlanks. A semicolon
// also where commas are inside of numbers: 1,5;2,5.
char delimiter_of(std::string_view record);

std::vector<std::string> split(std::string_view record, char delimiter);

// A line that begins with # and has not as many fields as a row.
bool is_comment(std::string_view record, char delimiter, Index fields);

bool is_missing(std::string_view field);

}  // namespace tyto
