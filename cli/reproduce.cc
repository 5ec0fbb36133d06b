#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/reproduce/figures.h"
#include "cli/reproduce/page.h"
#include "cli/reproduce/results.h"
#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"

namespace tyto::cli {
namespace {

struct ReproduceArgs {
  std::string data, output;
  std::vector<std::string> sets;
  Settings settings;
  double cap = 0;
  int trials = 0;
  bool quick = false, fresh = false, quiet = false;

  void prepare();
};

constexpr double kCap = 30, kQuickCap = 3;
constexpr int kTrials = 5, kQuickTrials = 2;
constexpr Index kQuickShrink = 5;
const std::vector<std::string> kQuickSets{"duke", "colon-cancer", "cardiac-left"};

void ReproduceArgs::prepare() {
  settings.cap = cap != 0 ? cap : quick ? kQuickCap : kCap;
  settings.trials = trials != 0 ? trials : quick ? kQuickTrials : kTrials;
  settings.shrink = quick ? kQuickShrink : 1;
  if (!(settings.cap > 0 && std::isfinite(settings.cap)))
    throw InvalidArgument(fmt::format("cap: want a number of seconds > 0, got {}", settings.cap));
  if (settings.trials < 1)
    throw InvalidArgument(fmt::format("trials: want 1 or more, got {}", settings.trials));
  for (const std::string& name : sets) find_paper_set(name);
  if (!std::filesystem::is_directory(data)) throw DataError(data + ": no such folder");
}

struct Choice {
  std::vector<ChosenSet> sets;
  std::vector<std::string> skipped;
};

bool asked_for(const ReproduceArgs& args, const PaperSet& set) {
  const std::vector<std::string>& names = !args.sets.empty() ? args.sets : kQuickSets;
  return (args.sets.empty() && !args.quick) || std::ranges::find(names, set.name) != names.end();
}

// What is asked for and there. The part of the slice set is run where the whole is not there.
Choice choose(const ReproduceArgs& args) {
  Choice choice;
  bool wanted = false, whole_slice = false;
  for (const PaperSet& set : paper_sets()) {
    if (!asked_for(args, set) || (set.name == "slice-part" && whole_slice)) continue;
    if (set.simulated()) {
      choice.sets.push_back({&set, {}});
      continue;
    }
    wanted = true;
    std::vector<std::string> files = find_files(set, args.data);
    if (files.empty()) {
      choice.skipped.push_back(
          fmt::format("{}: skipped, no {} in the data folder; scripts/get-data.sh fetches it", set.title,
                      set.files.front()));
      continue;
    }
    whole_slice = whole_slice || set.name == "slice";
    choice.sets.push_back({&set, std::move(files)});
  }
  const bool any = std::ranges::any_of(choice.sets, [](const ChosenSet& c) { return !c.set->simulated(); });
  if (wanted && !any)
    throw DataError(args.data +
                    ": no data set of the paper in this folder; scripts/get-data.sh fetches them");
  return choice;
}

nlohmann::json settings_of(const ReproduceArgs& args, const Choice& choice, const Environment& machine) {
  nlohmann::json sets = nlohmann::json::array();
  for (const ChosenSet& chosen : choice.sets)
    sets.push_back(
        {{"name", chosen.set->name}, {"fingerprint", fmt::format("{:016x}", fingerprint(chosen.files))}});
  return {{"format", "tyto-reproduce-1"},   {"version", machine.version},   {"commit", machine.commit},
          {"machine", machine.processor},   {"compiler", machine.compiler}, {"data", sets},
          {"trials", args.settings.trials}, {"cap", args.settings.cap},     {"shrink", args.settings.shrink}};
}

void write_results(const std::string& folder, const PageContents& contents) {
  const auto write = [&folder](const char* name, const std::string& text) {
    write_atomically((std::filesystem::path(folder) / name).string(), text);
  };
  write("runs.csv", runs_csv(contents.journal));
  write("screening.csv", screening_csv(contents.journal, contents.sets));
  write("table3.csv", table3_csv(contents.journal, contents.sets));
  write("figure1.svg", figure1(contents.journal, contents.sets));
  write("figure2.svg", figure2(contents.journal, contents.sets));
  write("index.html", page(contents));
}

int run(ReproduceArgs& args) {
  args.prepare();
  const Choice choice = choose(args);
  const Environment machine = environment();
  const nlohmann::json settings = settings_of(args, choice, machine);
  std::filesystem::create_directories(args.output);
  Journal journal((std::filesystem::path(args.output) / "runs.jsonl").string(), settings, args.fresh);

  Progress progress(args.quiet);
  for (const std::string& line : choice.skipped) progress.note(line);
  if (!journal.records().empty())
    progress.note(fmt::format("{} runs are finished already", journal.records().size()));
  if (!run_experiments(choice.sets, args.settings, journal, progress)) {
    progress.note(fmt::format("interrupted after {} runs; the same command goes on from there",
                              journal.records().size()));
    return kInterrupted;
  }
  PageContents contents{journal, {}, choice.skipped, args.settings, args.quick, machine};
  for (const ChosenSet& chosen : choice.sets) contents.sets.emplace_back(chosen.set->name);
  write_results(args.output, contents);
  if (args.quiet) return kDone;
  for (const Claim& claim : claims(contents))
    fmt::print("{}\n  paper: {}\n  here:  {}\n", claim.claim, claim.paper, claim.ours);
  fmt::print("{} runs; {}\n", journal.records().size(),
             (std::filesystem::path(args.output) / "index.html").string());
  return kDone;
}

}  // namespace

std::function<int()> define_reproduce(CLI::App& app) {
  auto args = std::make_shared<ReproduceArgs>();
  app.add_option("--data", args->data, "Folder with the data sets, as scripts/get-data.sh makes it")
      ->required();
  app.add_option("--output", args->output, "Folder for the page, figures and tables; made if it is not there")
      ->required();
  app.add_flag("--quick", args->quick, "Two minutes: 2 trials, a cap of 3 s, three sets, a small stand-in");
  app.add_option("--sets", args->sets, "Only these: NAME,NAME,... [all that are there]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--cap", args->cap, "CPU seconds after which a run is stopped [30]");
  app.add_option("--trials", args->trials, "Trials of each run of Figure 1 [5]");
  app.add_flag("--fresh", args->fresh, "Begin anew where the output folder holds runs already");
  app.add_flag("--quiet", args->quiet, "No progress, no summary");
  want_whole_numbers(app, {"--trials"});
  std::string names;
  for (const PaperSet& set : paper_sets()) names += (names.empty() ? "" : ", ") + std::string(set.name);
  app.footer("Sets: " + names +
             ".\nAfter an interruption the same command goes on where it was.\n"
             "Example:\n  tyto reproduce --data data --output paper --quick");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
