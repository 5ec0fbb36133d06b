#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/reproduce/figures.h"
#include "cli/reproduce/page.h"
#include "cli/reproduce/results.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

struct ReproduceArgs {
  std::string data, output;
  std::vector<std::string> sets;
  Settings settings;
  std::optional<double> cap;
  std::optional<int> trials;
  bool quick = false, fresh = false, redraw = false, quiet = false;

  void prepare();
};

constexpr double kCap = 8, kQuickCap = 2;
constexpr int kTrials = 5, kQuickTrials = 2;
constexpr Index kQuickShrink = 5;
constexpr std::array<std::string_view, 3> kQuickSets{"duke", "colon-cancer", "cardiac-left"};

void ReproduceArgs::prepare() {
  settings.cap = cap.value_or(quick ? kQuickCap : kCap);
  settings.trials = trials.value_or(quick ? kQuickTrials : kTrials);
  settings.shrink = quick ? kQuickShrink : 1;
  if (!(settings.cap > 0 && std::isfinite(settings.cap)))
    throw InvalidArgument(fmt::format("cap: want a number of seconds > 0, got {}", settings.cap));
  if (settings.trials < 1)
    throw InvalidArgument(fmt::format("trials: want 1 or more, got {}", settings.trials));
  for (const std::string& name : sets) find_paper_set(name);
  if (data.empty()) throw InvalidArgument("data: want a folder: --data DIR");
  if (!std::filesystem::is_directory(data)) throw DataError(data + ": no such folder");
}

struct Choice {
  std::vector<ChosenSet> sets;
  std::vector<std::string> skipped;
};

bool asked_for(const ReproduceArgs& args, const PaperSet& set) {
  if (!args.sets.empty()) return std::ranges::find(args.sets, set.name) != args.sets.end();
  return !args.quick || std::ranges::find(kQuickSets, set.name) != kQuickSets.end();
}

std::string skipping(const PaperSet& set) {
  const char* source = set.part_of.empty() ? "; scripts/get-data.sh fetches it" : "";
  return fmt::format("{}: skipped, no {} in the data folder{}", set.title, set.files.front(), source);
}

// What is asked for and there. A part of a set is run where the whole is not there.
Choice choose(const ReproduceArgs& args) {
  Choice choice;
  bool wanted = false;
  const auto chosen = [&choice](std::string_view name) {
    return std::ranges::any_of(choice.sets, [name](const ChosenSet& c) { return c.set->name == name; });
  };
  for (const PaperSet& set : paper_sets()) {
    if (!asked_for(args, set) || chosen(set.part_of)) continue;
    wanted = wanted || !set.simulated();
    std::vector<std::string> files = find_files(set, args.data);
    if (set.simulated() || !files.empty())
      choice.sets.push_back({&set, std::move(files)});
    else if (set.part_of.empty() || !args.sets.empty())
      choice.skipped.push_back(skipping(set));
  }
  const bool any = std::ranges::any_of(choice.sets, [](const ChosenSet& c) { return !c.set->simulated(); });
  if (wanted && !any)
    throw DataError(args.data +
                    ": no data set of the paper in this folder; scripts/get-data.sh fetches them");
  return choice;
}

// A file that cannot be read is to be known now, not when its turn comes.
void check_data(const Choice& choice) {
  for (const ChosenSet& chosen : choice.sets)
    if (!chosen.set->simulated()) load(*chosen.set, chosen.files, 1);
}

nlohmann::json settings_of(const ReproduceArgs& args, const Choice& choice, const Environment& machine) {
  nlohmann::json sets = nlohmann::json::array();
  for (const ChosenSet& chosen : choice.sets)
    sets.push_back(
        {{"name", chosen.set->name}, {"fingerprint", fmt::format("{:016x}", fingerprint(chosen.files))}});
  return {{"format", kFormat},
          {"version", machine.version},
          {"commit", machine.commit},
          {"machine", machine.processor},
          {"compiler", machine.compiler},
          {"data", sets},
          {"trials", args.settings.trials},
          {"cap", args.settings.cap},
          {"shrink", args.settings.shrink},
          {"tune", args.settings.tune}};
}

