#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "tyto/data/csv_layout.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/csv_survey.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

[[noreturn]] void fail_ragged(const Records& records, const CsvLayout& layout, Index fields) {
  records.fail(fmt::format("expected {}, got {}", count_of(layout.fields(), "field"), fields));
}

// A field and its delimiter take a byte at least: shorter records are refused at once, so that the matrix is
// never larger than eight times the file.
Index count_rows(const Sources& sources, const CsvLayout& layout) {
  Index rows = 0;
  for (const Source& source : sources) {
    Records records(source);
    Index count = -Index{layout.has_header};
    for (std::string_view record; records.next(record);) {
      if (count >= 0 && is_comment(record, layout.delimiter, layout.fields())) continue;
      if (++count > 0 && std::ssize(record) + 1 < layout.fields())
        fail_ragged(records, layout, std::ssize(split(record, layout.delimiter)));
    }
    if (count <= 0) records.fail_file("no data rows");
    rows += count;
  }
  return rows;
}

// The words of a response that is text, numbered as they are met.
class TextLabels {
 public:
  double number_of(std::string_view text) {
    const std::string word = valid_utf8(text);
    const auto found = std::ranges::find(words_, word);
    if (found == words_.end() && words_.size() > kMost) return static_cast<double>(kMost);
    const auto number = static_cast<double>(found - words_.begin());
    if (found == words_.end()) words_.push_back(word);
    return number;
  }
  bool empty() const { return words_.empty(); }

  // Those that are still there once rows are dropped, in alphabetical order, and their numbers with them.
  void settle(Dataset& data) const {
    IndexSet there;
    for (Index k = 0; k < std::ssize(words_); ++k)
      if ((data.response.array() == static_cast<double>(k)).any()) there.push_back(k);
    const auto word = [&](Index k) -> const std::string& { return words_[static_cast<std::size_t>(k)]; };
    std::ranges::sort(there, {}, word);
    Vector numbers = data.response;
    for (std::size_t k = 0; k < there.size(); ++k) {
      numbers =
          (data.response.array() == static_cast<double>(there[k])).select(static_cast<double>(k), numbers);
      data.labels.push_back(word(there[k]));
    }
    data.response = std::move(numbers);
  }

 private:
  static constexpr std::size_t kMost = 20;  // more are no labels: the rest counts as one more

  std::vector<std::string> words_;
};

class CsvReader {
 public:
  CsvReader(const Sources& sources, const CsvLayout& layout, Index rows, const ReadOptions& options)
      : sources_(sources),
        layout_(layout),
        options_(options),
        x_(make_matrix<double>(rows, layout.features)),
        y_(std::ranges::count(layout.role, CsvLayout::kResponse) > 0 ? rows : 0),
        rows_(x_) {}

  void read(const Source& source) {
    Records records(source);
    std::string_view record;
    if (layout_.has_header) records.next(record);
    while (records.next(record)) {
      if (is_comment(record, layout_.delimiter, layout_.fields())) continue;
      if (is_full()) records.fail_file(kFileChanged);
      read_row(records, record);
    }
  }

  bool is_full() const { return rows_.written() == x_.rows(); }
  bool is_empty() const { return rows_.written() == 0; }
  // The rows so far become all there are. False where each of them is to be dropped.
  bool end_block() {
    const Index rows = rows_.written();
    rows_.flush();
    x_.conservativeResize(rows, Eigen::NoChange);
    if (y_.size() > 0) y_.conservativeResize(rows);
    return options_.missing != Missing::kDropRows || missing_.count == 0 || has_complete_row(x_, y_);
  }

  // `names` of the features, which loses those that are left out for missing values.
  void finish(std::vector<std::string>& names, Dataset& data) {
    if (rows_.written() != x_.rows()) fail(sources_.back().name(), 0, kFileChanged);
    rows_.flush();
    const Index features = x_.cols() - (layout_.weights >= 0) - (layout_.offset >= 0) - (layout_.event >= 0);
    Missing policy = options_.missing;
    if (policy == Missing::kMean) fill_missing(x_, features, names, options_.fill, data);
    if (policy == Missing::kDropColumns && missing_.count > 0) drop_incomplete(features, names, data);
    if (policy == Missing::kMean || policy == Missing::kDropColumns) policy = Missing::kDropRows;
    settle(std::move(x_), std::move(y_), missing_, policy, data);
    if (!labels_.empty()) labels_.settle(data);
  }

