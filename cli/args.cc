#include "cli/args.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstdint>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/data/text.h"

namespace tyto::cli {

constexpr const char* kDataGroup = "Data";

void DataArgs::add(CLI::App& app) {
  app.option_defaults()->group(kDataGroup);
  app.add_option(
         "DATA", files,
         "Data file, or several of the same shape to be stacked: LIBSVM, CSV or TSV, .npy, .npz of "
         "SciPy, Matrix Market, PLINK's .bed with its .bim and .fam; plain or compressed (gz, bz2, xz, "
         "zst)")
      ->required();
  app.add_option(
      "--target", target,
      "The response: a column of the data, or of the file that --response names, by name or 0-based number "
      "[the LIBSVM label; the column called y, target, label or response; the last one where there are no "
      "names; of .bed the phenotype in .fam]");
  app.add_option(
      "--response", response,
      "A file with the response, where the data has features alone: one column, or a table of which "
      "--target says the column; beside .bed with the columns FID and IID, or IID alone");
  app.add_option("--header", header, "Whether CSV files begin with a line of names: auto, yes, no")
      ->capture_default_str();
  app.add_option("--drop", drop, "CSV columns to leave out, by name or 0-based number: NAME,NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--one-hot", one_hot,
         "CSV columns of words, which become columns of 0 and 1, one for each word (of two words, for "
         "the second): NAME,NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--missing", missing,
      "Missing values: " + joined(kMissingWords.all()) + " [refuse; for new data, as the model was fitted]");
  app.add_option("--decimal", decimal, "Decimal mark of CSV files: '.', ',' or auto")->capture_default_str();
  app.add_option("--format", format, "Format of the data: " + joined(format_names()) + " [found by itself]");
  app.option_defaults()->group("Options");
}

void DataArgs::add_observation_weights(CLI::App& app) {
  app.add_option(
         "--observation-weights", observation_weights,
         "How often each row counts: a CSV column by name or 0-based number, or a file with one number a row")
      ->group(kDataGroup);
}

void DataArgs::add_offset(CLI::App& app) {
  app.add_option(
         "--offset", offset,
         "What is added to the linear predictor of each row, e.g. the logarithm of an exposure: a CSV "
         "column by name or 0-based number, or a file with one number a row")
      ->group(kDataGroup);
}

void DataArgs::add_event(CLI::App& app) {
  app.add_option("--event", event,
                 "Of the loss cox: whether the time of each row is that of an event (1 or TRUE) or censored "
                 "(0 or FALSE): a CSV column by name or 0-based number, or a file with one number a row");
}

void DataArgs::add_memory(CLI::App& app) {
  app.add_option("--memory", memory,
                 "Memory to use, for columns that stay in their file: 512M, 1G [the file is mapped]");
}

std::vector<std::string> DataArgs::paths() const {
  std::vector<std::string> names = files;
  for (std::string& name : names)
    if (name == "-") name = "/dev/stdin";
  return names;
}

bool DataArgs::by_columns() const { return reads_columns(paths(), options()); }

Dataset DataArgs::read(const ReadOptions& options) const { return tyto::read(paths(), options); }

std::vector<std::string> DataArgs::inputs(std::vector<std::string> others) const {
  others.insert(others.end(), files.begin(), files.end());
  for (const std::string& file : files)
    if (file.ends_with(".bed"))
      for (const char* beside : {"bim", "fam"}) others.push_back(file.substr(0, file.size() - 3) + beside);
  for (const std::string& name : {target, response, observation_weights, offset, event})
    others.push_back(name);
  return others;
}

ReadOptions DataArgs::options() const {
  ReadOptions options;
  options.format = format;
  if (!target.empty()) options.target = target;
  if (!response.empty()) options.response = response;
  if (!observation_weights.empty()) options.weights = observation_weights;
  if (!offset.empty()) options.offset = offset;
  if (!event.empty()) options.event = event;
  options.drop = drop;
  if (header != "auto" && header != "yes" && header != "no")
    throw InvalidArgument("header: want auto, yes or no, got '" + header + "'");
  if (header != "auto") options.header = header == "yes" ? Header::kYes : Header::kNo;
  for (const std::string& column : one_hot) options.one_hot.push_back({column, {}});
  const auto policy = kMissingWords.find(missing.empty() ? "refuse" : missing);
  if (!policy)
    throw InvalidArgument("missing: want " + joined(kMissingWords.all()) + ", got '" + missing + "'" +
                          did_you_mean(missing, kMissingWords.all()));
  options.missing = *policy;
  if (decimal != "auto" && decimal != "." && decimal != ",")
    throw InvalidArgument("decimal: want '.', ',' or auto, got '" + decimal + "'");
  if (!memory.empty()) options.memory = static_cast<Index>(parse_memory(memory));
  if (decimal != "auto") options.decimal = decimal == "," ? Decimal::kComma : Decimal::kPoint;
  return options;
}

std::size_t parse_memory(const std::string& text) {
  const auto wrong = [&] {
    return InvalidArgument("memory: want a number of bytes such as 512M or 1G, got " + in_quotes(text));
  };
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0)) throw wrong();
  std::string unit = lower_case(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  double bytes = 1;
  if (unit == "k")
    bytes = 0x1p10;
  else if (unit == "m")
    bytes = 0x1p20;
  else if (unit == "g")
    bytes = 0x1p30;
  else if (unit == "t")
    bytes = 0x1p40;
  else if (!unit.empty())
    throw wrong();
  bytes *= number;
  if (!(bytes >= 1 && bytes < 0x1p60)) throw wrong();
  return static_cast<std::size_t>(bytes);
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

void say(const std::string& sentence) { print(stderr, "tyto: " + printable(sentence) + "\n"); }

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) say("warning: " + warning);
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
