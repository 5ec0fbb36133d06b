#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/summing.h"
#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/data/text.h"
#include "tyto/moments/packing.h"

namespace tyto::cli {
namespace {

struct MomentsArgs {
  DataArgs data;
  SummingArgs summing;
  std::string output;
  bool quiet = false;
};

std::string summary(const MomentSet& set, const std::string& output) {
  const CoMoments total = set.total();
  return fmt::format("{} rows, {} features{} in {}\n", set.fingerprint.rows, set.features(),
                     set.folds.size() > 1 ? fmt::format(", {} folds", set.folds.size()) : "",
                     printable(output)) +
         (static_cast<double>(total.rows) != total.weight
              ? fmt::format("their weight is {:.10g}\n", total.weight)
              : "");
}

int finish(const MomentSet& set, const std::string& output, bool quiet) {
  Outputs outputs;
  outputs.add(output, pack(set));
  if (!quiet) outputs.add_summary(summary(set, output));
  outputs.commit();
  return kDone;
}

void want_moments_name(const std::string& name) {
  if (!name.ends_with(".moments"))
    throw InvalidArgument("output: want a name that ends in .moments, got " + in_quotes(name));
}

int run(const MomentsArgs& args) {
  want_moments_name(args.output);
  check_outputs({args.output}, args.data.inputs({}));
  const SummedData summed = sum_moments(args.data, args.summing);
  if (!args.quiet) print_warnings(summed.about.warnings);
  return finish(summed.moments, args.output, args.quiet);
}

int run_merge(const MomentsArgs& args) {
  want_moments_name(args.output);
  for (const std::string& file : args.data.files) want_moments_name(file);
  return finish(read_moments(args.data.files).moments, args.output, args.quiet);
}

}  // namespace

std::function<int()> define_moments(CLI::App& app) {
  auto args = std::make_shared<MomentsArgs>();
  args->summing.threads = hardware_threads();
  args->data.add(app);
  args->data.add_observation_weights(app);
  app.add_option("--output", args->output, "Write the moments to this file, whose name ends in .moments")
      ->required();
  app.add_option("--folds", args->summing.folds, "Keep the moments of so many folds, for 'tyto cv'")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", args->summing.seed, "Of the folds")->capture_default_str();
  app.add_option("--memory", args->summing.memory, "Memory to use, at most: 512M, 1G [no limit]");
  app.add_option("--threads", args->summing.threads, "Threads [all cores]")->check(CLI::Range(1, 10000));
  app.add_flag("--quiet", args->quiet, "No summary, no warnings");
  want_whole_numbers(app, {"--seed"});
  app.footer(
      "Moments (means and co-moments) are all that squared error needs of the rows: 'tyto fit', 'path' and "
      "'cv' take\nthem in place of the data, and 'tyto merge' adds those of further rows.\n"
      "Example:\n  tyto moments monday.csv --target y --output monday.moments\n"
      "  tyto merge monday.moments tuesday.moments --output all.moments\n"
      "  tyto path all.moments --weights bh --model path.json");
  return [args] { return run(*args); };
}

std::function<int()> define_merge(CLI::App& app) {
  auto args = std::make_shared<MomentsArgs>();
  app.add_option("MOMENTS", args->data.files, "Files of 'tyto moments'")->required();
  app.add_option("--output", args->output, "Write their sum to this file, which may be one of them")
      ->required();
  app.add_flag("--quiet", args->quiet, "No summary");
  app.footer("Example:\n  tyto merge all.moments today.moments --output all.moments");
  return [args] { return run_merge(*args); };
}

}  // namespace tyto::cli
