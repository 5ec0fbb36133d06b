#include "tyto/data/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/data/csv_header.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

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
  const auto near = nearest(wanted, layout.header);
  throw InvalidArgument(fmt::format("{}: no column {} in {}; known: {}{}", option, in_quotes(wanted),
                                    printable(source.name()), known_columns(layout),
                                    near ? "; did you mean " + in_quotes(*near) + "?" : ""));
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
  std::unordered_set<std::string> used(options.used.begin(), options.used.end());
  for (const OneHot& words : options.one_hot)
    for (const std::string& feature : words.features())
      if (used.erase(feature) > 0) used.insert(words.column);
  const std::unordered_set<std::string_view> there(layout.header.begin(), layout.header.end());
  for (const std::string& name : used) {
    if (there.contains(name)) continue;
    const auto near = nearest(name, layout.header);
    throw InvalidArgument(fmt::format("data: want a column {}, which the model uses, got none of that name{}",
                                      in_quotes(name), near ? "; is it " + in_quotes(*near) + "?" : ""));
  }
  std::vector<Index> asked;
  for (const auto& option : {options.target, options.weights, options.offset, options.event})
    if (option) std::ranges::copy(find_columns(layout, *option), std::back_inserter(asked));
  for (Index j = 0; j < layout.columns(); ++j)
    if (!used.contains(layout.header[static_cast<std::size_t>(j)]) &&
        std::ranges::find(asked, j) == asked.end())
      layout.role[static_cast<std::size_t>(j + layout.has_row_names)] = CsvLayout::kSkipped;
}

// The field of the response by its name, where nobody says which it is.
Index response_by_name(const CsvLayout& layout, const Source& source, const std::vector<Index>& kept) {
  const std::vector<Index> named = columns_called_response(layout.header);
  std::vector<Index> found = named;
  std::erase_if(found,
                [&](Index j) { return std::ranges::find(kept, j + layout.has_row_names) == kept.end(); });
  if (found.size() == 1) return found[0] + layout.has_row_names;
  const std::string file = printable(source.name());
  if (found.empty() && !named.empty())
    throw InvalidArgument(fmt::format(
        "target: the column called {} {}; give --target NAME or number",
        in_quotes(layout.header[static_cast<std::size_t>(named[0])]),
        named[0] + layout.has_row_names == layout.weights ? "holds the observation weights" : "is dropped"));
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
  if (options.response) return -1;  // all columns are features
  Index count = std::ssize(kept);   // of columns, once words are several
  for (const OneHot& words : options.one_hot)
    if (!words.words.empty()) count += std::ssize(words.features()) - 1;
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
  if (found.empty() && options.target_optional && options.target_from_model) return -1;
  if (found.empty()) fail_unknown(layout, "target", *options.target, source);
  if (found.size() > 1)
    throw InvalidArgument(fmt::format("target: {} columns are named {} in {}; give the number of one: {}",
                                      found.size(), in_quotes(*options.target), printable(source.name()),
                                      fmt::join(found, ", ")));
  const Index field = found[0] + layout.has_row_names;
  if (std::ranges::find(kept, field) == kept.end())
    throw InvalidArgument(
        fmt::format("target: want a column that {}, got {}",
                    field == layout.weights ? "does not hold the observation weights" : "is not dropped",
                    in_quotes(*options.target)));
  return field;
}

// One number for each row that is no feature: the weights, the offset, or whether there was an event.
struct Beside {
  std::string_view option;
  const std::optional<std::string>& name;
  bool from_model;
  bool optional = false;  // it may be missing
};

