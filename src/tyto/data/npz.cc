// Sparse matrices as SciPy's save_npz writes them: a zip archive with the arrays format, shape, indptr,
// indices and data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/npy_header.h"
#include "tyto/data/sparse_columns.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr double kMostExact = 0x1p53;  // whole numbers up to it are doubles

// The numbers of one array, one after the other.
class Numbers {
 public:
  Numbers(const Source& source, const std::string& member)
      : name_(source.name() + ": " + member), stream_(source.open_member(member + ".npy")) {
    const NpyHeader header = read_npy_header(stream_, name_, NpyShape::kAny);
    type_ = &npy_type(header, name_);
    if (header.cols != 1) fail(name_, 0, fmt::format("expected one dimension, got {} columns", header.cols));
    size_ = header.rows;
  }

  Index size() const { return size_; }
  double next() {
    if (used_ == filled_) fill();
    return values_[static_cast<std::size_t>(used_++)];
  }
  Index next_index(Index end) {  // from 0 to end - 1
    const double value = next();
    if (!(value >= 0 && value < static_cast<double>(end)))
      fail(name_, 0, fmt::format("expected numbers from 0 to {}, got {}", end - 1, value));
    return static_cast<Index>(value);
  }
  void want_whole() const {
    if (!type_->is_whole()) fail(name_, 0, fmt::format("expected whole numbers, got {}", type_->name));
  }
  // All numbers were taken, and the archive's checksum is right.
  void finish() {
    if (!stream_.next_block().empty()) fail(name_, 0, "expected the end of the array, got more");
  }

 private:
  static constexpr Index kChunk = 4096;

  void fill() {
    filled_ = std::min(kChunk, size_ - taken_);
    if (filled_ == 0 || !stream_.read(bytes_.data(), static_cast<std::size_t>(filled_ * type_->size)))
      fail(name_, 0, fmt::format("expected {}, got the end of the array", count_of(size_, "number")));
    type_->convert(bytes_.data(), filled_, values_.data());
    taken_ += filled_;
    used_ = 0;
  }

  std::string name_;
  Stream stream_;
  const NpyType* type_ = nullptr;
  Index size_ = 0, taken_ = 0, filled_ = 0, used_ = 0;
  std::array<char, kChunk * 8> bytes_;
  std::array<double, kChunk> values_;
};

// What a file says before its entries. Entries start[k] .. start[k + 1] - 1 are those of row or column k.
struct Frame {
  bool by_rows = false;
  Index rows = 0, cols = 0;
  std::vector<Index> start;

  Index entries() const { return start.back(); }
};

std::string read_word(const Source& source) {
  const std::string name = source.name() + ": format";
  Stream stream = source.open_member("format.npy");
  const NpyHeader header = read_npy_header(stream, name, NpyShape::kAny);
  const bool wide = header.type.starts_with("<U");
  if (header.type != "|S3" && header.type != "<U3") fail(name, 0, "expected csr or csc, got another word");
  std::array<char, 12> bytes{};
  if (!stream.read(bytes.data(), wide ? 12 : 3)) fail(name, 0, "expected csr or csc, got nothing");
  return wide ? std::string{bytes[0], bytes[4], bytes[8]} : std::string{bytes[0], bytes[1], bytes[2]};
}

void refuse_other_arrays(const Source& source) {
  const std::vector<std::string> members = source.members();
  for (const char* wanted : {"format.npy", "shape.npy", "indptr.npy", "indices.npy", "data.npy"}) {
    if (std::ranges::find(members, wanted) != members.end()) continue;
    std::vector<std::string> shown;
    for (const std::string& member : members)
      if (shown.size() < 5) shown.push_back(in_quotes(member));
    fail(
        source.name(), 0,
        fmt::format("expected a sparse matrix of scipy.sparse.save_npz, got an archive of {}; save one array "
                    "with numpy.save",
                    fmt::join(shown, ", ")));
  }
}

std::vector<Index> read_starts(const Source& source, Index count) {
  Numbers numbers(source, "indptr");
  numbers.want_whole();
  const std::string name = source.name() + ": indptr";
  if (numbers.size() != count)
    fail(name, 0,
         fmt::format("expected {} as the shape says, got {}", count_of(count, "number"), numbers.size()));
  std::vector<Index> start;
  for (Index k = 0; k < count; ++k) {
    const double value = numbers.next();
    if (!(value >= 0 && value <= kMostExact) || (k == 0 && value != 0) ||
        (k > 0 && value < static_cast<double>(start.back())))
      fail(name, 0, fmt::format("expected numbers that rise from 0, got {} in place {}", value, k));
    start.push_back(static_cast<Index>(value));
  }
  numbers.finish();
  return start;
}

