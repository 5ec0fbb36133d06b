#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/columns/stored_type.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/npy_header.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in the file");

constexpr Index kChunk = 4096;  // elements converted at once

template <class Element>
void convert(const char* bytes, Index count, double* out) {
  for (Index k = 0; k < count; ++k) {
    Element element;
    std::memcpy(&element, bytes + static_cast<std::size_t>(k) * sizeof element, sizeof element);
    out[k] = static_cast<double>(element);
  }
}

struct ElementType {
  std::string_view name;  // without the byte order
  Index size;
  void (*convert)(const char* bytes, Index count, double* out);
};
constexpr std::array<ElementType, 11> kTypes{{{"f8", 8, convert<double>},
                                              {"f4", 4, convert<float>},
                                              {"i1", 1, convert<std::int8_t>},
                                              {"u1", 1, convert<std::uint8_t>},
                                              {"b1", 1, convert<std::uint8_t>},
                                              {"i2", 2, convert<std::int16_t>},
                                              {"u2", 2, convert<std::uint16_t>},
                                              {"i4", 4, convert<std::int32_t>},
                                              {"u4", 4, convert<std::uint32_t>},
                                              {"i8", 8, convert<std::int64_t>},
                                              {"u8", 8, convert<std::uint64_t>}}};

const ElementType& type_of(const NpyHeader& header, const std::string& name) {
  const std::string_view type = header.type;
  if (type.starts_with('>')) fail(name, 0, "expected little-endian numbers, got " + in_quotes(type));
  if (type.starts_with('<') || type.starts_with('|') || type.starts_with('='))
    for (const ElementType& known : kTypes)
      if (known.name == type.substr(1)) return known;
  fail(name, 0, "expected real numbers such as '<f8' or '<f4', got " + in_quotes(type));
}

// The header, once the file was found to hold as much data as it promises.
NpyHeader checked_header(const Source& source) {
  Stream stream = source.open();
  NpyHeader header = read_npy_header(stream, source.name());
  Index bytes = type_of(header, source.name()).size;
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
    const ElementType& type = type_of(header, source.name());
    if (!header.fortran_order) return read_rows(source, stream, header, 0);
    read_columns(source, stream, header, type);
    base_ += header.rows;
  }

  // The next rows of a file in C order, from row `first` to its end or until there are enough.
  void read_rows(const Source& source, Stream& stream, const NpyHeader& header, Index first) {
    const ElementType& type = type_of(header, source.name());
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

  void finish(const Source& last, std::optional<Vector> response, const ReadOptions& options, Dataset& data) {
    if (base_ != x_.rows()) fail(last.name(), 0, kFileChanged);
    if (response) {
      y_ = std::move(*response);
      missing_.count += y_.array().isNaN().count();
      if (missing_.first.empty()) missing_.first = printable(last.name()) + ": the response";
    }
    const bool mean = options.missing == Missing::kMean;
    if (mean) fill_missing(x_, x_.cols(), {}, options.fill, data);
    settle(std::move(x_), std::move(y_), missing_, mean ? Missing::kDropRows : options.missing, data);
  }

 private:
  void read_columns(const Source& source, Stream& stream, const NpyHeader& header, const ElementType& type) {
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
  void next_values(const Source& source, Stream& stream, const ElementType& type, Index count) {
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

// The response is a column of the matrix, a file beside it, or nowhere.
struct ResponsePlace {
  Index column = -1;
  std::string file;
};

ResponsePlace response_place(const Source& source, const ReadOptions& options, Index cols) {
  Index column = cols - 1;
  if (options.target && !is_count(*options.target, column)) {
    std::error_code ignored;
    if (options.target_optional && options.target_from_model) return {};
    if (options.target_from_model) refuse_file_of_model("target", *options.target);
    if (options.target_optional && !std::filesystem::exists(*options.target, ignored)) return {};
    return {.column = -1, .file = *options.target};
  }
  if (options.target_optional) {
    if (cols == options.features || options.features == 0) return {};
    if (cols != options.features + 1)
      fail(source.name(), 0,
           fmt::format("expected {}, or one more for the response, got {}",
                       count_of(options.features, "column"), cols));
  }
  if (column >= cols)
    throw InvalidArgument(fmt::format("target: no column {} in {}; known: 0 to {}, or a file",
                                      in_quotes(*options.target), printable(source.name()), cols - 1));
  if (cols == 1) fail(source.name(), 0, "expected at least one feature column beside the response, got none");
  return {.column = column, .file = {}};
}

template <class Scalar>
Dataset read_as(const Sources& sources, const ReadOptions& options, Index rows, Index cols) {
  const ResponsePlace place = response_place(sources[0], options, cols);
  std::optional<Vector> response;
  if (!place.file.empty()) response = read_response(place.file, rows, options.missing);
  NpyReader<Scalar> reader(rows, cols, place.column);
  for (const Source& source : sources) reader.read(source);
  Dataset data;
  reader.finish(sources.back(), std::move(response), options, data);
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

// The numbers of a file in memory: as they are stored where that is narrow, or else in double.
StoredType type_in_memory(const Source& source, const NpyHeader& header) {
  return kStored.find(type_of(header, source.name()).name).value_or(StoredType::kDouble);
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
    std::optional<Vector> response;
    if (task.responses != nullptr) response = task.responses->segment(before + first, count);
    Dataset data;
    reader.finish(task.source, std::move(response), task.options, data);
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

Dataset read_npy(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "npy");
  Index rows = 0, cols = 0;
  std::optional<StoredType> type;
  for (const Source& source : sources) {
    const NpyHeader header = checked_header(source);
    if (cols > 0 && header.cols != cols)
      fail(source.name(), 0,
           fmt::format("expected {} as in {}, got {}", count_of(cols, "column"), printable(sources[0].name()),
                       header.cols));
    rows += header.rows;
    cols = header.cols;
    const StoredType own = type_in_memory(source, header);
    type = type ? common_type(*type, own) : own;
  }
  switch (*type) {
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
  const ResponsePlace place = response_place(sources[0], options, cols);
  Vector responses;
  if (!place.file.empty()) responses = read_response(place.file, rows, options.missing);
  Index before = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const BlockTask task{sources[s],   options,
                         plan,         plan.rows(cols + (place.column < 0)),
                         place.column, place.file.empty() ? nullptr : &responses};
    headers[s].type.ends_with("f4") ? read_blocks_as<float>(task, before)
                                    : read_blocks_as<double>(task, before);
    before += headers[s].rows;
  }
}

}  // namespace tyto
