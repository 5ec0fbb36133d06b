#include "tyto/data/csv_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tyto/data/csv_records.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr std::array<std::string_view, 4> kResponseNames{"y", "target", "label", "response"};
constexpr Index kRowsLookedAt = 20;  // after the first

bool is_whole(double value) { return value == std::floor(value); }

// The fields that are numbers.
std::vector<double> numbers_in(const std::vector<std::string>& fields) {
  std::vector<double> numbers;
  double value = 0;
  for (const std::string& field : fields)
    if (is_number(field, value) && std::isfinite(value)) numbers.push_back(value);
  return numbers;
}

// Neither a number, TRUE or FALSE, nor missing.
bool is_name(const std::string& field, char delimiter) {
  double value = 0;
  return !is_missing(field) && !is_number(field, value) && !is_truth(field, value) &&
         !(delimiter != ',' && is_comma_number(field, value));
}

// Whole numbers >= 0, each once: as columns are numbered, or years.
bool could_be_names(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return std::ranges::all_of(numbers, [](double x) { return x >= 0 && is_whole(x); }) &&
         std::ranges::adjacent_find(numbers) == numbers.end();
}

// Rising by equal steps, as columns are numbered, years, or wavelengths.
bool are_evenly_spaced(const std::vector<double>& numbers) {
  constexpr std::size_t kFewestCounted = 3, kFewest = 4;  // 1, 2 alone says nothing, nor does 0.1, 0.2, 0.3
  if (numbers.size() < kFewestCounted) return false;
  const double step = numbers[1] - numbers[0];
  const bool counted = step == 1 && is_whole(numbers[0]);
  const double most = std::max(std::abs(numbers.front()), std::abs(numbers.back()));
  const auto broken = std::ranges::adjacent_find(
      numbers, [&](double a, double b) { return !(std::abs(b - a - step) <= 1e-9 * most); });
  return numbers.size() >= (counted ? kFewestCounted : kFewest) && step > 1e-6 * most &&
         broken == numbers.end();
}

// What the rows after the first say.
struct Rows {
  bool second_is_evenly_spaced = false;
  bool all_columns_are_fractional = false;  // each has a number that is not whole
};

Rows look_at_rows(const Source& source, std::size_t columns, char delimiter) {
  Rows found;
  Records records(source);
  std::string_view record;
  records.next(record);
  std::vector<bool> fractional(columns, false);
  for (Index row = 0; row < kRowsLookedAt && records.next(record); ++row) {
    std::vector<double> numbers;
    std::size_t column = 0;
    for (Fields fields(record, delimiter); !fields.done(); ++column) {
      double value = 0;
      if (!is_number(fields.next(), value) || !std::isfinite(value)) continue;
      numbers.push_back(value);
      if (column < columns && !is_whole(value)) fractional[column] = true;
    }
    if (row == 0) found.second_is_evenly_spaced = are_evenly_spaced(numbers);
  }
  found.all_columns_are_fractional = std::ranges::all_of(fractional, [](bool is) { return is; });
  return found;
}

}  // namespace

bool is_header(const std::vector<std::string>& fields, char delimiter) {
  return std::ranges::any_of(fields, [&](const std::string& f) { return is_name(f, delimiter); });
}

Preamble preamble_of(const Source& source) {
  Preamble found;
  Lines lines(source);
  std::string comment;
  Index comment_line = 0;
  std::string_view line;
  bool is_record = false;
  while (!is_record && lines.next(line)) {
    const std::string_view text = trimmed(line);
    if (found.separator == '\0' && comment.empty() && line.size() == 5 &&
        lower_case(line).starts_with("sep=")) {
      found.separator = line[4];
      continue;
    }
    if (text.empty()) continue;
    is_record = text.front() != '#';
    if (is_record) break;
    comment = text;
    comment_line = lines.number();
  }
  found.lines = lines.number() - is_record;
  if (comment.empty() || !is_record) return found;
  comment.erase(0, comment.find_first_not_of("# \t"));
  const char delimiter = found.separator != '\0' ? found.separator : delimiter_of(line);
  const std::vector<std::string> names = split(comment, delimiter), next = split(line, delimiter);
  found.is_marked = names.size() == next.size() && names.size() > 1 && is_header(names, delimiter) &&
                    !is_header(next, delimiter);
  if (found.is_marked) found.lines = comment_line - 1;
  return found;
}

std::string doubt_about_header(const Source& source, const std::vector<std::string>& first, char delimiter) {
  const std::vector<double> numbers = numbers_in(first);
  const bool names = could_be_names(numbers);
  const std::string place = fmt::format("{}:{}: ", printable(source.name()), preamble_of(source).lines + 1);
  if (is_header(first, delimiter)) {
    if (names || 2 * numbers.size() <= first.size()) return {};
    const auto word =
        std::ranges::find_if(first, [&](const std::string& f) { return is_name(f, delimiter); });
    return place + "taken for names of columns because of " + in_quotes(*word) +
           ", though most of it looks like data: --header no or --header yes says what it is";
  }
  const bool spaced = are_evenly_spaced(numbers);
  if (!(names || spaced) || numbers.size() < 2) return {};
  const Rows rows = look_at_rows(source, first.size(), delimiter);
  const bool alone = spaced && !rows.second_is_evenly_spaced;
  if (!alone && !(names && rows.all_columns_are_fractional)) return {};
  return place +
         "taken for data, though it looks like numbers as names of columns: --header yes or --header no says "
         "what it is";
}

std::vector<Index> columns_called_response(const std::vector<std::string>& header) {
  std::vector<Index> found;
  for (std::size_t j = 0; j < header.size(); ++j)
    if (std::ranges::find(kResponseNames, lower_case(header[j])) != kResponseNames.end())
      found.push_back(static_cast<Index>(j));
  return found;
}

}  // namespace tyto
