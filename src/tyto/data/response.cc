#include "tyto/data/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/base/selection.h"
#include "tyto/data/csv_header.h"
#include "tyto/data/csv_layout.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr double kMissingValue = std::numeric_limits<double>::quiet_NaN();
constexpr Index kNone = -1;

// How a table is laid out. Columns are counted after the row names.
struct Table {
  char delimiter = ',';
  std::vector<std::string> header;  // empty where there is none
  Index fields = 0, skipped = 0;    // skipped: row names
  Index header_line = 0;            // 0: none, or found by Records itself
  bool header_record = false, decimal_comma = false;
  Index person = kNone, family = kNone, value = kNone;

  std::string describe(Index column) const {
    return header.empty() ? fmt::format("column {}", column)
                          : "column " + in_quotes(header[static_cast<std::size_t>(column)]);
  }
};

Index find_name(const std::vector<std::string>& header, std::string_view name) {
  for (std::size_t j = 0; j < header.size(); ++j)
    if (lower_case(header[j]) == name) return static_cast<Index>(j);
  return kNone;
}

bool are_values(std::span<const std::string> fields) {
  double value = 0;
  return std::ranges::all_of(
      fields, [&](const std::string& field) { return is_missing(field) || is_number(field, value); });
}

// A table that says whose its rows are; nothing where it is of one column.
std::optional<Table> sample_table(const Source& source) {
  Lines lines(source);
  std::string_view line;
  while (lines.next(line) && trimmed(line).empty()) {
  }
  if (line.starts_with('#')) line.remove_prefix(1);
  Table table;
  table.delimiter = delimiter_of(line);
  std::vector<std::string> first = split(line, table.delimiter);
  table.fields = std::ssize(first);
  if (table.fields < 2) return {};
  table.person = find_name(first, "iid");
  table.family = find_name(first, "fid");
  if (table.person != kNone) {
    table.header = std::move(first);
    table.header_line = lines.number();
    return table;
  }
  if (table.fields < 3 || !are_values(std::span(first).subspan(2)))
    lines.fail("expected a column IID in the header, or family, person and numbers, got " + in_quotes(line));
  table.family = 0;
  table.person = 1;
  return table;
}

Table row_table(const Source& source, const ReadOptions& options) {
  const CsvLayout layout = csv_layout(source, {.target_optional = true, .decimal = options.decimal});
  Table table;
  table.delimiter = layout.delimiter;
  table.header = layout.header;
  table.fields = layout.fields();
  table.skipped = layout.has_row_names;
  table.header_record = layout.has_header;
  table.decimal_comma = layout.decimal_comma;
  return table;
}

// The column of the response: the one that is asked for, or the only one there is.
Index value_column(const Table& table, const Source& source, const ReadOptions& options) {
  const Index columns = table.fields - table.skipped;
  std::vector<std::string> known;
  std::vector<Index> free;
  for (Index j = 0; j < columns; ++j) {
    if (j == table.person || j == table.family) continue;
    free.push_back(j);
    known.push_back(table.header.empty() ? std::to_string(j) : table.header[static_cast<std::size_t>(j)]);
  }
  const std::string file = printable(source.name());
  if (const auto& target = options.target; target && !(options.target_from_model && free.size() == 1)) {
    for (std::size_t k = 0; k < free.size(); ++k)
      if (known[k] == *target) return free[k];
    Index number = 0;
    if (is_count(*target, number) && std::ranges::find(free, number) != free.end()) return number;
    throw InvalidArgument(fmt::format("target: no column {} in {}; known: {}{}", in_quotes(*target), file,
                                      printable(joined(known)), did_you_mean(*target, known)));
  }
  if (free.size() == 1) return free[0];
  if (free.empty()) fail(source.name(), 0, "expected a column of the response, got none");
  throw InvalidArgument(fmt::format("target: want one of the columns of {} (--response {} --target NAME): {}",
                                    file, file, printable(joined(known))));
}

// Words, numbered as they are met.
class Words {
 public:
  double number_of(std::string_view text) {
    const auto [place, added] = number_.emplace(valid_utf8(text), number_.size());
    return static_cast<double>(place->second);
  }
  std::size_t size() const { return number_.size(); }
  std::vector<std::string> in_order() const {
    std::vector<std::string> words(number_.size());
    for (const auto& [word, number] : number_) words[number] = word;
    return words;
  }

 private:
  std::unordered_map<std::string, std::size_t> number_;
};

// Reads the cells of the response's column.
class TableReader {
 public:
  TableReader(const Source& source, const Table& table, const ReadOptions& options)
      : source_(source), table_(table), options_(options) {}

