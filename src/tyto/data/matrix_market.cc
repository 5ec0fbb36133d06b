#include <fmt/format.h>

#include <cmath>

#include "tyto/base/error.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/sparse_columns.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr Index kLargestSize = std::numeric_limits<std::int32_t>::max();

enum class Symmetry { kGeneral, kSymmetric, kSkew };

struct Header {
  bool sparse = false, pattern = false;
  Symmetry symmetry = Symmetry::kGeneral;
  Index rows = 0, cols = 0;
  Index entries = 0;  // in the file, one a line
};

bool next_content(Lines& lines, std::string_view& content) {
  while (lines.next(content)) {
    content = trimmed(content);
    if (!content.empty() && content[0] != '%') return true;
  }
  return false;
}

[[noreturn]] void fail_kind(const Lines& lines, std::string_view wanted, std::string_view got) {
  lines.fail(fmt::format("expected {}, got {}", wanted, in_quotes(got)));
}

Header read_kind(Lines& lines) {
  std::string_view line;
  if (!lines.next(line) || lower_case(line.substr(0, 14)) != "%%matrixmarket")
    fail_kind(lines, "%%MatrixMarket", line);
  const std::string text = lower_case(line.substr(14));
  std::string_view rest = text;
  Header header;
  if (const auto object = take_word(rest); object != "matrix") fail_kind(lines, "matrix", object);
  const std::string_view layout = take_word(rest), field = take_word(rest), symmetry = take_word(rest);
  header.sparse = layout == "coordinate";
  if (!header.sparse && layout != "array") fail_kind(lines, "coordinate or array", layout);
  header.pattern = field == "pattern";
  if (!header.pattern && field != "real" && field != "integer" && field != "double")
    fail_kind(lines, "real, integer or pattern", field);
  if (header.pattern && !header.sparse) fail_kind(lines, "real or integer", field);
  if (symmetry == "symmetric")
    header.symmetry = Symmetry::kSymmetric;
  else if (symmetry == "skew-symmetric")
    header.symmetry = Symmetry::kSkew;
  else if (symmetry != "general")
    fail_kind(lines, "general, symmetric or skew-symmetric", symmetry);
  return header;
}

Header read_header(Lines& lines) {
  Header header = read_kind(lines);
  std::string_view line;
  if (!next_content(lines, line)) lines.fail_file("expected a line with the size, got the end of the file");
  std::string_view rest = line;
  const bool sizes = is_count(take_word(rest), header.rows) && is_count(take_word(rest), header.cols) &&
                     (!header.sparse || is_count(take_word(rest), header.entries)) && trimmed(rest).empty();
  if (!sizes) fail_kind(lines, header.sparse ? "rows, columns and entries" : "rows and columns", line);
  if (std::max(header.rows, header.cols) > kLargestSize)
    fail_kind(lines, fmt::format("sizes up to {}", kLargestSize), line);
  if (header.symmetry != Symmetry::kGeneral && header.rows != header.cols)
    fail_kind(lines, "a square matrix", line);
  if (header.rows == 0 || header.cols == 0) fail_kind(lines, "at least one row and column", line);
  if (!header.sparse) {
    const Index n = header.rows;
    header.entries = header.symmetry == Symmetry::kGeneral     ? n * header.cols
                     : header.symmetry == Symmetry::kSymmetric ? n * (n + 1) / 2
                                                               : n * (n - 1) / 2;
  }
  return header;
}

double parse_value(const Lines& lines, std::string_view text) {
  double value = 0;
  if (!is_number(text, value) || !std::isfinite(value)) fail_kind(lines, "a finite number", text);
  return value;
}

// f(row, column, value text) for each line of a coordinate file, from 0.
template <class F>
void for_each_coordinate(Lines& lines, const Header& header, F f) {
  Index count = 0;
  for (std::string_view line; next_content(lines, line); ++count) {
    if (count == header.entries)
      fail_kind(lines, fmt::format("the end after {} entries", header.entries), line);
    std::string_view rest = line;
    Index row = 0, column = 0;
    if (!is_count(take_word(rest), row) || !is_count(take_word(rest), column))
      fail_kind(lines, header.pattern ? "row and column" : "row, column and value", line);
    if (row < 1 || row > header.rows)
      lines.fail(fmt::format("expected a row from 1 to {}, got {}", header.rows, row));
    if (column < 1 || column > header.cols)
      lines.fail(fmt::format("expected a column from 1 to {}, got {}", header.cols, column));
    if (header.symmetry == Symmetry::kSkew && row == column) fail_kind(lines, "no diagonal entry", line);
    const std::string_view value = trimmed(rest);
    if (header.pattern && !value.empty()) fail_kind(lines, "row and column", line);
    f(row - 1, column - 1, value);
  }
  if (count != header.entries)
    lines.fail_file(fmt::format("expected {} entries, got {}", header.entries, count));
}

