#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <new>

#include "tyto/base/error.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

struct Format {
  std::string_view name;
  std::array<std::string_view, 3> extensions;
  bool (*sniff)(std::string_view beginning);
  Dataset (*read)(const Sources&, const ReadOptions&);
};

// Sniffed in this order: anything may be CSV.
constexpr std::array<Format, 4> kFormats{{
    {"npy", {"npy"}, looks_like_npy, read_npy},
    {"mtx", {"mtx", "mm"}, looks_like_matrix_market, read_matrix_market},
    {"libsvm", {"libsvm", "svm", "svmlight"}, looks_like_libsvm, read_libsvm},
    {"csv", {"csv", "tsv", "tab"}, looks_like_csv, read_csv},
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
  throw InvalidArgument(
      fmt::format("format: unknown format {}; known: {}", in_quotes(name), fmt::join(format_names(), ", ")));
}

// By its byte order mark, or by the zero bytes in characters of ASCII.
bool is_utf16(std::string_view beginning) {
  if (beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff")) return true;
  const auto is_ascii = [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n'; };
  if (beginning.size() < 4) return false;
  const bool little = beginning[1] == '\0' && beginning[3] == '\0';
  const bool big = beginning[0] == '\0' && beginning[2] == '\0';
  return (little && is_ascii(beginning[0]) && is_ascii(beginning[2])) ||
         (big && is_ascii(beginning[1]) && is_ascii(beginning[3]));
}

// Characters of two or four bytes.
void refuse_wide_text(const Source& source) {
  using namespace std::string_view_literals;
  const std::string beginning = source.beginning(4);
  const bool utf32 = beginning == "\xff\xfe\0\0"sv || beginning == "\0\0\xfe\xff"sv;
  if (utf32 || is_utf16(beginning))
    fail(source.name(), 0,
         fmt::format("expected UTF-8 text, got {}: save the file as UTF-8", utf32 ? "UTF-32" : "UTF-16"));
}

const Format& format_of(const Source& source) {
  refuse_wide_text(source);
  if (const Format* format = by_extension(source.name())) return *format;
  const std::string start = source.beginning(kSniffed);
  std::string_view beginning = start;
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
void read_weights(const std::string& file, Dataset& data) {
  const IndexSet& dropped = data.dropped_rows;
  const Vector all =
      read_response(file, data.design.rows() + std::ssize(dropped), Missing::kRefuse, "the weights");
  IndexSet kept;
  for (Index i = 0; i < all.size(); ++i)
    if (!std::ranges::binary_search(dropped, i)) kept.push_back(i);
  data.weights = all(kept);
}

}  // namespace

Dataset read(const std::vector<std::string>& files, const ReadOptions& options) {
  if (files.empty()) throw InvalidArgument("files: want at least one, got none");
  if (options.features < 0)
    throw InvalidArgument(fmt::format("features: want >= 0, got {}", options.features));
  const Format* format = options.format.empty() ? nullptr : &by_name(options.format);
  Sources sources;
  for (const std::string& file : files) {
    sources.emplace_back(file);
    if (!options.format.empty()) {
      refuse_wide_text(sources.back());
      continue;
    }
    const Format& found = format_of(sources.back());
    if (format != nullptr && format != &found)
      fail(file, 0,
           fmt::format("expected {} as in {}, got {}", format->name, printable(files[0]), found.name));
    format = &found;
  }
  try {
    Dataset data = format->read(sources, options);
    if (options.weights && data.weights.size() == 0) {
      if (options.weights_from_model) refuse_file_of_model("observation-weights", *options.weights);
      read_weights(*options.weights, data);
    }
    return data;
  } catch (const std::bad_alloc&) {
    fail(files[0], 0, "the data does not fit into memory");
  } catch (const std::length_error&) {
    fail(files[0], 0, "the data does not fit into memory");
  }
}

Vector read_response(const std::string& file, Index rows, Missing missing, std::string_view what) {
  const ReadOptions options{.target_optional = true,
                            .missing = missing == Missing::kRefuse ? Missing::kRefuse : Missing::kKeep,
                            .features = 1};
  Sources sources;
  sources.emplace_back(file);
  const Format& format = format_of(sources[0]);
  if (format.read == read_libsvm) fail(file, 0, "expected a file of one column, got libsvm");
  const Dataset data = format.read(sources, options);
  const Index cols = data.design.cols() + (data.response.size() > 0);
  if (cols != 1) fail(file, 0, fmt::format("expected one column, {}, got {}", what, cols));
  if (data.design.rows() != rows)
    fail(file, 0,
         fmt::format("expected {} as in the matrix, got {}", count_of(rows, "row"), data.design.rows()));
  Vector response = Vector::Zero(rows);
  data.design.for_each_entry(0, [&](Index row, double value) { response[row] = value; });
  return response;
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
}

}  // namespace tyto
