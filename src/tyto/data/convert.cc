#include "tyto/data/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include "tyto/base/checksum.h"
#include "tyto/base/error.h"
#include "tyto/columns/watched_file.h"
#include "tyto/data/blocks.h"
#include "tyto/data/narrowest.h"
#include "tyto/data/part_file.h"
#include "tyto/data/text.h"
#include "tyto/data/tyto_file.h"

namespace tyto {
namespace {

constexpr Index kGroup = 32;                   // columns that are looked at together
constexpr Index kWriteBytes = Index{1} << 22;  // that are written or read at once

struct Interrupted {};

// What the file is made of: names, sizes and times of the inputs, and the options that change what is read.
std::uint64_t inputs_checksum(const std::vector<std::string>& files, const ReadOptions& o) {
  std::string text;
  for (const std::string& file : files) {
    std::error_code none;
    text += fmt::format("{}|{}|{}|", file, std::filesystem::file_size(file, none),
                        std::filesystem::last_write_time(file, none).time_since_epoch().count());
  }
  std::vector<std::string> words;
  for (const OneHot& one : o.one_hot) words.push_back(one.column);
  text += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", o.format, o.target.value_or(""),
                      o.weights.value_or(""), o.offset.value_or(""), o.event.value_or(""),
                      static_cast<int>(o.header), static_cast<int>(o.missing), static_cast<int>(o.decimal),
                      fmt::join(o.drop, ","), fmt::join(words, ","));
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}

Index columns_end(const ColumnFile& file) { return kTytoBlock + file.cols * file.stride; }

ColumnFile layout(const std::string& path, StoredType type, Index rows, Index cols) {
  return {path, type, rows, cols, static_cast<std::uint64_t>(kTytoBlock), tyto_stride(type, rows)};
}

// f(first column, how many, their numbers one column after the other), a few columns at a time.
template <class F>
void for_each_group(const Design& x, Index begin, Index length, F f) {
  Eigen::MatrixXd values;
  const auto expected = x.expect();
  for (Index first = 0; first < x.cols(); first += kGroup) {
    const Index count = std::min(kGroup, x.cols() - first);
    std::vector<Index> columns(static_cast<std::size_t>(count));
    std::iota(columns.begin(), columns.end(), first);
    values.resize(length, count);
    x.pack(columns, begin, length, values.data());
    f(first, values);
  }
}

std::span<const double> column_of(const Eigen::MatrixXd& values, Index k) {
  return {values.col(k).data(), static_cast<std::size_t>(values.rows())};
}

struct Filled {
  double mean = 0;
  Index missing = 0;
};
Filled fill_of(std::span<const double> values) {
  Filled result;
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value))
      ++result.missing;
    else
      sum += value;
  }
  const Index there = std::ssize(values) - result.missing;
  result.mean = there > 0 ? sum / static_cast<double>(there) : 0;
  return result;
}

// Reads the columns back as they are on the disk: their checksums, means and norms.
void measure(const std::string& path, TytoDescription& d, const std::function<void(Index)>& tell) {
  const ColumnFile& file = d.columns;
  const WatchedFile on_disk(path, static_cast<std::uint64_t>(columns_end(file)));
  const Index bytes = column_bytes(file.type, file.rows);
  const Index at_once = std::clamp<Index>(kWriteBytes / file.stride, 1, kGroup);
  ReadBuffer buffer(static_cast<std::size_t>(at_once * file.stride));
  const std::vector<double> gaps(static_cast<std::size_t>(at_once), std::numeric_limits<double>::quiet_NaN());
  d.mean.resize(file.cols);
  d.norm.resize(file.cols);
  d.columns.checksums.resize(static_cast<std::size_t>(file.cols));
  for (Index first = 0; first < file.cols; first += at_once) {
    const Index count = std::min(at_once, file.cols - first);
    const auto begin = static_cast<std::uint64_t>(kTytoBlock + first * file.stride);
    const std::byte* data =
        on_disk.read(begin, begin + static_cast<std::uint64_t>(count * file.stride), buffer);
    const Design stored(stored_columns({file.type, data, file.rows, count, file.stride, gaps}, nullptr));
    for_each_group(stored, 0, file.rows, [&](Index, const Eigen::MatrixXd& values) {
      for (Index k = 0; k < count; ++k) {
        const auto j = static_cast<std::size_t>(first + k);
        const Filled found = fill_of(column_of(values, k));
        double squares = 0;
        for (const double value : column_of(values, k))
          if (!std::isnan(value)) squares += (value - found.mean) * (value - found.mean);
        d.mean[first + k] = found.mean;
        d.norm[first + k] = std::sqrt(squares);
        if (file.type == StoredType::kGenotype) d.missing[j] = static_cast<double>(found.missing);
        d.columns.checksums[j] = checksum({data + k * file.stride, static_cast<std::size_t>(bytes)});
      }
    });
    tell(first + count);
  }
}

