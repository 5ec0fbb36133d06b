#include "tyto/data/convert.h"

#include <fmt/core.h>

#include <csignal>
#include <memory>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/summing.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

struct ConvertArgs {
  DataArgs data;
  std::string output, memory;
  bool no_target = false, quiet = false;
};

std::string size_in_words(std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size >= 0x1p30) return fmt::format("{:.3g} GiB", size / 0x1p30);
  return size >= 0x1p20 ? fmt::format("{:.3g} MiB", size / 0x1p20) : fmt::format("{:.3g} KiB", size / 0x1p10);
}

std::string summary(const Converted& done, const std::string& output) {
  std::string text = fmt::format("{} rows, {} columns as {}, {} in {}\n", done.rows, done.cols,
                                 row_of(done.type).name, size_in_words(done.bytes), printable(output));
  if (done.resumed > 0) text += fmt::format("{} rows had been written by an earlier run\n", done.resumed);
  if (done.dropped > 0) text += fmt::format("{} rows were left out for missing values\n", done.dropped);
  if (done.missing > 0)
    text += fmt::format("{} missing values count as the mean of their column\n", done.missing);
  return text;
}

int run(const ConvertArgs& args) {
  if (!args.output.ends_with(".tyto"))
    throw InvalidArgument("output: want a name that ends in .tyto, got " + in_quotes(args.output));
  check_outputs({args.output}, args.data.inputs({}));
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like any other
  ConvertOptions options{args.data.options(), args.output};
  options.reading.text_labels = true;
  options.reading.target_optional = args.no_target;
  if (args.no_target && !args.data.target.empty())
    throw InvalidArgument("target: want none with --no-target, got " + in_quotes(args.data.target));
  if (!args.memory.empty()) options.memory = static_cast<Index>(parse_memory(args.memory));
  Progress progress(args.quiet);
  options.progress = [&](const char* what, Index count) {
    progress.status(fmt::format("{} {}", count, what));
    return !progress.interrupted();
  };
  const Converted done = convert(args.data.paths(), options);
  if (done.interrupted) {
    if (!args.quiet)
      progress.note("tyto: interrupted: the same command goes on where rows are read in blocks");
    return kInterrupted;
  }
  if (!args.quiet) {
    print_warnings(done.warnings);
    Outputs outputs;
    outputs.add_summary(summary(done, args.output));
    outputs.commit();
  }
  return kDone;
}

}  // namespace

std::function<int()> define_convert(CLI::App& app) {
  auto args = std::make_shared<ConvertArgs>();
  args->data.add(app);
  args->data.add_observation_weights(app);
  args->data.add_offset(app);
  args->data.add_event(app);
  app.add_option("--output", args->output, "Write the columns to this file, whose name ends in .tyto")
      ->required();
  app.add_flag("--no-target", args->no_target,
               "All columns are features; the response comes from elsewhere later");
  app.add_option("--memory", args->memory,
                 "Memory to use: rows are read in blocks, twice, and a run that was killed goes on where it "
                 "was: 512M, 1G [the data is read at once]");
  app.add_flag("--quiet", args->quiet, "No progress, summary or warnings");
  app.footer(
      "The file holds the columns in the narrowest type that is exact: two bits for 0, 1, 2 and missing, "
      "int8, "
      "uint8,\nint16, float or double. 'tyto fit', 'path', 'cv', 'predict' and 'verify' read the columns "
      "that "
      "they need.\n"
      "Example:\n  tyto convert genotypes.csv --target y --output genotypes.tyto\n"
      "  tyto convert long.csv.zst --memory 2G --output long.tyto\n"
      "  tyto path long.tyto --memory 2G --model path.json");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