  void read(ResponseFile& result) {
    Records records(source_);
    std::string_view record;
    if (table_.header_record) records.next(record);
    std::vector<double> values;
    while (records.next(record)) {
      if (records.line() <= table_.header_line || is_comment(record, table_.delimiter, table_.fields))
        continue;
      const std::vector<std::string> fields = split(record, table_.delimiter);
      if (std::ssize(fields) != table_.fields)
        records.fail(fmt::format("expected {}, got {}", count_of(table_.fields, "field"), fields.size()));
      const auto cell = [&](Index column) {
        return fields[static_cast<std::size_t>(column + table_.skipped)];
      };
      values.push_back(value_of(records, cell(table_.value)));
      result.lines.push_back(records.line());
      if (table_.person != kNone)
        result.samples.push_back({table_.family == kNone ? "" : cell(table_.family), cell(table_.person)});
    }
    if (values.empty()) records.fail_file("no data rows");
    result.values = Eigen::Map<const Vector>(values.data(), std::ssize(values));
    result.labels = words_.in_order();
    result.has_families = table_.family != kNone;
    if (!table_.header.empty()) result.name = table_.header[static_cast<std::size_t>(table_.value)];
  }

 private:
  static constexpr std::size_t kMostWords = 1000;

  double value_of(const Records& records, const std::string& text) {
    double value = 0;
    if (is_missing(text)) return kMissingValue;
    const bool number =
        table_.decimal_comma ? is_comma_number(text, value) : is_number(text, value) || is_truth(text, value);
    if (number && std::isnan(value)) return kMissingValue;
    const std::string where = table_.describe(table_.value);
    if (number && words_.size() == 0) {
      if (std::isinf(value))
        records.fail(fmt::format("{}: expected a finite number, got {}", where, in_quotes(text)));
      numeric_ = true;
      return value;
    }
    if (!options_.text_labels)
      records.fail(fmt::format("{}: expected a number, got {}", where, in_quotes(text)));
    if (number || numeric_)
      records.fail(fmt::format("{}: expected a {} as in the rows before, got {}", where,
                               number ? "label" : "number", in_quotes(text)));
    if (words_.size() == kMostWords)
      records.fail(fmt::format("{}: expected at most {} different labels, got more", where, kMostWords));
    return words_.number_of(text);
  }

  const Source& source_;
  const Table& table_;
  const ReadOptions& options_;
  bool numeric_ = false;
  Words words_;
};

// One column of an array.
void take_column(const Dataset& array, const Source& source, const ReadOptions& options,
                 ResponseFile& result) {
  Index column = 0;
  const Index cols = array.design.cols();
  if (cols > 1 && !(options.target && is_count(*options.target, column) && column < cols))
    throw InvalidArgument(fmt::format("target: want a column of {}, --target 0 to {}, got {}",
                                      printable(source.name()), cols - 1,
                                      options.target ? in_quotes(*options.target) : "none"));
  result.values = Vector::Zero(array.design.rows());
  array.design.for_each_entry(column, [&](Index row, double value) { result.values[row] = value; });
}

void keep_rows(const IndexSet& kept, Dataset& data) {
  data.design = data.design.take_rows(kept);
  for (Vector* numbers : {&data.response, &data.row_weights, &data.offset, &data.events})
    if (numbers->size() > 0) *numbers = Vector((*numbers)(kept));
  if (data.samples.empty()) return;
  std::vector<Sample> samples;
  for (const Index i : kept) samples.push_back(std::move(data.samples[static_cast<std::size_t>(i)]));
  data.samples = std::move(samples);
}

// Words of rows that are gone are no labels, and those that are left come in alphabetical order.
void settle_labels(Dataset& data) {
  if (data.labels.empty()) return;
  std::vector<std::size_t> there;
  for (std::size_t k = 0; k < data.labels.size(); ++k)
    if ((data.response.array() == static_cast<double>(k)).any()) there.push_back(k);
  std::ranges::sort(there, {}, [&](std::size_t k) -> const std::string& { return data.labels[k]; });
  std::vector<std::string> labels;
  Vector numbers = data.response;
  for (std::size_t k = 0; k < there.size(); ++k) {
    labels.push_back(data.labels[there[k]]);
    numbers =
        (data.response.array() == static_cast<double>(there[k])).select(static_cast<double>(k), numbers);
  }
  data.labels = std::move(labels);
  data.response = std::move(numbers);
}

std::string key_of(const Sample& sample, bool by_family) {
  return by_family ? sample.family + '\0' + sample.person : sample.person;
}

std::string shown(const Sample& sample, bool by_family) {
  return in_quotes(by_family ? sample.family + " " + sample.person : sample.person);
}

bool repeats_persons(const std::vector<Sample>& samples) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::any_of(samples,
                             [&](const Sample& sample) { return !seen.insert(sample.person).second; });
}

