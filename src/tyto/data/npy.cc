#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/selection.h"
#include "tyto/columns/column_file.h"
#include "tyto/columns/stored_type.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/npy_header.h"
#include "tyto/data/response.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr Index kChunk = 4096;  // elements converted at once

// The header, once the file was found to hold as much data as it promises.
NpyHeader checked_header(const Source& source) {
  Stream stream = source.open();
  NpyHeader header = read_npy_header(stream, source.name());
  Index bytes = npy_type(header, source.name()).size;
  const bool overflow = __builtin_mul_overflow(bytes, header.rows, &bytes) ||
                        __builtin_mul_overflow(bytes, header.cols, &bytes);
  if (header.rows == 0 || header.cols == 0) fail(source.name(), 0, "no data rows");
  const std::size_t size = source.size() - header.size;
  if (overflow || static_cast<std::size_t>(bytes) != size)
    fail(source.name(), 0,
         fmt::format("expected {} bytes of data for the shape ({}, {}), got {}",
                     overflow ? "very many" : std::to_string(bytes), header.rows, header.cols, size));
  return header;
}

template <class Scalar>
class NpyReader {
 public:
  // `target`: the column of the response, or -1.
  NpyReader(Index rows, Index cols, Index target)
      : target_(target), x_(make_matrix<Scalar>(rows, cols - (target >= 0))), y_(target >= 0 ? rows : 0) {}

  void read(const Source& source) {
    Stream stream = source.open();
    const NpyHeader header = read_npy_header(stream, source.name());
    if (header.rows > x_.rows() - base_ || header.cols != x_.cols() + (target_ >= 0))
      fail(source.name(), 0, kFileChanged);
    const NpyType& type = npy_type(header, source.name());
    if (!header.fortran_order) return read_rows(source, stream, header, 0);
    read_columns(source, stream, header, type);
    base_ += header.rows;
  }

  // The next rows of a file in C order, from row `first` to its end or until there are enough.
  void read_rows(const Source& source, Stream& stream, const NpyHeader& header, Index first) {
    const NpyType& type = npy_type(header, source.name());
    const Index last = std::min(header.rows, first + x_.rows() - base_);
    RowWriter<Scalar> rows(x_, base_);
    for (Index i = first; i < last; ++i) {
      Scalar* row = rows.next();
      for (Index begin = 0; begin < header.cols; begin += kChunk) {
        const Index count = std::min(kChunk, header.cols - begin);
        next_values(source, stream, type, count);
        for (Index k = 0; k < count; ++k) {
          const Index j = begin + k;
          const double value = checked(values_[static_cast<std::size_t>(k)], source, i, j);
          if (j == target_)
            y_[base_ + i - first] = value;
          else
            row[feature(j)] = static_cast<Scalar>(value);
        }
      }
    }
    rows.flush();
    base_ += last - first;
  }

  // Whether the rows so far, of which none may be left, are dropped by this policy.
  bool drops_all(Missing policy) const {
    return policy == Missing::kDropRows && missing_.count > 0 && !has_complete_row(x_, y_);
  }

  void finish(const Source& last, const ReadOptions& options, Dataset& data) {
    if (base_ != x_.rows()) fail(last.name(), 0, kFileChanged);
    const bool mean = options.missing == Missing::kMean;
    if (mean) fill_missing(x_, x_.cols(), {}, options.fill, data);
    settle(std::move(x_), std::move(y_), missing_, mean ? Missing::kDropRows : options.missing, data);
  }

 private:
  void read_columns(const Source& source, Stream& stream, const NpyHeader& header, const NpyType& type) {
    for (Index j = 0; j < header.cols; ++j)
      for (Index begin = 0; begin < header.rows; begin += kChunk) {
        const Index count = std::min(kChunk, header.rows - begin);
        next_values(source, stream, type, count);
        for (Index k = 0; k < count; ++k) {
          const double value = checked(values_[static_cast<std::size_t>(k)], source, begin + k, j);
          if (j == target_)
            y_[base_ + begin + k] = value;
          else
            x_(base_ + begin + k, feature(j)) = static_cast<Scalar>(value);
        }
      }
  }

  Index feature(Index column) const { return column - (target_ >= 0 && column > target_); }
  void next_values(const Source& source, Stream& stream, const NpyType& type, Index count) {
    if (!stream.read(bytes_.data(), static_cast<std::size_t>(count * type.size)))
      fail(source.name(), 0, kFileChanged);
    type.convert(bytes_.data(), count, values_.data());
  }
  double checked(double value, const Source& source, Index row, Index column) {
    if (std::isfinite(value)) return value;
    const auto place = [&] {
      return fmt::format("{}: element [{}, {}]", printable(source.name()), row, column);
    };
    if (std::isinf(value))
      throw DataError(place() + ": expected a finite number, got " + fmt::format("{}", value));
    missing_.add(place);
    return value;
  }