// f(row, column, sign) for an entry and for its mirror image where the matrix has one.
template <class F>
void with_mirror(Symmetry symmetry, Index row, Index column, F f) {
  f(row, column, 1.0);
  if (symmetry != Symmetry::kGeneral && row != column)
    f(column, row, symmetry == Symmetry::kSkew ? -1.0 : 1.0);
}

struct Shape {
  bool sparse = false;
  Index rows = 0, cols = 0;
  ColumnCounts counts;
};

void measure_file(const Sources& sources, const Source& source, Shape& shape) {
  Lines lines(source);
  const Header header = read_header(lines);
  if (&source != &sources[0] && (header.cols != shape.cols || header.sparse != shape.sparse))
    lines.fail_file(fmt::format("expected {} and {} as in {}, got {} and {}",
                                shape.sparse ? "coordinate" : "array", count_of(shape.cols, "column"),
                                printable(sources[0].name()), header.sparse ? "coordinate" : "array",
                                header.cols));
  shape.sparse = header.sparse;
  shape.cols = header.cols;
  shape.rows += header.rows;
  if (header.sparse) {
    for_each_coordinate(lines, header, [&](Index row, Index column, std::string_view) {
      with_mirror(header.symmetry, row, column, [&](Index, Index j, double) { shape.counts.add(j); });
    });
    if (const Index most = shape.counts.plausible_cols(); std::max(header.rows, header.cols) > most)
      lines.fail_file(fmt::format("expected sizes up to {} beside {} entries, got {} x {}", most,
                                  shape.counts.entries(), header.rows, header.cols));
  } else {
    Index count = 0;
    for (std::string_view line; next_content(lines, line);) ++count;
    if (count != header.entries)
      lines.fail_file(fmt::format("expected {} values, got {}", header.entries, count));
  }
}

void read_dense_file(const Source& source, Index& base, DenseMatrix<double>& x) {
  Lines lines(source);
  const Header header = read_header(lines);
  if (header.sparse || header.cols != x.cols() || header.rows > x.rows() - base)
    lines.fail_file(kFileChanged);
  for (Index j = 0; j < header.cols; ++j) {
    const Index first = header.symmetry == Symmetry::kGeneral     ? 0
                        : header.symmetry == Symmetry::kSymmetric ? j
                                                                  : j + 1;
    if (header.symmetry == Symmetry::kSkew) x(base + j, j) = 0;
    for (Index i = first; i < header.rows; ++i) {
      std::string_view line;
      if (!next_content(lines, line)) lines.fail_file(kFileChanged);
      const double value = parse_value(lines, line);
      with_mirror(header.symmetry, i, j,
                  [&](Index row, Index col, double sign) { x(base + row, col) = sign * value; });
    }
  }
  base += header.rows;
}

Design read_dense(const Sources& sources, const Shape& shape) {
  DenseMatrix<double> x = make_matrix<double>(shape.rows, shape.cols);
  Index base = 0;
  for (const Source& source : sources) read_dense_file(source, base, x);
  if (base != shape.rows) fail(sources.back().name(), 0, kFileChanged);
  return Design::dense(std::move(x));
}

template <class StorageIndex>
Design read_sparse(const Sources& sources, Shape& shape) {
  ColumnFiller<StorageIndex> filler(shape.rows, shape.counts.take(shape.cols));
  Index base = 0;
  for (const Source& source : sources) {
    Lines lines(source);
    const Header header = read_header(lines);
    for_each_coordinate(lines, header, [&](Index row, Index column, std::string_view text) {
      const double value = header.pattern ? 1.0 : parse_value(lines, text);
      with_mirror(header.symmetry, row, column, [&](Index i, Index j, double sign) {
        if (!filler.add(base + i, j, sign * value)) lines.fail_file(kFileChanged);
      });
    });
    base += header.rows;
  }
  if (!filler.complete()) fail(sources.back().name(), 0, kFileChanged);
  filler.sort_and_sum_duplicates();
  return ColumnFiller<StorageIndex>::design(std::move(filler));
}

}  // namespace

bool looks_like_matrix_market(std::string_view beginning) {
  return lower_case(beginning.substr(0, 14)) == "%%matrixmarket";
}

Dataset read_matrix_market(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "mtx");
  Shape shape;
  for (const Source& source : sources) measure_file(sources, source, shape);
  Dataset data;
  if (!shape.sparse)
    data.design = read_dense(sources, shape);
  else if (fits_32_bits(shape.rows, shape.counts.entries()))
    data.design = read_sparse<std::int32_t>(sources, shape);
  else
    data.design = read_sparse<std::int64_t>(sources, shape);
  return data;
}

}  // namespace tyto
