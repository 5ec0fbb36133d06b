#include "tyto/data/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "tyto/base/error.h"
#include "tyto/data/csv_header.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

std::vector<std::string> split(std::string_view record, char delimiter) {
  std::vector<std::string> fields;
  for (Fields rest(record, delimiter); !rest.done();) fields.emplace_back(rest.next());
  return fields;
}

// The columns that an option names: all of that name, or else the one of that number.
std::vector<Index> find_columns(const CsvLayout& layout, const std::string& wanted) {
  std::vector<Index> found;
  for (Index j = 0; j < std::ssize(layout.header); ++j)
    if (layout.header[static_cast<std::size_t>(j)] == valid_utf8(wanted)) found.push_back(j);
  Index number = 0;
  if (found.empty() && is_count(wanted, number) && number < layout.columns()) found.push_back(number);
  return found;
}

// The columns there are, for messages: the first of their names, or their numbers.
std::string known_columns(const CsvLayout& layout) {
  constexpr std::size_t kShown = 8;
  if (!layout.has_header) return fmt::format("0 to {} (the file has no header)", layout.columns() - 1);
  std::vector<std::string> shown;
  for (const std::string& name : layout.header)
    if (shown.size() < kShown) shown.push_back(printable(std::string_view(name).substr(0, 40)));
  return fmt::format("{}{}", fmt::join(shown, ", "), layout.header.size() > kShown ? ", ..." : "");
}

[[noreturn]] void fail_unknown(const CsvLayout& layout, std::string_view option, const std::string& wanted,
                               const Source& source) {
  throw InvalidArgument(fmt::format("{}: no column {} in {}; known: {}", option, in_quotes(wanted),
                                    printable(source.name()), known_columns(layout)));
}

// Names that can be shown, stored and found again: no bytes that are not UTF-8, none that is empty.
std::vector<std::string> names_of(std::vector<std::string> header) {
  for (std::size_t j = 0; j < header.size(); ++j)
    header[j] = header[j].empty() ? fmt::format("column{}", j) : valid_utf8(header[j]);
  return header;
}

void drop_columns(CsvLayout& layout, const Source& source, const ReadOptions& options) {
  for (const std::string& wanted : options.drop) {
    const std::vector<Index> found = find_columns(layout, wanted);
    if (found.empty() && !options.target_optional) fail_unknown(layout, "drop", wanted, source);
    for (const Index j : found)
      layout.role[static_cast<std::size_t>(j + layout.has_row_names)] = CsvLayout::kSkipped;
  }
}

// New data for a model: only the columns that it uses are read.
void skip_unused(CsvLayout& layout, const ReadOptions& options) {
  if (!layout.has_header || options.used.empty()) return;
  const std::unordered_set<std::string_view> used(options.used.begin(), options.used.end());
  const std::unordered_set<std::string_view> there(layout.header.begin(), layout.header.end());
  for (const std::string_view name : used)
    if (!there.contains(name))
      throw InvalidArgument(
          fmt::format("data: want a column '{}', which the model uses, got none of that name", name));
  const std::vector<Index> target =
      options.target ? find_columns(layout, *options.target) : std::vector<Index>();
  for (Index j = 0; j < layout.columns(); ++j)
    if (!used.contains(layout.header[static_cast<std::size_t>(j)]) &&
        std::ranges::find(target, j) == target.end())
      layout.role[static_cast<std::size_t>(j + layout.has_row_names)] = CsvLayout::kSkipped;
}

// The field of the response by its name, where nobody says which it is.
Index response_by_name(const CsvLayout& layout, const Source& source, const std::vector<Index>& kept) {
  std::vector<Index> found = columns_called_response(layout.header);
  std::erase_if(found,
                [&](Index j) { return std::ranges::find(kept, j + layout.has_row_names) == kept.end(); });
  if (found.size() == 1) return found[0] + layout.has_row_names;
  const std::string file = printable(source.name());
  if (found.empty())
    throw InvalidArgument(fmt::format(
        "target: no column of {} is called y, target, label or response; give --target NAME, one of {}", file,
        known_columns(layout)));
  std::vector<std::string> names;
  for (const Index j : found) names.push_back(in_quotes(layout.header[static_cast<std::size_t>(j)]));
  throw InvalidArgument(fmt::format("target: {} columns of {} could be it, {}; give --target NAME or number",
                                    found.size(), file, fmt::join(names, ", ")));
}

// The field of the response, or -1. `kept` are the fields that were not dropped.
Index response_field(CsvLayout& layout, const Source& source, const ReadOptions& options,
                     const std::vector<Index>& kept) {
  const Index count = std::ssize(kept);
  if (options.target_optional && !layout.has_header && options.features > 0) {
    if (count == options.features) return -1;
    if (count != options.features + 1)
      fail(source.name(), 0,
           fmt::format("expected {}, or one more for the response, got {}",
                       count_of(options.features, "column"), count));
  }
  if (!options.target && layout.has_header && !options.target_optional) {
    layout.response_by_name = true;
    return response_by_name(layout, source, kept);
  }
  if (!options.target) {
    const bool expected = !options.target_optional || (options.features > 0 && count == options.features + 1);
    return expected && count > 0 ? kept.back() : -1;
  }
  const std::vector<Index> found = find_columns(layout, *options.target);
  const bool by_name = layout.has_header && !found.empty() &&
                       layout.header[static_cast<std::size_t>(found[0])] == *options.target;
  if (options.target_optional && layout.has_header && !by_name &&
      (found.empty() || count == options.features))
    return -1;
  if (found.empty()) fail_unknown(layout, "target", *options.target, source);
  if (found.size() > 1)
    throw InvalidArgument(fmt::format("target: {} columns are named {} in {}; give the number of one: {}",
                                      found.size(), in_quotes(*options.target), printable(source.name()),
                                      fmt::join(found, ", ")));
  const Index field = found[0] + layout.has_row_names;
  if (std::ranges::find(kept, field) == kept.end())
    throw InvalidArgument("target: want a column that is not dropped, got " + in_quotes(*options.target));
  return field;
}