  Index target_, base_ = 0;  // base: rows of the files before this one
  DenseMatrix<Scalar> x_;
  Vector y_;
  MissingValues missing_;
  std::array<char, kChunk * 8> bytes_;
  std::array<double, kChunk> values_;
};

// The column of the response, or -1 where it is not in the matrix.
Index response_column(const Source& source, const ReadOptions& options, Index cols) {
  Index column = cols - 1;
  if (options.response || (options.target && !is_count(*options.target, column))) return -1;
  if (options.target_optional) {
    if (cols == options.features || options.features == 0) return -1;
    if (cols != options.features + 1)
      fail(source.name(), 0,
           fmt::format("expected {}, or one more for the response, got {}",
                       count_of(options.features, "column"), cols));
  }
  if (column >= cols)
    throw InvalidArgument(fmt::format("target: no column {} in {}; known: 0 to {}, or a file",
                                      in_quotes(*options.target), printable(source.name()), cols - 1));
  if (cols == 1) fail(source.name(), 0, "expected at least one feature column beside the response, got none");
  return column;
}

template <class Scalar>
Dataset read_as(const Sources& sources, const ReadOptions& options, Index rows, Index cols) {
  NpyReader<Scalar> reader(rows, cols, response_column(sources[0], options, cols));
  for (const Source& source : sources) reader.read(source);
  Dataset data;
  reader.finish(sources.back(), options, data);
  return data;
}

// How a type of numbers is called where columns are read as they are stored.
constexpr Names kStored({
    std::pair<std::string_view, StoredType>{"f8", StoredType::kDouble},
    std::pair<std::string_view, StoredType>{"f4", StoredType::kFloat},
    std::pair<std::string_view, StoredType>{"i1", StoredType::kInt8},
    std::pair<std::string_view, StoredType>{"u1", StoredType::kUint8},
    std::pair<std::string_view, StoredType>{"b1", StoredType::kUint8},
    std::pair<std::string_view, StoredType>{"i2", StoredType::kInt16},
});

bool is_finite(const Source& source, const NpyHeader& header, const NpyType& type) {
  if (!type.is_float()) return true;
  Stream stream = source.open();
  read_npy_header(stream, source.name());
  std::array<char, kChunk * 8> bytes;
  std::array<double, kChunk> values;
  for (Index left = header.rows * header.cols; left > 0;) {
    const Index count = std::min(kChunk, left);
    if (!stream.read(bytes.data(), static_cast<std::size_t>(count * type.size)))
      fail(source.name(), 0, kFileChanged);
    type.convert(bytes.data(), count, values.data());
    if (!Eigen::Map<const Vector>(values.data(), count).allFinite()) return false;
    left -= count;
  }
  return true;
}

// Whether the columns can be used as they stand in the file.
bool can_stay(const Source& source, const NpyHeader& header) {
  const NpyType& type = npy_type(header, source.name());
  const bool by_columns = header.fortran_order || header.cols == 1 || header.rows == 1;
  const bool aligned = header.size % static_cast<std::size_t>(type.size) == 0;
  return kStored.find(type.name) && by_columns && aligned && source.is_plain();
}

// The file's own columns, nothing copied; nothing where they cannot be used as they stand, or hold numbers
// that are not finite.
std::optional<Dataset> read_in_place(const Source& source, const NpyHeader& header,
                                     const ReadOptions& options) {
  if (options.missing == Missing::kMean) return {};  // means are asked for, and some may be missing
  const NpyType& type = npy_type(header, source.name());
  if (!can_stay(source, header) || !is_finite(source, header, type)) return {};
  const Index target = response_column(source, options, header.cols);
  Dataset data;
  data.design = Design(open_columns({source.name(),
                                     *kStored.find(type.name),
                                     header.rows,
                                     header.cols,
                                     header.size,
                                     header.rows * type.size,
                                     {}},
                                    options.memory));
  if (target >= 0) {
    data.response.resize(header.rows);
    data.design.for_each_entry(target, [&](Index row, double value) { data.response[row] = value; });
    data.design = data.design.select(all_but({{target}}, header.cols));
  }
  return data;
}

// On a large file of rows, which has to be turned into columns.
std::string copy_warning(const Source& source, const NpyHeader& header) {
  constexpr std::size_t kLarge = std::size_t{1} << 30;
  if (header.fortran_order || header.cols == 1 || header.rows == 1 || source.size() < kLarge) return {};
  return fmt::format(
      "{} is in C order, and is copied into columns: tyto convert {} --output X.tyto writes columns, which "
      "are not copied",
      source.name(), source.name());
}

// The numbers of a file in memory: as they are stored where that is narrow, or else in double.
StoredType type_in_memory(const Source& source, const NpyHeader& header) {
  return kStored.find(npy_type(header, source.name()).name).value_or(StoredType::kDouble);
}

