#ifndef _WIN32
#include "tyto/columns/column_file.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/columns/column_reader.h"
#include "tyto/columns/watched_file.h"

namespace tyto {
namespace {

// Every operation asks for a few columns at a time and leaves it to the storage of the frames.
class FileColumns final : public Columns {
 public:
  explicit FileColumns(std::shared_ptr<ColumnReader> reader)
      : Columns(reader->file().rows, reader->file().cols, false), reader_(std::move(reader)) {}

  std::string storage() const override {
    return std::string(storage_in_words(reader_->file().type)) + ", read from its file";
  }
  Index entries() const override { return rows() * cols(); }
  Index entries(std::span<const Index> columns) const override { return rows() * std::ssize(columns); }
  bool is_slow() const override { return true; }
  std::uint64_t bytes_read() const override { return reader_->bytes_read(); }

  std::shared_ptr<const void> expect(std::span<const Index> columns) const override {
    struct Expected {  // the plan goes first
      std::shared_ptr<ColumnReader> reader;
      ColumnReader::Plan plan;
      Expected(std::shared_ptr<ColumnReader> from, std::span<const Index> list)
          : reader(std::move(from)), plan(*reader, list) {}
    };
    return std::make_shared<const Expected>(reader_, columns);
  }

  void correlate(std::span<const Index> columns, const double* v, double* out) const override {
    in_parts(columns,
             [&](Index first, const Part& part) { frames().correlate(part.frames(), v, out + first); });
  }

  void correlate_all(std::span<const Index> columns, const Eigen::MatrixXd& v,
                     Eigen::MatrixXd& out) const override {
    Eigen::MatrixXd some;
    in_parts(columns, [&](Index first, const Part& part) {
      some.resize(std::ssize(part.frames()), v.cols());
      frames().correlate_all(part.frames(), v, some);
      out.middleRows(first, some.rows()) = some;
    });
  }

  void combine(std::span<const Index> columns, const double* factors, RowRange rows,
               double* eta) const override {
    in_parts(columns, [&](Index first, const Part& part) {
      frames().combine(part.frames(), factors + first, rows, eta);
    });
  }

  void moments(std::span<const Index> columns, const RowWeights& rows, bool center,
               Moments* out) const override {
    in_parts(columns, [&](Index first, const Part& part) {
      frames().moments(part.frames(), rows, center, out + first);
    });
  }

  void copy_block(std::span<const Index> columns, RowRange rows, std::span<const EntryMap> maps,
                  const double* roots, double* out) const override {
    in_parts(columns, [&](Index first, const Part& part) {
      frames().copy_block(part.frames(), rows,
                          maps.subspan(static_cast<std::size_t>(first), part.frames().size()), roots,
                          out + first * rows.length);
    });
  }

  // As they are stored.
  std::shared_ptr<const Columns> copy_columns(std::span<const Index> columns) const override {
    const ColumnFile& file = reader_->file();
    const Index bytes = column_bytes(file.type, file.rows);
    constexpr Index kAlign = 8;
    const Index stride = (bytes + kAlign - 1) / kAlign * kAlign;
    struct Copy {
      std::unique_ptr<std::byte[]> bytes;
      std::vector<double> filling;
    };
    const auto copy = std::make_shared<Copy>();
    copy->bytes.reset(new std::byte[columns.size() * static_cast<std::size_t>(stride)]);
    const auto expected = expect(columns);
    in_parts(columns, [&](Index first, const Part& part) {
      for (std::size_t k = 0; k < part.frames().size(); ++k)
        std::memcpy(copy->bytes.get() + (first + static_cast<Index>(k)) * stride, part.data(k),
                    static_cast<std::size_t>(bytes));
    });
    if (!file.filling.empty())
      for (const Index j : columns) copy->filling.push_back(file.filling[static_cast<std::size_t>(j)]);
    return stored_columns(
        {file.type, copy->bytes.get(), file.rows, std::ssize(columns), stride, copy->filling}, copy);
  }