class Conversion {
 public:
  Conversion(const std::vector<std::string>& files, const ConvertOptions& options)
      : files_(files), options_(options), file_(options.output, inputs_checksum(files, options.reading)) {}

  Converted run() {
    try {
      options_.memory > 0 ? stream() : convert_whole();
      finish();
    } catch (const Interrupted&) {
      result_.interrupted = true;
    } catch (...) {
      file_.discard();
      throw;
    }
    return std::move(result_);
  }

 private:
  void tell(const char* what, Index rows) const {
    if (options_.progress && !options_.progress(what, rows)) throw Interrupted();
  }

  void begin(StoredType type, Index rows, Index cols) {
    description_.columns = layout(file_.path(), type, rows, cols);
    description_.missing.assign(static_cast<std::size_t>(cols), 0);
    result_.type = type;
    result_.rows = rows;
    result_.cols = cols;
  }
  void start() {
    const ColumnFile& c = description_.columns;
    file_.start({file_.journal().inputs, c.type, c.rows, c.cols, 0, result_.dropped},
                static_cast<std::uint64_t>(columns_end(c)));
  }

  // Data that is in memory, or that a file of columns holds: column by column.
  void convert_whole() {
    ReadOptions reading = options_.reading;
    if (reading.missing == Missing::kMean) reading.missing = Missing::kKeep;
    const Dataset data = read(files_, reading);
    result_.warnings = data.warnings;
    result_.dropped = std::ssize(data.dropped_rows);
    const Design& x = data.design;
    check(data);
    Narrowest narrowest;
    for_each_group(x, 0, x.rows(), [&](Index first, const Eigen::MatrixXd& values) {
      narrowest.see({values.data(), static_cast<std::size_t>(values.size())});
      tell("columns looked at", first);
    });
    begin(narrowest.type(), x.rows(), x.cols());
    start();
    write_columns(x);
    take_about(data);
  }

  void check(const Dataset& data) const {
    const Design& x = data.design;
    if (data.response.hasNaN()) fail(files_[0], 0, "missing value in the response; use --missing drop-rows");
    if (!x.is_sparse()) return;
    constexpr double kEntryBytes = 12, kMost = 4;
    const double dense = static_cast<double>(x.rows()) * static_cast<double>(x.cols());
    if (dense > kMost * kEntryBytes * static_cast<double>(x.stored_entries()))
      fail(files_[0], 0,
           fmt::format(
               "expected dense data, got one with {:.2g} % non-zeros: sparse data stays smaller as it is",
               100 * static_cast<double>(x.stored_entries()) / dense));
  }

  void write_columns(const Design& x) {
    const ColumnFile& file = description_.columns;
    std::vector<std::byte> bytes;
    for_each_group(x, 0, x.rows(), [&](Index first, const Eigen::MatrixXd& values) {
      bytes.assign(static_cast<std::size_t>(values.cols() * file.stride), std::byte{0});
      for (Index k = 0; k < values.cols(); ++k) {
        const Filled filled = fill_of(column_of(values, k));
        description_.missing[static_cast<std::size_t>(first + k)] = static_cast<double>(filled.missing);
        store(file.type, column_of(values, k), filled.mean, 0, bytes.data() + k * file.stride);
      }
      file_.write(bytes, static_cast<std::uint64_t>(kTytoBlock + first * file.stride));
      tell("columns written", first);
    });
  }

  void take_about(const Dataset& data) {
    Dataset& about = description_.about;
    about = data;
    about.design = {};
    about.weights_name = data.weights_name.empty() ? "weights" : data.weights_name;
    about.offset_name = data.offset_name.empty() ? "offset" : data.offset_name;
    about.event_name = data.event_name.empty() ? "event" : data.event_name;
  }

  // Rows in blocks: once to see what they are, and once to write them.
  void stream() {
    for (const std::string& file : files_) {
      std::error_code none;
      if (!std::filesystem::is_regular_file(file, none) && std::filesystem::exists(file, none))
        throw InvalidArgument("data: want files, which can be read twice, where memory is limited, got " +
                              in_quotes(file));
    }
    const PartJournal& journal = file_.journal();
    if (journal.done > 0) {
      begin(journal.type, journal.rows, journal.cols);
      result_.dropped = journal.dropped;
      result_.resumed = journal.done;
    } else {
      survey();
      start();
    }
    write_rows();
  }

