#include "cli/reproduce/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tyto::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstCap = 2;  // CPU seconds, before any setting has reached the tolerance
constexpr double kLeastCap = 0.1;
constexpr double kTimesBest = 2.5;  // a run is stopped after so many times the best

RunKey key_of(const std::string& set, const StochasticOptions& setting, int seed) {
  return {kTune, set, 1, "published spgd+seed", seed, setting_name(setting)};
}

struct Tried {
  StochasticOptions setting;
  double first = kInfinity;  // CPU seconds of the first seed, if it reached the tolerance
  double worst = 0;          // of all seeds so far
  double gap = 0;            // of the first seed
  int seeds = 0;
  bool reached = true, diverged = false;
};

std::vector<Tried> tried(const Journal& journal, const std::string& set) {
  std::vector<Tried> all;
  for (const StochasticOptions& setting : tuning_grid()) {
    Tried t{.setting = setting};
    for (int seed = 1; seed <= kTuningSeeds; ++seed) {
      const Record* r = journal.find(key_of(set, setting, seed));
      if (r == nullptr) break;
      ++t.seeds;
      t.reached = t.reached && r->reached();
      t.worst = std::max(t.worst, r->cpu_seconds);
      if (seed > 1) continue;
      t.gap = r->gap;
      t.diverged = r->status == "stalled";
      if (r->reached()) t.first = r->cpu_seconds;
    }
    all.push_back(t);
  }
  return all;
}

double best_time(const std::vector<Tried>& all) {
  double best = kInfinity;
  for (const Tried& t : all) best = std::min(best, t.first);
  return best;
}

}  // namespace

std::vector<StochasticOptions> tuning_grid() {
  std::vector<StochasticOptions> grid;
  for (const double step : {1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6})
    for (const Index batch : {5, 25, 100})
      for (const Index inner : {20, 80})
        grid.push_back({.batch = batch, .inner_steps = inner, .step_size = step});
  return grid;
}

std::string setting_name(const StochasticOptions& setting) {
  return fmt::format("{} x {} at {:.0e}", setting.batch, setting.inner_steps, setting.step_size);
}

std::optional<TuningRun> next_tuning_run(const Journal& journal, const std::string& set, double cap) {
  std::vector<Tried> all = tried(journal, set);
  const double best = best_time(all);
  const double limit = std::min(cap, best < kInfinity ? std::max(kLeastCap, kTimesBest * best) : kFirstCap);
  for (const Tried& t : all)
    if (t.seeds == 0) return TuningRun{key_of(set, t.setting, 1), t.setting, limit};
  std::ranges::sort(all, {}, &Tried::first);
  std::size_t finalists = 0;
  for (const Tried& t : all) {
    if (t.first == kInfinity || finalists == kTuningFinalists) return std::nullopt;
    if (!t.reached) continue;
    if (t.seeds < kTuningSeeds) return TuningRun{key_of(set, t.setting, t.seeds + 1), t.setting, limit};
    ++finalists;
  }
  return std::nullopt;
}

std::optional<Tuned> tuned(const Journal& journal, const std::string& set) {
  const std::vector<Tried> all = tried(journal, set);
  Tuned result{.setting = {}, .worst = kInfinity, .reached = false, .diverged = 0, .unsafe = 0, .tried = 0};
  double least_gap = kInfinity;
  for (const Tried& t : all) {
    if (t.seeds == 0) continue;
    ++result.tried;
    result.diverged += t.diverged ? 1 : 0;
    result.unsafe += t.first < kInfinity && !t.reached ? 1 : 0;
    if (t.reached && t.seeds == kTuningSeeds && t.worst < result.worst) {
      result.setting = t.setting;
      result.worst = t.worst;
      result.reached = true;
    } else if (!result.reached && t.gap < least_gap) {
      result.setting = t.setting;
      least_gap = t.gap;
    }
  }
  if (result.tried == 0) return std::nullopt;
  return result;
}

}  // namespace tyto::cli