// Its field, which is taken out of `kept`, unless it is in a file of its own.
Index take_field(const Beside& beside, const CsvLayout& layout, const Source& source,
                 std::vector<Index>& kept) {
  if (!beside.name) return CsvLayout::kSkipped;
  const std::vector<Index> found = find_columns(layout, *beside.name);
  std::error_code ignored;
  if (found.empty() && !beside.from_model && std::filesystem::exists(*beside.name, ignored))
    return CsvLayout::kSkipped;
  if (found.empty() && beside.optional) return CsvLayout::kSkipped;
  if (found.empty()) fail_unknown(layout, beside.option, *beside.name, source);
  if (found.size() > 1)
    throw InvalidArgument(fmt::format("{}: want one column, got {} that are named {}", beside.option,
                                      found.size(), in_quotes(*beside.name)));
  const Index field = found[0] + layout.has_row_names;
  const bool dropped = layout.role[static_cast<std::size_t>(field)] == CsvLayout::kSkipped;
  if (std::erase(kept, field) == 0)
    throw InvalidArgument(fmt::format("{}: want a column {}, got {}", beside.option,
                                      dropped ? "that is not dropped" : "of its own",
                                      in_quotes(*beside.name)));
  return field;
}

// The columns of words. New data for a model need not have those that it does not use.
void find_one_hot(CsvLayout& layout, const Source& source, const ReadOptions& options) {
  for (const OneHot& words : options.one_hot) {
    const std::vector<Index> found = find_columns(layout, words.column);
    if (found.empty() && options.target_optional) continue;
    if (found.empty()) fail_unknown(layout, "one-hot", words.column, source);
    for (const Index column : found) {
      const Index field = column + layout.has_row_names;
      const Index role = layout.role[static_cast<std::size_t>(field)];
      if (role == CsvLayout::kSkipped && options.target_optional) continue;
      if (role < 0 || field == layout.weights || field == layout.offset || field == layout.event)
        throw InvalidArgument("one-hot: want a feature, got " + in_quotes(words.column));
      if (layout.words_of(field) != nullptr)
        throw InvalidArgument("one-hot: want each column once, got " + in_quotes(words.column) + " twice");
      layout.one_hot.push_back({field, words});
      layout.one_hot.back().what.column = layout.name(field);
    }
  }
}

void assign_roles(CsvLayout& layout, const Source& source, const ReadOptions& options) {
  if (layout.has_row_names) layout.role[0] = CsvLayout::kSkipped;
  drop_columns(layout, source, options);
  skip_unused(layout, options);
  std::vector<Index> kept;
  for (Index f = 0; f < layout.fields(); ++f)
    if (layout.role[static_cast<std::size_t>(f)] != CsvLayout::kSkipped) kept.push_back(f);
  layout.weights =
      take_field({"observation-weights", options.weights, options.weights_from_model}, layout, source, kept);
  layout.offset = take_field({"offset", options.offset, options.offset_from_model}, layout, source, kept);
  layout.event = take_field({"event", options.event, options.event_from_model, options.target_optional},
                            layout, source, kept);
  const Index response = response_field(layout, source, options, kept);
  for (const Index f : kept)
    layout.role[static_cast<std::size_t>(f)] = f == response ? CsvLayout::kResponse : layout.features++;
  if (layout.features == 0)
    fail(source.name(), 0, "expected at least one feature column beside the response, got none");
  for (const Index f : {layout.weights, layout.offset, layout.event})
    if (f != CsvLayout::kSkipped) layout.role[static_cast<std::size_t>(f)] = layout.features++;
  find_one_hot(layout, source, options);
}

// 1,234: perhaps a thousand and more.
bool may_have_thousands(std::string_view number) {
  const std::size_t comma = number.find(',');
  const std::size_t digits = number.find_first_of("0123456789");
  return comma != std::string_view::npos && comma - digits <= 3 && number[digits] != '0' &&
         number.size() == comma + 4;
}