  template <class F>
  void for_each_block(F f) {
    constexpr Index kShare = 8;  // of the memory for a block, which is read, and copied
    const auto rows = [this](Index columns, bool /*sparse*/) {
      return std::max<Index>(1, options_.memory / kShare / (columns * static_cast<Index>(sizeof(double))));
    };
    Index first = 0;
    read_blocks(files_, options_.reading, {rows, [&](Dataset&& block) {
                                             f(block, first);
                                             first += block.design.rows();
                                           }});
    if (result_.rows > 0 && first != result_.rows)
      fail(files_[0], 0, "the file has changed while it was read");
  }

  void survey() {
    Narrowest narrowest;
    Index rows = 0, cols = 0;
    for_each_block([&](const Dataset& block, Index first) {
      for_each_group(block.design, 0, block.design.rows(), [&](Index, const Eigen::MatrixXd& values) {
        narrowest.see({values.data(), static_cast<std::size_t>(values.size())});
      });
      rows = first + block.design.rows();
      cols = block.design.cols();
      result_.dropped += std::ssize(block.dropped_rows);
      tell("rows looked at", rows);
    });
    if (rows == 0) fail(files_[0], 0, "expected a row without missing values, got none");
    begin(narrowest.type(), rows, cols);
  }

  // As many rows as half of the memory holds, in fours for genotypes, go to all their columns at once.
  Index tile_rows() const {
    const ColumnFile& file = description_.columns;
    const Index row_bits = file.cols * row_of(file.type).bits;
    const Index rows = options_.memory / 2 / ((row_bits + 7) / 8) / 4 * 4;
    if (rows < 4)
      throw InvalidArgument(fmt::format("memory: want at least {}M for so many columns, got {}M",
                                        row_bits >> 20, options_.memory >> 20));
    return std::min(rows, file.rows);
  }

  void write_rows() {
    const ColumnFile& file = description_.columns;
    const Index tile = tile_rows(), stride = column_bytes(file.type, tile);
    std::vector<std::byte> bytes(static_cast<std::size_t>(file.cols * stride));
    Index begin = file_.journal().done;  // first row of the tile
    const auto flush = [&](Index end) {
      const auto length = static_cast<std::size_t>(column_bytes(file.type, end - begin));
      const Index before = begin * row_of(file.type).bits / 8;
      for (Index j = 0; j < file.cols; ++j)
        file_.write({bytes.data() + j * stride, length},
                    static_cast<std::uint64_t>(kTytoBlock + j * file.stride + before));
      file_.advance(end);
      std::ranges::fill(bytes, std::byte{0});
      begin = end;
      tell("rows written", end);
    };
    for_each_block([&](const Dataset& block, Index first) {
      if (block.design.cols() != file.cols || first + block.design.rows() > file.rows)
        fail(files_[0], 0, "the file has changed while it was read");
      append_about(block, first);
      const Index end = first + block.design.rows();
      while (begin < end) {
        const Index from = std::max(begin, first), to = std::min(end, begin + tile);
        for_each_group(block.design, from - first, to - from, [&](Index j, const Eigen::MatrixXd& values) {
          for (Index k = 0; k < values.cols(); ++k)
            store(file.type, column_of(values, k), 0, from - begin, bytes.data() + (j + k) * stride);
        });
        if (to < begin + tile && to < file.rows) break;
        flush(to);
      }
    });
  }

  void append_about(const Dataset& block, Index first) {
    Dataset& about = description_.about;
    const Index n = description_.columns.rows;
    if (first == 0) {
      take_about(block);
      result_.warnings = block.warnings;
    }
    const auto append = [&](const Vector& from, Vector& to) {
      if (from.size() == 0) return;
      to.conservativeResize(n);
      to.segment(first, from.size()) = from;
    };
    append(block.response, about.response);
    append(block.row_weights, about.row_weights);
    append(block.offset, about.offset);
    append(block.events, about.events);
  }

  void finish() {
    measure(file_.path(), description_, [this](Index columns) { tell("columns measured", columns); });
    const std::string description = tyto_description_bytes(description_);
    const auto place = static_cast<std::uint64_t>(columns_end(description_.columns));
    file_.write(description, place);
    file_.write(tyto_first_block(place, description), 0);
    result_.bytes = place + description.size();
    file_.commit(result_.bytes);
    const auto& missing = description_.missing;
    result_.missing = static_cast<Index>(std::accumulate(missing.begin(), missing.end(), 0.0));
  }

  const std::vector<std::string>& files_;
  const ConvertOptions& options_;
  PartFile file_;
  TytoDescription description_;
  Converted result_;
};

}  // namespace

Converted convert(const std::vector<std::string>& files, const ConvertOptions& options) {
  if (files.empty()) throw InvalidArgument("files: want at least one, got none");
  return Conversion(files, options).run();
}

}  // namespace tyto
