#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tyto/base/error.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/sparse_columns.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr Index kLargestIndex = std::numeric_limits<std::int32_t>::max();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What remains of a line without its comment and the blanks around it.
std::string_view content_of(std::string_view line) {
  if (const void* comment = std::memchr(line.data(), '#', line.size()))
    line = line.substr(0, static_cast<std::size_t>(static_cast<const char*>(comment) - line.data()));
  return trimmed(line);
}

// One example: "label qid:7 index:value index:value ...". The values are parsed where they are asked for
// only.
class Example {
 public:
  Example(const Lines& lines, std::string_view content, Index features)
      : lines_(lines), features_(features), cursor_(content.data()), end_(content.data() + content.size()) {
    label_ = take_word(content);
    cursor_ = content.data();
    std::string_view rest = content;
    if (take_word(rest).starts_with("qid:")) cursor_ = rest.data();
  }

  double label() const {
    double value = 0;
    if (!is_number(label_, value)) lines_.fail("expected a number as label, got " + in_quotes(label_));
    if (!std::isfinite(value)) lines_.fail("expected a finite label, got " + in_quotes(label_));
    return value;
  }

  bool next() {  // moves on to the next entry
    while (cursor_ < end_ && is_blank(*cursor_)) ++cursor_;
    if (cursor_ == end_) return false;
    const char* start = cursor_;
    Index index = 0;
    while (cursor_ < end_ && is_digit(*cursor_) && index <= kLargestIndex)
      index = 10 * index + (*cursor_++ - '0');
    if (index > kLargestIndex || cursor_ == start || cursor_ == end_ || *cursor_ != ':')
      fail_at(start, index);
    if (index <= index_) fail_order(index);
    if (features_ > 0 && index > features_)
      lines_.fail(fmt::format("expected at most {}, got index {}", count_of(features_, "feature"), index));
    index_ = index;
    ++cursor_;
    return true;
  }
  Index column() const { return index_ - 1; }
  void skip_value() {
    while (cursor_ < end_ && !is_blank(*cursor_)) ++cursor_;
  }
  double value() {
    double value = 0;
    const char* stop = parse_number(cursor_, end_, value);
    if (stop == cursor_ || (stop < end_ && !is_blank(*stop)) || !std::isfinite(value))
      lines_.fail(fmt::format("expected a finite number for feature {}, got {}", index_,
                              in_quotes(word_at(cursor_))));
    cursor_ = stop;
    return value;
  }

 private:
  std::string_view word_at(const char* begin) const {
    const char* stop = begin;
    while (stop < end_ && !is_blank(*stop)) ++stop;
    return {begin, static_cast<std::size_t>(stop - begin)};
  }
  [[noreturn]] void fail_at(const char* start, Index index) const {
    if (index > kLargestIndex)
      lines_.fail(
          fmt::format("expected an index up to {}, got {}", kLargestIndex, in_quotes(word_at(start))));
    double number = 0;
    const char* advice = is_number(word_at(start), number) ? "; --format csv reads plain tables" : "";
    lines_.fail("expected index:value, got " + in_quotes(word_at(start)) + advice);
  }
  [[noreturn]] void fail_order(Index index) const {
    if (index == 0) lines_.fail("expected an index of at least 1 (indices start at 1), got 0");
    lines_.fail(fmt::format("expected increasing indices, got {} after {}", index, index_));
  }

  const Lines& lines_;
  Index features_, index_ = 0;
  std::string_view label_;
  const char *cursor_, *end_;
};

// f(lines, example) for every example of the files.
template <class F>
void for_each_example(const Sources& sources, Index features, F f) {
  for (const Source& source : sources) {
    Lines lines(source);
    Index count = 0;
    for (std::string_view line; lines.next(line);) {
      const std::string_view content = content_of(line);
      if (content.empty()) continue;
      Example example(lines, content, features);
      f(lines, example);
      ++count;
    }
    if (count == 0) lines.fail_file("no data rows");
  }
}

struct Shape {
  Index rows = 0, cols = 0;
  ColumnCounts counts;
};

Shape measure(const Sources& sources, Index features) {
  Shape shape;
  for_each_example(sources, features, [&](const Lines&, Example& example) {
    ++shape.rows;
    for (; example.next(); example.skip_value()) shape.counts.add(example.column());
  });
  shape.cols = features > 0 ? features : shape.counts.cols();
  const std::string& name = sources[0].name();
  if (shape.cols == 0) fail(name, 0, "expected at least one feature, got labels only");
  if (features == 0 && shape.cols > shape.counts.plausible_cols())
    fail(name, 0,
         fmt::format("expected indices up to {} beside {} entries, got {}; give the number of features",
                     shape.counts.plausible_cols(), shape.counts.entries(), shape.cols));
  return shape;
}

void check_same(const Sources& sources, bool same) {
  if (!same) fail(sources.back().name(), 0, kFileChanged);
}