void write_results(const std::string& folder, const PageContents& contents, const std::string& summary) {
  Outputs outputs;
  const auto write = [&](const char* name, const std::string& text) {
    outputs.add((std::filesystem::path(folder) / name).string(), text);
  };
  write("runs.csv", runs_csv(contents.journal));
  write("screening.csv", screening_csv(contents.journal, contents.sets));
  write("table3.csv", table3_csv(contents.journal, contents.sets));
  write("figure1.svg", figure1(contents.journal, contents.sets));
  write("figure2.svg", figure2(contents.journal, contents.sets));
  write("tuning.csv", tuning_csv(contents.journal));
  const Document document = page(contents);
  write("index.html", document.html());
  write("paper.md", document.markdown());
  outputs.add_summary(summary);
  outputs.commit();
}

// All that the page says of the runs is from the journal: another program may have made them.
void draw(const ReproduceArgs& args, const Journal& journal, const std::vector<std::string>& skipped) {
  const nlohmann::json& made = journal.settings();
  Environment machine = environment();
  made.at("commit").get_to(machine.commit);
  made.at("version").get_to(machine.version);
  made.at("machine").get_to(machine.processor);
  made.at("compiler").get_to(machine.compiler);
  Settings settings;
  made.at("trials").get_to(settings.trials);
  made.at("cap").get_to(settings.cap);
  made.at("shrink").get_to(settings.shrink);
  made.at("tune").get_to(settings.tune);
  PageContents contents{journal, {}, skipped, settings, settings.shrink > 1, machine};
  for (const nlohmann::json& set : made.at("data")) {
    const PaperSet& chosen = find_paper_set(set.at("name").get<std::string>());
    if (journal.find({kFigure1, std::string(chosen.name), 1, "published apgd", 1}) != nullptr)
      contents.sets.emplace_back(chosen.name);
  }
  std::string summary;
  for (const Claim& claim : claims(contents))
    summary += fmt::format("{}\n  paper: {}\n  here:  {}\n", claim.claim, claim.paper, claim.ours);
  summary += fmt::format("{} runs; {}\n", journal.records().size(),
                         printable((std::filesystem::path(args.output) / "index.html").string()));
  write_results(args.output, contents, args.quiet ? "" : summary);
}

int run(ReproduceArgs& args) {
  const std::string path = (std::filesystem::path(args.output) / "runs.jsonl").string();
  if (args.redraw) {
    try {
      draw(args, Journal(path), {});
    } catch (const nlohmann::json::exception&) {
      throw DataError(path + ": expected the runs of tyto reproduce, got something else");
    }
    return kDone;
  }
  args.prepare();
  const Choice choice = choose(args);
  check_data(choice);
  const nlohmann::json settings = settings_of(args, choice, environment());
  std::filesystem::create_directories(args.output);
  Journal journal(path, settings, args.fresh);

  Progress progress(args.quiet);
  for (const std::string& line : choice.skipped) progress.note(line);
  if (!journal.records().empty())
    progress.note(fmt::format("{} runs are finished already", journal.records().size()));
  if (!run_experiments(choice.sets, args.settings, journal, progress)) {
    progress.note(fmt::format("interrupted after {} runs; the same command goes on from there",
                              journal.records().size()));
    return kInterrupted;
  }
  draw(args, journal, choice.skipped);
  return kDone;
}

}  // namespace

std::function<int()> define_reproduce(CLI::App& app) {
  auto args = std::make_shared<ReproduceArgs>();
  app.add_option("--data", args->data, "Folder with the data sets, as scripts/get-data.sh makes it");
  app.add_option("--output", args->output, "Folder for the page, figures and tables; made if it is not there")
      ->required();
  app.add_flag("--quick", args->quick,
               "One or two minutes: 2 trials, a cap of 2 s, three sets, a small stand-in");
  app.add_flag(
      "--tune", args->settings.tune,
      "Search batch, inner steps and step size of the published SPGD for each set, as the paper does");
  app.add_option("--sets", args->sets, "Only these: NAME,NAME,... [all that are there]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--cap", args->cap, "CPU seconds after which a run is stopped [8]");
  app.add_option("--trials", args->trials, "Trials of each run of Figure 1 [5]");
  app.add_flag("--fresh", args->fresh, "Begin anew where the output folder holds runs already");
  app.add_flag("--redraw", args->redraw,
               "Only write page, figures and tables again, from the runs that are there");
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