Frame read_frame(const Source& source) {
  refuse_other_arrays(source);
  Frame frame;
  const std::string format = read_word(source);
  if (format != "csr" && format != "csc")
    fail(source.name(), 0, fmt::format("expected csr or csc, got {}: save x.tocsc()", in_quotes(format)));
  frame.by_rows = format == "csr";
  Numbers shape(source, "shape");
  shape.want_whole();
  if (shape.size() != 2) fail(source.name(), 0, fmt::format("expected two dimensions, got {}", shape.size()));
  frame.rows = shape.next_index(Index{1} << 53);
  frame.cols = shape.next_index(Index{1} << 53);
  shape.finish();
  if (frame.rows == 0 || frame.cols == 0) fail(source.name(), 0, "no data rows");
  frame.start = read_starts(source, (frame.by_rows ? frame.rows : frame.cols) + 1);
  return frame;
}

// f(row, column) for each entry of a file. The index that comes from `indices` is checked.
template <class F>
void for_each_place(const Frame& frame, Numbers& indices, F f) {
  const Index end = frame.by_rows ? frame.cols : frame.rows;
  for (std::size_t outer = 0; outer + 1 < frame.start.size(); ++outer)
    for (Index e = frame.start[outer]; e < frame.start[outer + 1]; ++e) {
      const Index inner = indices.next_index(end), other = static_cast<Index>(outer);
      f(frame.by_rows ? other : inner, frame.by_rows ? inner : other);
    }
  indices.finish();
}

struct Shape {
  Index rows = 0, cols = 0;
  ColumnCounts counts;
};

void measure(const Sources& sources, const Source& source, Shape& shape) {
  const Frame frame = read_frame(source);
  if (&source != &sources[0] && frame.cols != shape.cols)
    fail(source.name(), 0,
         fmt::format("expected {} as in {}, got {}", count_of(shape.cols, "column"),
                     printable(sources[0].name()), frame.cols));
  shape.cols = frame.cols;
  shape.rows += frame.rows;
  Numbers indices(source, "indices"), data(source, "data");
  indices.want_whole();
  for (const Index size : {indices.size(), data.size()})
    if (size != frame.entries())
      fail(source.name(), 0,
           fmt::format("expected {} entries as indptr says, got {}", frame.entries(), size));
  for_each_place(frame, indices, [&](Index, Index column) { shape.counts.add(column); });
  // One wrong digit in a shape must not cost gigabytes.
  if (const Index most = shape.counts.plausible_cols(); std::max(frame.rows, frame.cols) > most)
    fail(source.name(), 0,
         fmt::format("expected sizes up to {} beside {} entries, got {} x {}", most, frame.entries(),
                     frame.rows, frame.cols));
}

// Returns its rows.
template <class StorageIndex>
Index fill_from(const Source& source, Index base, ColumnFiller<StorageIndex>& filler) {
  const Frame frame = read_frame(source);
  Numbers indices(source, "indices"), data(source, "data");
  for_each_place(frame, indices, [&](Index row, Index column) {
    const double value = data.next();
    if (!std::isfinite(value))
      fail(source.name(), 0,
           fmt::format("element [{}, {}]: expected a finite number, got {}", row, column, value));
    if (!filler.add(base + row, column, value)) fail(source.name(), 0, kFileChanged);
  });
  data.finish();
  return frame.rows;
}

template <class StorageIndex>
Design read_as(const Sources& sources, Shape& shape) {
  ColumnFiller<StorageIndex> filler(shape.rows, shape.counts.take(shape.cols));
  Index base = 0;
  for (const Source& source : sources) base += fill_from(source, base, filler);
  if (base != shape.rows || !filler.complete()) fail(sources.back().name(), 0, kFileChanged);
  filler.sort_and_sum_duplicates();
  return ColumnFiller<StorageIndex>::design(std::move(filler));
}

}  // namespace

// The first member is an .npy file.
bool looks_like_npz(std::string_view beginning) {
  constexpr std::size_t kLength = 26, kName = 30;
  if (!beginning.starts_with("PK\x03\x04") || beginning.size() < kName) return false;
  const std::size_t length = static_cast<unsigned char>(beginning[kLength]) +
                             (std::size_t{static_cast<unsigned char>(beginning[kLength + 1])} << 8);
  return beginning.substr(kName, length).ends_with(".npy");
}

Dataset read_npz(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "npz");
  Shape shape;
  for (const Source& source : sources) measure(sources, source, shape);
  Dataset data;
  data.design = fits_32_bits(shape.rows, shape.counts.entries()) ? read_as<std::int32_t>(sources, shape)
                                                                 : read_as<std::int64_t>(sources, shape);
  return data;
}

}  // namespace tyto
