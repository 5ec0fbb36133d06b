#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/journal.h"
#include "tyto/solve/solver.h"

namespace tyto::cli {

// The paper's grid search for the published SPGD with screening, at p_1 of each set: batches of 5 to 100
// rows, 5 to 80 inner steps, step sizes of 1e-6 to 1e-3. Every setting is tried with one seed; the fastest of
// them are tried with five, in that order, until some settings have reached the tolerance with all of them.
inline constexpr int kTuningSeeds = 5;
inline constexpr std::size_t kTuningFinalists = 2;

std::vector<StochasticOptions> tuning_grid();
std::string setting_name(const StochasticOptions& setting);  // "50 x 80 at 1e-06"

// The next run that the search needs; nothing once it is over.
struct TuningRun {
  RunKey key;
  StochasticOptions setting;
  double cap;  // CPU seconds: a run that takes several times as long as the best is of no use
};
std::optional<TuningRun> next_tuning_run(const Journal& journal, const std::string& set, double cap);

// The setting whose slowest seed was the fastest; nothing where the search was not made.
struct Tuned {
  StochasticOptions setting;
  double worst;  // CPU seconds, of five seeds
  bool reached;  // the tolerance, with every seed
  int diverged;  // settings that diverged or stalled with the first seed
  int unsafe;    // settings that reached the tolerance with the first seed and missed it with another
  int tried;
};
std::optional<Tuned> tuned(const Journal& journal, const std::string& set);

}  // namespace tyto::cli