// The field of the weights of the rows, unless they are in a file of their own.
Index weights_field(const CsvLayout& layout, const Source& source, const ReadOptions& options) {
  if (!options.weights) return CsvLayout::kSkipped;
  const std::vector<Index> found = find_columns(layout, *options.weights);
  std::error_code ignored;
  if (found.empty() && !options.weights_from_model && std::filesystem::exists(*options.weights, ignored))
    return CsvLayout::kSkipped;
  if (found.empty()) fail_unknown(layout, "observation-weights", *options.weights, source);
  if (found.size() > 1)
    throw InvalidArgument(fmt::format("observation-weights: want one column, got {} that are named {}",
                                      found.size(), in_quotes(*options.weights)));
  return found[0] + layout.has_row_names;
}

void assign_roles(CsvLayout& layout, const Source& source, const ReadOptions& options) {
  if (layout.has_row_names) layout.role[0] = CsvLayout::kSkipped;
  drop_columns(layout, source, options);
  skip_unused(layout, options);
  std::vector<Index> kept;
  for (Index f = 0; f < layout.fields(); ++f)
    if (layout.role[static_cast<std::size_t>(f)] != CsvLayout::kSkipped) kept.push_back(f);
  layout.weights = weights_field(layout, source, options);
  if (layout.weights != CsvLayout::kSkipped && std::erase(kept, layout.weights) == 0)
    throw InvalidArgument("observation-weights: want a column that is not dropped, got " +
                          in_quotes(*options.weights));
  const Index response = response_field(layout, source, options, kept);
  for (const Index f : kept)
    layout.role[static_cast<std::size_t>(f)] = f == response ? CsvLayout::kResponse : layout.features++;
  if (layout.features == 0)
    fail(source.name(), 0, "expected at least one feature column beside the response, got none");
  if (layout.weights != CsvLayout::kSkipped)
    layout.role[static_cast<std::size_t>(layout.weights)] = layout.features++;
}

}  // namespace

std::string CsvLayout::describe(Index field) const {
  const Index column = field - has_row_names;
  if (!has_header) return fmt::format("column {}", column);
  return "column " + in_quotes(header[static_cast<std::size_t>(column)]);
}

CsvLayout csv_layout(const Source& source, const ReadOptions& options) {
  CsvLayout layout;
  Records records(source);
  std::string_view record;
  if (!records.next(record)) records.fail_file("no data rows");
  layout.delimiter = delimiter_of(record);
  std::vector<std::string> first = split(record, layout.delimiter);
  layout.has_header = options.header == Header::kAuto ? is_header(first) : options.header == Header::kYes;
  if (options.header == Header::kAuto && !options.target_optional)
    if (std::string doubt = doubt_about_header(source, first, layout.delimiter); !doubt.empty())
      layout.warnings.push_back(std::move(doubt));
  std::size_t fields = first.size();
  if (layout.has_header) {
    if (!records.next(record)) records.fail_file("no data rows");
    const bool shorter = split(record, layout.delimiter).size() == first.size() + 1;
    const bool unnamed = !shorter && first[0].empty() && first.size() > 1;
    layout.has_row_names = shorter || unnamed;
    fields += shorter;
    if (unnamed) first.erase(first.begin());
    layout.header = names_of(std::move(first));
  }
  layout.role.assign(fields, 0);
  assign_roles(layout, source, options);
  return layout;
}

void check_same_layout(const CsvLayout& layout, const Source& first, const Source& source, Header asked) {
  Records records(source);
  std::string_view record;
  if (!records.next(record)) records.fail_file("no data rows");
  std::vector<std::string> header = split(record, layout.delimiter);
  if (!layout.has_header) {
    if (asked == Header::kAuto && std::ssize(header) == layout.fields() && is_header(header))
      records.fail("expected no header, as in " + printable(first.name()) + ", got one");
    return;
  }
  if (layout.has_row_names && std::ssize(header) == layout.fields() && header[0].empty())
    header.erase(header.begin());
  header = names_of(std::move(header));
  if (header.size() != layout.header.size())
    records.fail(fmt::format("expected {} as in {}, got {}", count_of(std::ssize(layout.header), "column"),
                             printable(first.name()), header.size()));
  for (std::size_t j = 0; j < header.size(); ++j)
    if (header[j] != layout.header[j])
      records.fail(fmt::format("expected column {} as in {}, got {}", in_quotes(layout.header[j]),
                               printable(first.name()), in_quotes(header[j])));
}

}  // namespace tyto