  void read_row(const Records& records, std::string_view record) {
    const Index i = rows_.written();
    double* row = rows_.next();
    Index field = 0;
    for (Fields fields(record, layout_.delimiter); !fields.done(); ++field) {
      const Index role =
          field < layout_.fields() ? layout_.role[static_cast<std::size_t>(field)] : CsvLayout::kSkipped;
      double value = 0;
      if (role == CsvLayout::kSkipped)
        fields.next();
      else if (role == CsvLayout::kResponse && options_.text_labels)
        value = label(records, fields.next(), field);
      else if (field == layout_.event)
        value = event(records, fields.next(), field);
      else if (const OneHot* words = role >= 0 ? layout_.words_of(field) : nullptr) {
        set_words(records, fields.next(), field, *words, row);
        continue;
      } else if (layout_.decimal_comma || !fields.next_if_finite_number(value))
        value = odd_cell(records, fields.next(), field);
      if (role >= 0)
        row[role] = value;
      else if (role == CsvLayout::kResponse)
        y_[i] = value;
    }
    if (field != layout_.fields()) fail_ragged(records, layout_, field);
  }

 private:
  // A response that may be text. The first row that has one says whether all are.
  double label(const Records& records, std::string_view text, Index field) {
    double value = 0;
    const bool number = is_cell_number(text, value);
    if (is_missing(text) || (number && labels_.empty())) {
      numeric_ = numeric_ || number;
      return odd_cell(records, text, field);
    }
    if (number || numeric_)
      records.fail(fmt::format("{}: expected a {} as in the rows before, got {}", layout_.describe(field),
                               number ? "label" : "number", in_quotes(text)));
    return labels_.number_of(text);
  }

  // Whether there was an event.
  double event(const Records& records, std::string_view text, Index field) {
    const std::string word = lower_case(text);
    if (word == "true") return 1;
    if (word == "false") return 0;
    double value = 0;
    const bool number = is_number(text, value);
    if (!is_missing(text) && (!number || (value != 0 && value != 1 && !std::isnan(value))))
      records.fail(fmt::format("{}: expected an event as 0 or 1, FALSE or TRUE, got {}",
                               layout_.describe(field), in_quotes(text)));
    return odd_cell(records, text, field);
  }

  bool is_cell_number(std::string_view text, double& value) const {
    return layout_.decimal_comma ? is_comma_number(text, value) : is_number(text, value);
  }

  // The columns of 0 and 1 that this word stands for.
  void set_words(const Records& records, std::string_view text, Index field, const OneHot& words,
                 double* row) {
    const std::vector<std::string>& all = words.words;
    const Index width = std::ssize(all) == 2 ? 1 : std::ssize(all);
    double* first = row + layout_.role[static_cast<std::size_t>(field)];
    std::fill(first, first + width, is_missing(text) ? odd_cell(records, text, field) : 0.0);
    if (is_missing(text)) return;
    const auto found = std::ranges::lower_bound(all, valid_utf8(text));
    if (found == all.end() || *found != valid_utf8(text))
      records.fail(fmt::format("{}: expected one of the words that the model knows, got {}",
                               layout_.describe(field), in_quotes(text)));
    const Index place = found - all.begin() - (all.size() == 2 ? 1 : 0);
    if (place >= 0) first[place] = 1;
  }

  // Takes out the features that have missing values.
  void drop_incomplete(Index features, std::vector<std::string>& names, Dataset& data) {
    IndexSet kept;
    std::vector<std::string> kept_names;
    for (Index j = 0; j < x_.cols(); ++j) {
      if (j < features && x_.col(j).hasNaN()) continue;
      kept.push_back(j);
      if (j < features && !names.empty()) kept_names.push_back(names[static_cast<std::size_t>(j)]);
    }
    if (std::ssize(kept) == x_.cols() - features)
      throw DataError(missing_.first + ": missing value, as in every other column: no column is left");
    for (Index f = 0; f < layout_.fields(); ++f)
      if (const Index role = layout_.role[static_cast<std::size_t>(f)];
          role >= 0 && role < features && std::ranges::find(kept, role) == kept.end())
        data.dropped_columns.push_back(layout_.name(f));
    x_ = DenseMatrix<double>(x_(Eigen::all, kept));
    names = std::move(kept_names);
  }

  // What is not a plain finite number: quoted, TRUE or FALSE, missing or wrong.
  double odd_cell(const Records& records, std::string_view text, Index field) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const bool number = is_cell_number(text, value) || is_truth(text, value);
    if (is_missing(text) || (number && std::isnan(value))) {
      missing_.add([&] {
        return fmt::format("{}:{}: {}", printable(records.name()), records.line(), layout_.describe(field));
      });
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (!number) refuse_text(sources_, layout_);
    if (std::isinf(value))
      records.fail(
          fmt::format("{}: expected a finite number, got {}", layout_.describe(field), in_quotes(text)));
    return value;
  }