// The responses of the data's samples, NaN where the file has none.
Vector matched(const ResponseFile& file, const Dataset& data) {
  const bool by_family =
      repeats_persons(data.samples) || (file.has_families && repeats_persons(file.samples));
  if (by_family && !file.has_families)
    fail(file.file, 0,
         "expected a column FID beside IID, as persons of several families have one IID, got none");
  std::unordered_map<std::string, std::size_t> row;
  for (std::size_t i = 0; i < file.samples.size(); ++i) {
    const auto [place, added] = row.emplace(key_of(file.samples[i], by_family), i);
    if (!added)
      fail(file.file, file.lines[i],
           fmt::format("expected each sample once, got {} as in line {}", shown(file.samples[i], by_family),
                       file.lines[place->second]));
  }
  Vector values = Vector::Constant(std::ssize(data.samples), kMissingValue);
  Index found = 0;
  for (std::size_t i = 0; i < data.samples.size(); ++i)
    if (const auto place = row.find(key_of(data.samples[i], by_family)); place != row.end()) {
      values[static_cast<Index>(i)] = file.values[static_cast<Index>(place->second)];
      ++found;
    }
  if (found == 0)
    fail(file.file, 0,
         fmt::format("expected samples of the data such as {}, got none of them, but such as {}",
                     shown(data.samples[0], by_family), shown(file.samples[0], by_family)));
  return values;
}

}  // namespace

void mark_missing_phenotypes(Vector& values) {
  const auto is_code = [](double x) { return std::isnan(x) || x == -9 || x == 0 || x == 1 || x == 2; };
  const bool cases = std::ranges::all_of(values, is_code) && std::ranges::count(values, 2.0) > 0;
  for (double& x : values)
    if (x == -9 || (cases && x == 0)) x = kMissingValue;
}

ResponseFile read_response_file(const ReadOptions& options, bool samples) {
  const Source source(*options.response);
  ResponseFile result{source.name(), {}, {}, {}};
  const std::string beginning = source.beginning(std::size_t{1} << 16);
  if (looks_like_npy(beginning) || looks_like_matrix_market(beginning)) {
    const ReadOptions reading{.target_optional = true, .missing = Missing::kKeep};
    Sources one;
    one.push_back(source);
    take_column(looks_like_npy(beginning) ? read_npy(one, reading) : read_matrix_market(one, reading), source,
                options, result);
    return result;
  }
  if (looks_like_libsvm(beginning)) fail(source.name(), 0, "expected a file of one column, got libsvm");
  std::optional<Table> table;
  if (samples) table = sample_table(source);
  if (!table) table = row_table(source, options);
  table->value = value_column(*table, source, options);
  TableReader(source, *table, options).read(result);
  if (samples && result.labels.empty()) mark_missing_phenotypes(result.values);
  return result;
}

void attach_response(const ResponseFile& file, const ReadOptions& options, Dataset& data) {
  const IndexSet& dropped = data.dropped_rows;
  const Index rows = data.design.rows() + std::ssize(dropped);
  const bool by_sample = !file.samples.empty() && !data.samples.empty();
  if (!by_sample && file.values.size() != rows)
    fail(file.file, 0,
         fmt::format("expected {} as in the matrix, got {}", count_of(rows, "row"), file.values.size()));
  data.response = by_sample ? matched(file, data) : file.values(all_but(dropped, rows)).eval();
  data.response_name = file.name;
  data.response_by_name = false;
  data.labels = file.labels;
  settle_response(options, file.file, data);
  settle_labels(data);
}

void settle_response(const ReadOptions& options, const std::string& file, Dataset& data) {
  IndexSet missing;
  const Index rows = data.response.size();
  for (Index i = 0; i < rows; ++i)
    if (std::isnan(data.response[i])) missing.push_back(i);
  if (missing.empty() || options.missing == Missing::kKeep) return;
  const IndexSet in_files = all_but(data.dropped_rows, rows + std::ssize(data.dropped_rows));
  const auto first = static_cast<std::size_t>(missing[0]);
  if (options.missing == Missing::kRefuse)
    fail(
        file, 0,
        fmt::format("missing value: {} of {} rows have no response, the first is {}; use --missing drop-rows",
                    missing.size(), rows,
                    data.samples.empty() ? fmt::format("row {}", in_files[first])
                                         : "sample " + shown(data.samples[first], true)));
  if (std::ssize(missing) == rows) fail(file, 0, "missing value in every row: no row is left");
  if (options.memory > 0)
    throw InvalidArgument(fmt::format(
        "memory: want none where rows are left out, as the others are copied in memory, got {} rows "
        "without a response; plink2 --keep or tyto convert write a file without them",
        missing.size()));
  keep_rows(all_but(missing, rows), data);
  for (const Index i : missing) data.dropped_rows.push_back(in_files[static_cast<std::size_t>(i)]);
  std::ranges::sort(data.dropped_rows);
}

}  // namespace tyto
