#include "cli/args.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstdint>

#include "tyto/base/error.h"
#include "tyto/data/text.h"

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
      "[the LIBSVM label; the column called y, target, label or response; the last one where there are no "
      "names]");
  app.add_option("--header", header, "Whether CSV files begin with a line of names: auto, yes, no")
      ->capture_default_str();
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
  if (header != "auto" && header != "yes" && header != "no")
    throw InvalidArgument("header: want auto, yes or no, got '" + header + "'");
  if (header != "auto") options.header = header == "yes" ? Header::kYes : Header::kNo;
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

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) print(stderr, "tyto: warning: " + printable(warning) + "\n");
}

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

Vector read_column(const std::string& path, const std::string& what) {
  const Dataset file = read({path}, {.format = "csv", .target_optional = true, .features = 1});
  if (file.design.cols() != 1 || file.response.size() > 0)
    throw InvalidArgument(what + ": want one number in each line of " + path);
  Vector numbers(file.design.rows());
  file.design.for_each_entry(0, [&](Index row, double value) { numbers[row] = value; });
  return numbers;
}

}  // namespace tyto::cli
