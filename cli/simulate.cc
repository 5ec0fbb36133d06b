#include "tyto/data/simulate.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/args.h"
#include "cli/commands.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"
#include "tyto/data/write.h"

namespace tyto::cli {
namespace {

struct SimulateArgs {
  SimulateOptions options;
  std::string output = "-", truth, format;
  bool quiet = false;
};

bool ends_with_libsvm(const std::string& path) {
  return path.ends_with(".svm") || path.ends_with(".libsvm") || path.ends_with(".svmlight");
}

int run(const SimulateArgs& args) {
  if (!args.format.empty() && args.format != "csv" && args.format != "libsvm")
    throw InvalidArgument("format: want csv or libsvm, got '" + args.format + "'");
  check_outputs({args.output, args.truth});
  const std::string extension = std::filesystem::path(args.output).extension();
  if (args.format.empty() && !extension.empty() && extension != ".csv" && !ends_with_libsvm(args.output))
    throw InvalidArgument("output: want a name that ends in .csv, .svm or .libsvm, or --format, got '" +
                          args.output + "'");
  const Simulated simulated = simulate(args.options);
  const Dataset& data = simulated.data;
  const bool libsvm = args.format.empty() ? ends_with_libsvm(args.output) : args.format == "libsvm";
  Outputs outputs;
  outputs.add(args.output, libsvm ? to_libsvm(data) : to_csv(data));
  if (!args.truth.empty()) {
    std::string csv = "column,name,coefficient\n";
    for (Index j = 0; j < simulated.truth.size(); ++j)
      if (simulated.truth[j] != 0)
        csv += fmt::format("{},{},{}\n", j, data.names[static_cast<std::size_t>(j)], simulated.truth[j]);
    outputs.add(args.truth, csv);
  }
  if (!args.quiet && args.output != "-")
    outputs.add_summary(fmt::format("{} rows, {} features in {}\n", data.design.rows(), data.design.cols(),
                                    printable(args.output)));
  outputs.commit();
  return kDone;
}

}  // namespace

std::function<int()> define_simulate(CLI::App& app) {
  auto args = std::make_shared<SimulateArgs>();
  SimulateOptions& o = args->options;
  app.add_option("--rows", o.rows, "Observations")->capture_default_str();
  app.add_option("--cols", o.cols, "Features")->capture_default_str();
  app.add_option("--groups", o.groups, "Groups of correlated features that carry the signal")
      ->capture_default_str();
  app.add_option("--group-size", o.group_size, "Features in a group")->capture_default_str();
  app.add_option("--correlation", o.correlation, "Correlation within a group")->capture_default_str();
  app.add_option("--rho", o.rho, "Correlation of neighbours among the other features")->capture_default_str();
  app.add_option("--snr", o.snr, "Variance of the signal over variance of the noise")->capture_default_str();
  app.add_option("--density", o.density, "Fraction of the entries that are not zero; below 1 for sparse data")
      ->capture_default_str();
  app.add_option("--seed", o.seed, "Same seed, same data")->capture_default_str();
  app.add_option("--output", args->output, "File: .csv, or .svm for LIBSVM; - is standard output")
      ->capture_default_str();
  app.add_option("--format", args->format, "csv or libsvm [by the name of the file]");
  app.add_option("--truth", args->truth, "Write the true coefficients as CSV");
  app.add_flag("--quiet", args->quiet, "No summary");
  want_whole_numbers(app, {"--rows", "--cols", "--groups", "--group-size", "--seed"});
  app.footer(
      "Example:\n  tyto simulate --rows 100 --cols 2000 --groups 5 --output data.csv --truth truth.csv");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