// Whether commas are decimal: where fields are separated by something else, some number has one, no number
// has a point, and not all of them could be thousands.
bool has_decimal_commas(const Source& source, const CsvLayout& layout, Decimal asked) {
  if (asked != Decimal::kAuto || layout.delimiter == ',') return asked == Decimal::kComma;
  constexpr Index kRowsLookedAt = 1000;
  Records records(source);
  std::string_view record;
  if (layout.has_header) records.next(record);
  std::string doubtful;
  bool commas = false;
  for (Index row = 0; row < kRowsLookedAt && records.next(record); ++row)
    for (const std::string& field : split(record, layout.delimiter)) {
      double value = 0;
      const bool point = field.find('.') != std::string::npos;
      if (point && is_number(field, value)) return false;
      if (field.find(',') == std::string::npos || !is_comma_number(field, value)) continue;
      const bool doubt = may_have_thousands(field);
      commas = commas || !doubt;
      if (doubt && doubtful.empty())
        doubtful = fmt::format("{}:{}: {}", printable(source.name()), records.line(), in_quotes(field));
    }
  if (!commas && !doubtful.empty())
    throw DataError(doubtful +
                    " may be a decimal number or a thousand and more; --decimal , or --decimal . says "
                    "which, and thousands have to be written without a mark");
  return commas;
}

}  // namespace

std::string CsvLayout::describe(Index field) const {
  const Index column = field - has_row_names;
  if (!has_header) return fmt::format("column {}", column);
  return "column " + in_quotes(header[static_cast<std::size_t>(column)]);
}

std::string CsvLayout::name(Index field) const {
  const Index column = field - has_row_names;
  if (!has_header || std::ranges::count(header, header[static_cast<std::size_t>(column)]) > 1)
    return std::to_string(column);
  return header[static_cast<std::size_t>(column)];
}

const OneHot* CsvLayout::words_of(Index field) const {
  for (const Words& words : one_hot)
    if (words.field == field) return &words.what;
  return nullptr;
}

void make_room_for_words(CsvLayout& layout) {
  if (layout.one_hot.empty()) return;
  std::vector<Index> fields;
  for (Index f = 0; f < layout.fields(); ++f)
    if (layout.role[static_cast<std::size_t>(f)] >= 0) fields.push_back(f);
  std::ranges::sort(fields, {}, [&](Index f) { return layout.role[static_cast<std::size_t>(f)]; });
  layout.features = 0;
  for (const Index f : fields) {
    const OneHot* words = layout.words_of(f);
    layout.role[static_cast<std::size_t>(f)] = layout.features;
    layout.features += words == nullptr ? 1 : std::ssize(words->features());
  }
}

CsvLayout csv_layout(const Source& source, const ReadOptions& options) {
  CsvLayout layout;
  Records records(source);
  std::string_view record;
  if (!records.next(record)) records.fail_file("no data rows");
  layout.delimiter = records.separator() != '\0' ? records.separator() : delimiter_of(record);
  std::vector<std::string> first = split(record, layout.delimiter);
  layout.has_header =
      options.header == Header::kAuto ? is_header(first, layout.delimiter) : options.header == Header::kYes;
  if (options.header == Header::kAuto && !options.target_optional)
    if (std::string doubt = doubt_about_header(source, first, layout.delimiter); !doubt.empty())
      layout.warnings.push_back(std::move(doubt));
  std::size_t fields = first.size();
  if (layout.has_header) {
    do {
      if (!records.next(record)) records.fail_file("no data rows");
    } while (record.starts_with('#') && split(record, layout.delimiter).size() < first.size());
    const bool shorter = split(record, layout.delimiter).size() == first.size() + 1;
    const bool unnamed = !shorter && first[0].empty() && first.size() > 1;
    layout.has_row_names = shorter || unnamed;
    fields += shorter;
    if (unnamed) first.erase(first.begin());
    layout.header = names_of(std::move(first));
  }
  layout.role.assign(fields, 0);
  assign_roles(layout, source, options);
  layout.decimal_comma = has_decimal_commas(source, layout, options.decimal);
  return layout;
}

void check_same_layout(const CsvLayout& layout, const Source& first, const Source& source, Header asked) {
  Records records(source);
  std::string_view record;
  if (!records.next(record)) records.fail_file("no data rows");
  std::vector<std::string> header = split(record, layout.delimiter);
  if (!layout.has_header) {
    if (asked == Header::kAuto && std::ssize(header) == layout.fields() &&
        is_header(header, layout.delimiter))
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