  std::shared_ptr<const Columns> copy_rows(std::span<const Index> columns,
                                           std::span<const Index> rows) const override {
    std::vector<Index> all(columns.size());
    std::iota(all.begin(), all.end(), Index{0});
    return copy_columns(columns)->copy_rows(all, rows);
  }

  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Part part(*reader_, {&column, 1});
    return frames().read_entries(part.frames().front(), first, chunk);
  }

 private:
  using Part = ColumnReader::Pinned;

  const Columns& frames() const { return reader_->frames(); }

  // f(place of its first column in the list, part) for parts of a list.
  template <class F>
  void in_parts(std::span<const Index> columns, F f) const {
    const auto most = static_cast<std::size_t>(reader_->most_pinned());
    for (std::size_t first = 0; first < columns.size(); first += most) {
      const Part part(*reader_, columns.subspan(first, std::min(most, columns.size() - first)));
      f(static_cast<Index>(first), part);
    }
  }

  std::shared_ptr<ColumnReader> reader_;
};

// A file in the address space, and the fillings of its columns.
class Mapping {
 public:
  explicit Mapping(ColumnFile file) : file_(std::move(file)), watched_(file_.path, end_of(file_)) {
    size_ = static_cast<std::size_t>(watched_.size());
    if (size_ == 0) return;
    void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, watched_.descriptor(), 0);
    if (memory == MAP_FAILED)
      throw DataError(file_.path + ": cannot read: " + std::generic_category().message(errno));
    data_ = static_cast<const std::byte*>(memory);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  StoredView view() const {
    return {file_.type, data_ + file_.offset, file_.rows, file_.cols, file_.stride, file_.filling};
  }
  // In the order of the file, so that it is read as one.
  void check_sums() const {
    const auto bytes = static_cast<std::size_t>(column_bytes(file_.type, file_.rows));
    for (Index j = 0; j < std::ssize(file_.checksums); ++j)
      check_column(file_, j, {data_ + file_.offset + j * file_.stride, bytes});
  }
  static std::uint64_t end_of(const ColumnFile& file) {
    if (file.cols == 0) return 0;
    return file.offset + static_cast<std::uint64_t>(file.cols - 1) * static_cast<std::uint64_t>(file.stride) +
           static_cast<std::uint64_t>(column_bytes(file.type, file.rows));
  }

 private:
  const ColumnFile file_;
  const WatchedFile watched_;
  std::size_t size_ = 0;
  const std::byte* data_ = nullptr;
};

}  // namespace

std::shared_ptr<const Columns> map_columns(ColumnFile file) {
  const auto mapping = std::make_shared<const Mapping>(std::move(file));
  mapping->check_sums();
  return stored_columns(mapping->view(), mapping);
}

Index least_memory(const ColumnFile& file) { return ColumnReader::least_memory(file); }

std::shared_ptr<const Columns> read_columns(ColumnFile file, Index memory_bytes) {
  if (const Index least = least_memory(file); memory_bytes < least)
    throw InvalidArgument("memory: want at least " + std::to_string(least) + " bytes for the columns of " +
                          file.path + ", got " + std::to_string(memory_bytes));
  return std::make_shared<const FileColumns>(std::make_shared<ColumnReader>(std::move(file), memory_bytes));
}

// Beside columns there are vectors of length p, which gradient bounds and penalties keep, vectors of length
// n, and working sets, which get a quarter of what those leave.
std::shared_ptr<const Columns> open_columns(ColumnFile file, Index memory_bytes) {
  if (memory_bytes == 0) return map_columns(std::move(file));
  constexpr Index kVectors = 16, kRowVectors = 64, kProgram = Index{1} << 25, kMegabyte = Index{1} << 20;
  const Index vectors =
      kProgram + static_cast<Index>(sizeof(double)) * (kVectors * file.cols + kRowVectors * file.rows);
  const Index least = vectors + least_memory(file) / 3 * 4;
  if (memory_bytes < least)
    throw InvalidArgument("memory: want at least " + std::to_string(least / kMegabyte + 1) +
                          "M for the columns of " + file.path + ", got " +
                          std::to_string(memory_bytes / kMegabyte) + "M");
  return read_columns(std::move(file), (memory_bytes - vectors) / 4 * 3);
}

}  // namespace tyto
#endif
