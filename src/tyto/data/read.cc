#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/data/formats.h"
#include "tyto/data/other_kinds.h"
#include "tyto/data/response.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

// Where the response is, unless a file of its own is named.
enum class Holds { kResponse, kMaybe, kFeatures };  // kMaybe: --target may name that file as well

struct Format {
  std::string_view name;
  std::array<std::string_view, 3> extensions;
  bool (*sniff)(std::string_view beginning);
  Dataset (*read)(const Sources&, const ReadOptions&);
  void (*read_blocks)(const Sources&, const ReadOptions&, const BlockPlan&) = nullptr;  // or null
  Holds holds = Holds::kResponse;
  bool (*by_columns)(const Sources&) = nullptr;  // whether read() leaves the columns in the file
};

bool always(const Sources&) { return true; }

// Sniffed in this order: anything may be CSV.
constexpr std::array<Format, 7> kFormats{{
    {"tyto", {"tyto"}, looks_like_tyto, read_tyto, nullptr, Holds::kResponse, always},
    {"npy", {"npy"}, looks_like_npy, read_npy, read_npy_blocks, Holds::kMaybe, npy_by_columns},
    {"npz", {"npz"}, looks_like_npz, read_npz, nullptr, Holds::kFeatures},
    {"bed", {"bed"}, looks_like_plink, read_plink, nullptr, Holds::kMaybe, always},
    {"mtx", {"mtx", "mm"}, looks_like_matrix_market, read_matrix_market, nullptr, Holds::kFeatures},
    {"libsvm", {"libsvm", "svm", "svmlight"}, looks_like_libsvm, read_libsvm, read_libsvm_blocks},
    {"csv", {"csv", "tsv", "tab"}, looks_like_csv, read_csv, read_csv_blocks},
}};

constexpr std::size_t kSniffed = std::size_t{1} << 16;

const Format* by_extension(std::string_view name) {
  const auto last_extension = [&] {
    const auto dot = name.find_last_of("./");
    return dot == std::string_view::npos || name[dot] == '/' ? std::string()
                                                             : lower_case(name.substr(dot + 1));
  };
  std::string extension = last_extension();
  for (const std::string_view compression : {"gz", "bz2", "xz", "zst"}) {
    if (extension != compression) continue;
    name.remove_suffix(extension.size() + 1);
    extension = last_extension();
    break;
  }
  if (extension.empty()) return nullptr;
  for (const Format& format : kFormats)
    if (std::ranges::find(format.extensions, extension) != format.extensions.end()) return &format;
  return nullptr;
}

const Format& by_name(const std::string& name) {
  for (const Format& format : kFormats)
    if (format.name == name) return format;
  throw InvalidArgument(unknown_word("format: unknown format", name, format_names()));
}

const Format& format_of(const Source& source, std::string_view beginning) {
  if (const Format* format = by_extension(source.name())) return *format;
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);  // byte order mark of UTF-8
  for (const Format& format : kFormats)
    if (format.sniff(beginning)) return format;
  fail(source.name(), 0, fmt::format("expected {}, got none of them", fmt::join(format_names(), ", ")));
}

}  // namespace

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  std::ranges::sort(names);
  return names;
}

namespace {

// From a file with a line for each row, those that were dropped included.
Vector read_beside(const std::string& file, const Dataset& data, std::string_view what) {
  const IndexSet& dropped = data.dropped_rows;
  const Vector all = read_numbers(file, data.design.rows() + std::ssize(dropped), what);
  IndexSet kept;
  for (Index i = 0; i < all.size(); ++i)
    if (!std::ranges::binary_search(dropped, i)) kept.push_back(i);
  return all(kept);
}

// Weights, offset and events, where they are not columns of the data.
void read_files_beside(const ReadOptions& options, Dataset& data) {
  if (options.weights && data.row_weights.size() == 0) {
    if (options.weights_from_model) refuse_file_of_model("observation-weights", *options.weights);
    data.row_weights = read_beside(*options.weights, data, "the weights");
  }
  if (options.offset && data.offset.size() == 0) {
    if (options.offset_from_model) refuse_file_of_model("offset", *options.offset);
    data.offset = read_beside(*options.offset, data, "the offset");
  }
  // New data for a model may be without events.
  const bool wanted = options.event && !(options.event_from_model && options.target_optional);
  if (wanted && data.events.size() == 0) {
    if (options.event_from_model) refuse_file_of_model("event", *options.event);
    data.events = read_beside(*options.event, data, "the events");
  }
}

}  // namespace

namespace {

// The files, all of one format.
const Format& open_sources(const std::vector<std::string>& files, const ReadOptions& options,
                           Sources& sources) {
  if (files.empty()) throw InvalidArgument("files: want at least one, got none");
  if (options.features < 0)
    throw InvalidArgument(fmt::format("features: want >= 0, got {}", options.features));
  const Format* format = options.format.empty() ? nullptr : &by_name(options.format);
  for (const std::string& file : files) {
    if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) refuse_folder(file);
    sources.emplace_back(file);
    const std::string beginning = sources.back().beginning(kSniffed);
    if (!looks_like_npz(beginning)) refuse_other_kinds(file, beginning);
    if (!options.format.empty()) continue;
    const Format& found = format_of(sources.back(), beginning);
    if (format != nullptr && format != &found)
      fail(file, 0,
           fmt::format("expected {} as in {}, got {}", format->name, printable(files[0]), found.name));
    format = &found;
  }
  return *format;
}