// What holds the numbers of both.
StoredType common_type(StoredType a, StoredType b) {
  const auto is_whole = [](StoredType type) { return row_of(type).bits <= 16; };
  if (a == b) return a;
  if (is_whole(a) && is_whole(b)) return StoredType::kInt16;
  return a == StoredType::kDouble || b == StoredType::kDouble ? StoredType::kDouble : StoredType::kFloat;
}

struct BlockTask {
  const Source& source;
  const ReadOptions& options;
  const BlockPlan& plan;
  Index rows;               // of a block
  Index target;             // column of the response, or -1
  const Vector* responses;  // of this file, where they come from another one
};

template <class Scalar>
void read_blocks_as(const BlockTask& task, Index before) {
  Stream stream = task.source.open();
  const NpyHeader header = read_npy_header(stream, task.source.name());
  for (Index first = 0; first < header.rows; first += task.rows) {
    const Index count = std::min(task.rows, header.rows - first);
    NpyReader<Scalar> reader(count, header.cols, task.target);
    reader.read_rows(task.source, stream, header, first);
    if (reader.drops_all(task.options.missing)) continue;
    Dataset data;
    reader.finish(task.source, task.options, data);
    if (task.responses != nullptr) {
      IndexSet kept = all_but(data.dropped_rows, count);
      for (Index& row : kept) row += before + first;
      data.response = (*task.responses)(kept);
      settle_response(task.options, *task.options.response, data);
    }
    task.plan.sink(std::move(data));
  }
}

// Of a file whose rows can be read one after the other.
NpyHeader header_in_c_order(const Source& source) {
  Stream stream = source.open();
  const NpyHeader header = read_npy_header(stream, source.name());
  if (header.rows == 0 || header.cols == 0) fail(source.name(), 0, "no data rows");
  if (header.fortran_order)
    fail(source.name(), 0,
         "expected C order, to read rows one after the other, got Fortran order: save "
         "numpy.ascontiguousarray(x)");
  return header;
}

}  // namespace

static Dataset read_stored(StoredType type, const Sources& sources, const ReadOptions& options, Index rows,
                           Index cols) {
  switch (type) {
    case StoredType::kFloat:
      return read_as<float>(sources, options, rows, cols);
    case StoredType::kInt8:
      return read_as<std::int8_t>(sources, options, rows, cols);
    case StoredType::kUint8:
      return read_as<std::uint8_t>(sources, options, rows, cols);
    case StoredType::kInt16:
      return read_as<std::int16_t>(sources, options, rows, cols);
    default:
      return read_as<double>(sources, options, rows, cols);
  }
}

bool npy_by_columns(const Sources& sources) {
  Stream stream = sources[0].open();
  return sources.size() == 1 && can_stay(sources[0], read_npy_header(stream, sources[0].name()));
}

Dataset read_npy(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "npy");
  Index rows = 0, cols = 0;
  std::vector<std::string> warnings;
  std::optional<StoredType> type;
  for (const Source& source : sources) {
    const NpyHeader header = checked_header(source);
    if (sources.size() == 1)
      if (std::optional<Dataset> data = read_in_place(source, header, options)) return *std::move(data);
    if (std::string warning = copy_warning(source, header); !warning.empty())
      warnings.push_back(std::move(warning));
    if (cols > 0 && header.cols != cols)
      fail(source.name(), 0,
           fmt::format("expected {} as in {}, got {}", count_of(cols, "column"), printable(sources[0].name()),
                       header.cols));
    rows += header.rows;
    cols = header.cols;
    const StoredType own = type_in_memory(source, header);
    type = type ? common_type(*type, own) : own;
  }
  Dataset data = read_stored(*type, sources, options, rows, cols);
  data.warnings = std::move(warnings);
  return data;
}

void read_npy_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan) {
  refuse_drop(options, "npy");
  std::vector<NpyHeader> headers;
  Index rows = 0;
  for (const Source& source : sources) {
    headers.push_back(header_in_c_order(source));
    if (headers.back().cols != headers.front().cols)
      fail(source.name(), 0,
           fmt::format("expected {} as in {}, got {}", count_of(headers.front().cols, "column"),
                       printable(sources[0].name()), headers.back().cols));
    rows += headers.back().rows;
  }
  const Index cols = headers.front().cols;
  const Index target = response_column(sources[0], options, cols);
  Vector responses;
  if (options.response) {
    responses = read_response_file(options, false).values;
    if (responses.size() != rows)
      fail(*options.response, 0,
           fmt::format("expected {} as in the matrix, got {}", count_of(rows, "row"), responses.size()));
  }
  Index before = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const BlockTask task{sources[s], options,
                         plan,       plan.rows(cols + (target < 0), false),
                         target,     options.response ? &responses : nullptr};
    headers[s].type.ends_with("f4") ? read_blocks_as<float>(task, before)
                                    : read_blocks_as<double>(task, before);
    before += headers[s].rows;
  }
}

}  // namespace tyto