  const Sources& sources_;
  const CsvLayout& layout_;
  const ReadOptions& options_;
  bool numeric_ = false;  // the response could be text and is numbers
  TextLabels labels_;
  DenseMatrix<double> x_;
  Vector y_;
  RowWriter<double> rows_;
  MissingValues missing_;
};

// The last column becomes the weights of the rows, their offset or their events.
void split_off(Dataset& data, Vector& numbers) {
  const Index last = data.design.cols() - 1;
  numbers.resize(data.design.rows());
  data.design.for_each_entry(last, [&](Index row, double value) { numbers[row] = value; });
  IndexSet features(static_cast<std::size_t>(last));
  std::iota(features.begin(), features.end(), Index{0});
  data.design = data.design.select(features);
}

}  // namespace

bool looks_like_csv(std::string_view beginning) { return beginning.find('\0') == std::string_view::npos; }

namespace {

// Those of the features, where there are any; the response, the weights, the offset and the events get
// theirs.
std::vector<std::string> take_names(CsvLayout& layout, Dataset& data) {
  const auto number_of = [&](Index field) { return std::to_string(field - layout.has_row_names); };
  if (layout.event != CsvLayout::kSkipped) data.event_name = number_of(layout.event);
  if (layout.offset != CsvLayout::kSkipped) data.offset_name = number_of(layout.offset);
  if (layout.weights != CsvLayout::kSkipped) data.weights_name = number_of(layout.weights);
  std::vector<std::string> names;
  for (Index f = 0; f < layout.fields() && layout.has_header; ++f) {
    const Index role = layout.role[static_cast<std::size_t>(f)];
    if (role == CsvLayout::kSkipped) continue;
    const std::string& name = layout.header[static_cast<std::size_t>(f - layout.has_row_names)];
    if (role == CsvLayout::kResponse)
      data.response_name = name;
    else if (f == layout.weights)
      data.weights_name = name;
    else if (f == layout.offset)
      data.offset_name = name;
    else if (f == layout.event)
      data.event_name = name;
    else if (const OneHot* words = layout.words_of(f))
      std::ranges::move(words->features(), std::back_inserter(names));
    else
      names.push_back(name);
  }
  return names;
}

}  // namespace

namespace {

// How all the files are laid out, with the words of columns that hold words.
CsvLayout layout_of(const Sources& sources, const ReadOptions& options) {
  CsvLayout layout = csv_layout(sources[0], options);
  for (std::size_t s = 1; s < sources.size(); ++s)
    check_same_layout(layout, sources[0], sources[s], options.header);
  find_words(sources, layout);
  make_room_for_words(layout);
  return layout;
}

Dataset finished(CsvReader& reader, CsvLayout layout, const ReadOptions& options) {
  Dataset data;
  data.names = take_names(layout, data);
  reader.finish(data.names, data);
  data.response_by_name = layout.response_by_name;
  data.warnings = std::move(layout.warnings);
  for (const CsvLayout::Words& words : layout.one_hot) data.one_hot.push_back(words.what);
  if (layout.event != CsvLayout::kSkipped) split_off(data, data.events);
  if (layout.offset != CsvLayout::kSkipped) split_off(data, data.offset);
  if (layout.weights != CsvLayout::kSkipped) split_off(data, data.row_weights);
  if (!options.target_optional && data.dropped_columns.empty())
    warn_of_row_numbers(layout, data, data.warnings);
  return data;
}

}  // namespace

Dataset read_csv(const Sources& sources, const ReadOptions& options) {
  const CsvLayout layout = layout_of(sources, options);
  CsvReader reader(sources, layout, count_rows(sources, layout), options);
  for (const Source& source : sources) reader.read(source);
  return finished(reader, layout, options);
}

void read_csv_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan) {
  const CsvLayout layout = layout_of(sources, options);
  const Index rows = plan.rows(layout.features + 1, false);
  std::optional<CsvReader> reader(std::in_place, sources, layout, rows, options);
  const auto hand_over = [&] {
    if (reader->is_empty()) return;
    if (reader->end_block()) plan.sink(finished(*reader, layout, options));
    reader.emplace(sources, layout, rows, options);
  };
  for (const Source& source : sources) {
    Records records(source);
    std::string_view record;
    if (layout.has_header) records.next(record);
    Index count = 0;
    while (records.next(record)) {
      if (is_comment(record, layout.delimiter, layout.fields())) continue;
      if (reader->is_full()) hand_over();
      reader->read_row(records, record);
      ++count;
    }
    if (count == 0) records.fail_file("no data rows");
  }
  hand_over();
}

}  // namespace tyto