// The options with the file of the response as `response`, and that checked.
ReadOptions with_response(const Format& format, const std::string& file, ReadOptions options) {
  if (options.response && format.read == read_libsvm)
    throw InvalidArgument("response: want none for libsvm files, whose labels it is, got " +
                          in_quotes(*options.response));
  Index column = 0;
  if (options.response || format.holds == Holds::kResponse) return options;
  if (!options.target) {
    if (format.holds == Holds::kFeatures && !options.target_optional)
      throw InvalidArgument(fmt::format(
          "response: want a file with the response of {} (--response FILE), got none", printable(file)));
    return options;
  }
  if (format.read == read_npy && is_count(*options.target, column)) return options;
  if (options.target_from_model) {  // nothing is opened that only the model names
    if (!options.target_optional && format.read != read_plink)
      refuse_file_of_model("target", *options.target);
    return options;
  }
  std::error_code ignored;
  if (format.read == read_plink && !std::filesystem::exists(*options.target, ignored)) return options;
  options.response = std::exchange(options.target, std::nullopt);
  return options;
}

// What a block has to hold where it was asked for.
void check_block(const ReadOptions& options, const Dataset& block) {
  if (options.weights && block.row_weights.size() == 0)
    throw InvalidArgument("observation-weights: want a column of the data where rows are streamed, got " +
                          in_quotes(*options.weights));
  if (options.offset && block.offset.size() == 0)
    throw InvalidArgument("offset: want a column of the data where rows are streamed, got " +
                          in_quotes(*options.offset));
}

}  // namespace

void read_blocks(const std::vector<std::string>& files, const ReadOptions& options, const BlockPlan& plan) {
  Sources sources;
  const Format& format = open_sources(files, options, sources);
  if (options.missing != Missing::kRefuse && options.missing != Missing::kDropRows)
    throw InvalidArgument(fmt::format("missing: want refuse or drop-rows where rows are streamed, got {}",
                                      kMissingWords.name(options.missing)));
  if (format.read_blocks == nullptr)
    fail(files[0], 0,
         fmt::format("expected csv, libsvm or npy, to read rows one after the other, got {}", format.name));
  if (options.response && format.read_blocks != read_npy_blocks)
    throw InvalidArgument("response: want a column of the data where rows are streamed, got " +
                          in_quotes(*options.response));
  format.read_blocks(sources, with_response(format, files[0], options), {plan.rows, [&](Dataset&& block) {
                                                                           check_block(options, block);
                                                                           plan.sink(std::move(block));
                                                                         }});
}

bool reads_columns(const std::vector<std::string>& files, const ReadOptions& options) {
  Sources sources;
  const Format& format = open_sources(files, options, sources);
  return format.by_columns != nullptr && format.by_columns(sources);
}

Dataset read(const std::vector<std::string>& files, const ReadOptions& asked) {
  Sources sources;
  const Format* format = &open_sources(files, asked, sources);
  const ReadOptions options = with_response(*format, files[0], asked);
  try {
    std::optional<ResponseFile> response;
    if (options.response) response = read_response_file(options, format->read == read_plink);
    Dataset data = format->read(sources, options);
    response ? attach_response(*response, options, data) : settle_response(options, files[0], data);
    const bool csv = format->read == read_csv;
    if (options.header != Header::kAuto && !csv)
      data.warnings.push_back(fmt::format("--header has no effect on {} files", format->name));
    if (options.decimal != Decimal::kAuto && !csv)
      data.warnings.push_back(fmt::format("--decimal has no effect on {} files", format->name));
    read_files_beside(options, data);
    return data;
  } catch (const std::bad_alloc&) {
    fail(files[0], 0, "the data does not fit into memory");
  } catch (const std::length_error&) {
    fail(files[0], 0, "the data does not fit into memory");
  }
}

Vector read_numbers(const std::string& file, Index rows, std::string_view what) {
  const ReadOptions options{.target_optional = true, .features = 1};
  Sources sources;
  sources.emplace_back(file);
  const Format& format = format_of(sources[0], sources[0].beginning(kSniffed));
  if (format.read == read_libsvm) fail(file, 0, "expected a file of one column, got libsvm");
  const Dataset data = format.read(sources, options);
  const Index cols = data.design.cols() + (data.response.size() > 0);
  if (cols != 1) fail(file, 0, fmt::format("expected one column, {}, got {}", what, cols));
  if (data.design.rows() != rows)
    fail(file, 0,
         fmt::format("expected {} as in the matrix, got {}", count_of(rows, "row"), data.design.rows()));
  Vector numbers = Vector::Zero(rows);
  data.design.for_each_entry(0, [&](Index row, double value) { numbers[row] = value; });
  return numbers;
}

void refuse_file_of_model(std::string_view option, const std::string& file) {
  throw InvalidArgument(
      fmt::format("{}: want the file that the model was fitted with: --{} FILE; it was called {}", option,
                  option, in_quotes(file)));
}

void refuse_drop(const ReadOptions& options, std::string_view format) {
  if (!options.drop.empty())
    throw InvalidArgument(
        fmt::format("drop: want none for {} files, got {}", format, in_quotes(options.drop[0])));
  if (!options.one_hot.empty())
    throw InvalidArgument(
        fmt::format("one-hot: want none for {} files, got {}", format, in_quotes(options.one_hot[0].column)));
  if (options.missing == Missing::kDropColumns)
    throw InvalidArgument(
        fmt::format("missing: want refuse, mean or drop-rows for {} files, got drop-columns", format));
}

}  // namespace tyto
