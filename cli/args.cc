#include "cli/args.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"

namespace tyto::cli {

void DataArgs::add(CLI::App& app) {
  app.add_option("DATA", files,
                 "Data file, or several of the same shape to be stacked: LIBSVM, CSV or TSV, .npy, Matrix "
                 "Market; plain "
                 "or compressed (gz, bz2, xz, zst)")
      ->required();
  app.add_option(
      "--target", target,
      "The response: a CSV column by name or 0-based number, or a file beside an .npy or .mtx matrix "
      "[the LIBSVM label, else the last column]");
  app.add_option("--drop", drop, "CSV columns to leave out, by name or 0-based number: NAME,NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--missing", missing, "Rows with missing values: refuse, drop-rows")->capture_default_str();
  app.add_option("--format", format, "Format of the data: " + joined(format_names()) + " [found by itself]");
}

void DataArgs::add_observation_weights(CLI::App& app) {
  app.add_option(
      "--observation-weights", observation_weights,
      "How often each row counts: a CSV column by name or 0-based number, or a file with one number a row");
}

Dataset DataArgs::read(const ReadOptions& options) const {
  std::vector<std::string> names = files;
  for (std::string& name : names)
    if (name == "-") name = "/dev/stdin";
  return tyto::read(names, options);
}

std::vector<std::string> DataArgs::inputs(std::vector<std::string> others) const {
  others.insert(others.end(), files.begin(), files.end());
  others.push_back(target), others.push_back(observation_weights);
  return others;
}

ReadOptions DataArgs::options() const {
  ReadOptions options;
  options.format = format;
  if (!target.empty()) options.target = target;
  if (!observation_weights.empty()) options.weights = observation_weights;
  options.drop = drop;
  if (missing != "refuse" && missing != "drop-rows")
    throw InvalidArgument("missing: want refuse or drop-rows, got '" + missing + "'");
  options.missing = missing == "refuse" ? Missing::kRefuse : Missing::kDropRows;
  return options;
}

void want_whole_numbers(CLI::App& app, std::initializer_list<const char*> options) {
  const auto check = [](const std::string& text) {
    const char* end = text.data() + text.size();
    std::int64_t value = -1;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool whole = error == std::errc() && stop == end && value >= 0;
    return whole ? "" : "want a whole number >= 0, got '" + text + "'";
  };
  for (const char* option : options) app.get_option(option)->check(check);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Vector read_column(const std::string& path, const std::string& what) {
  const Dataset file = read({path}, {.format = "csv", .target_optional = true, .features = 1});
  if (file.design.cols() != 1 || file.response.size() > 0)
    throw InvalidArgument(what + ": want one number in each line of " + path);
  Vector numbers(file.design.rows());
  file.design.for_each_entry(0, [&](Index row, double value) { numbers[row] = value; });
  return numbers;
}

void write_output(const std::string& path, std::string_view text) {
  if (path != "-") return write_atomically(path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw DataError("standard output: cannot write");
}

static void check_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw DataError(path + ": cannot write: it is a folder");
  if (!std::filesystem::is_directory(folder, ignored))
    throw DataError(path + ": cannot write: no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0 && access(path.c_str(), W_OK) != 0)
    throw DataError(path + ": cannot write: no permission for folder " + folder.string());
}

void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  std::vector<std::filesystem::path> places;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    check_writable(path);
    std::error_code ignored;
    for (const std::string& input : inputs)
      if (std::filesystem::is_regular_file(input, ignored) &&
          std::filesystem::equivalent(path, input, ignored))
        throw InvalidArgument("output: want another file than the input '" + input + "'");
    const std::filesystem::path place =
        path == "-" ? std::filesystem::path(path)
                    : std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
    if (std::ranges::find(places, place) != places.end())
      throw InvalidArgument("output: want one place for each result, got '" + path + "' twice");
    places.push_back(place);
  }
}

}  // namespace tyto::cli