void read_dense(const Sources& sources, const Shape& shape, Dataset& data) {
  DenseMatrix<double> x = make_matrix<double>(shape.rows, shape.cols);
  RowWriter<double> rows(x);
  for_each_example(sources, shape.cols, [&](const Lines& lines, Example& example) {
    if (rows.written() == shape.rows) lines.fail_file(kFileChanged);
    data.response[rows.written()] = example.label();
    double* row = rows.next();
    std::fill(row, row + shape.cols, 0.0);
    while (example.next()) row[example.column()] = example.value();
  });
  check_same(sources, rows.written() == shape.rows);
  rows.flush();
  data.design = Design::dense(std::move(x));
}

template <class StorageIndex>
void read_sparse(const Sources& sources, Shape& shape, Dataset& data) {
  ColumnFiller<StorageIndex> filler(shape.rows, shape.counts.take(shape.cols));
  Index row = 0;
  for_each_example(sources, shape.cols, [&](const Lines& lines, Example& example) {
    if (row == shape.rows) lines.fail_file(kFileChanged);
    data.response[row] = example.label();
    while (example.next())
      if (!filler.add(row, example.column(), example.value())) lines.fail_file(kFileChanged);
    ++row;
  });
  check_same(sources, row == shape.rows && filler.complete());
  data.design = ColumnFiller<StorageIndex>::design(std::move(filler));
}

// Rows that are handed over together.
class DenseBlock {
 public:
  DenseBlock(Index rows, Index cols) : x_(DenseMatrix<double>::Zero(rows, cols)) {}
  void set(Index row, Index column, double value) { x_(row, column) = value; }
  void end_row() {}
  Design take(Index rows) {
    Design design = Design::dense(DenseMatrix<double>(x_.topRows(rows)));
    x_.setZero();
    return design;
  }

 private:
  DenseMatrix<double> x_;
};

class SparseBlock {
 public:
  SparseBlock(Index, Index cols) : cols_(cols) {}
  void set(Index, Index column, double value) {
    column_.push_back(column);
    value_.push_back(value);
  }
  void end_row() { start_.push_back(std::ssize(column_)); }
  Design take(Index rows) {
    using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
    const Eigen::Map<const Rows> held(rows, cols_, std::ssize(column_), start_.data(), column_.data(),
                                      value_.data());
    Design design = Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>(held));
    start_.assign(1, 0);
    column_.clear();
    value_.clear();
    return design;
  }

 private:
  Index cols_;
  std::vector<Index> start_{0}, column_;
  std::vector<double> value_;
};

template <class Block>
void read_blocks(const Sources& sources, const Shape& shape, Index most,
                 const std::function<void(Dataset&&)>& sink) {
  Block x(most, shape.cols);
  Vector y(most);
  Index filled = 0;
  Index before = 0;
  const auto hand_over = [&] {
    Dataset data;
    data.design = x.take(filled);
    data.response = y.head(filled);
    sink(std::move(data));
    before += filled;
    filled = 0;
  };
  for_each_example(sources, shape.cols, [&](const Lines&, Example& example) {
    y[filled] = example.label();
    while (example.next()) x.set(filled, example.column(), example.value());
    x.end_row();
    if (++filled == most) hand_over();
  });
  if (filled > 0) hand_over();
  check_same(sources, before == shape.rows);
}

}  // namespace

bool looks_like_libsvm(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find_first_of("\r\n"), beginning.size());
    std::string_view line = content_of(beginning.substr(0, end));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.empty()) continue;
    double label = 0;
    if (!is_number(take_word(line), label)) return false;
    std::string_view entry = take_word(line);
    if (entry.empty()) continue;  // an example without entries: the next line tells
    if (entry.starts_with("qid:")) return true;
    Index index = 0;
    return is_count(entry.substr(0, entry.find(':')), index) && entry.find(':') != std::string_view::npos;
  }
  return false;
}

Dataset read_libsvm(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "libsvm");
  if (options.target && !options.target_optional)
    throw InvalidArgument("target: want none for libsvm files, whose label is the response, got " +
                          in_quotes(*options.target));
  Shape shape = measure(sources, options.features);
  Dataset data;
  data.response.resize(shape.rows);
  const Index entries = shape.counts.entries();
  if (static_cast<double>(entries) > 0.5 * static_cast<double>(shape.rows) * static_cast<double>(shape.cols))
    read_dense(sources, shape, data);
  else if (fits_32_bits(shape.rows, entries))
    read_sparse<std::int32_t>(sources, shape, data);
  else
    read_sparse<std::int64_t>(sources, shape, data);
  return data;
}

void read_libsvm_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan) {
  refuse_drop(options, "libsvm");
  if (options.target)
    throw InvalidArgument("target: want none for libsvm files, whose label is the response, got " +
                          in_quotes(*options.target));
  const Shape shape = measure(sources, options.features);
  constexpr double kSparse = 0.25;  // of the entries: with fewer, blocks are sparse
  const double all = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  if (static_cast<double>(shape.counts.entries()) <= kSparse * all)
    read_blocks<SparseBlock>(sources, shape, plan.rows(shape.cols + 1, true), plan.sink);
  else
    read_blocks<DenseBlock>(sources, shape, plan.rows(shape.cols + 1, false), plan.sink);
}

}  // namespace tyto
