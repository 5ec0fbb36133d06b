#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.h"
#include "cli/reproduce/journal.h"
#include "cli/reproduce/sets.h"

namespace tyto::cli {

struct Algorithm {
  std::string_view name, title, solver, screening, variant;
  bool in_paper;

  bool published_spgd() const { return solver == "spgd" && variant == "published"; }
};
// In the order of the paper's figures, then what it does not have.
std::span<const Algorithm> figure1_algorithms();
std::span<const Algorithm> figure2_algorithms();
std::span<const Algorithm> table3_algorithms();
const Algorithm& algorithm(std::string_view name);

inline constexpr int kStrengths = 3;
inline constexpr int kSplits = 5;                   // of the rows, for Table 3
inline constexpr int kLongTrials = 2;               // of a run that takes long
inline constexpr double kLongRun = 3;               // CPU seconds
inline constexpr double kTimingTolerance = 1e-6;    // Figure 1
inline constexpr double kAccurateTolerance = 1e-9;  // Figure 2 and Table 3
inline constexpr double kSupportTolerance = 1e-12;  // of the run that says which columns are inactive

// Starts of the screening rate: relative gaps, and a solution at a larger strength.
std::span<const std::string_view> warm_starts();
inline constexpr double kLargerStrength = 1.1;

struct Settings {
  int trials = 5;
  double cap = 20;   // CPU seconds, of each run
  Index shrink = 1;  // of the stand-ins
  bool tune = false;
};

struct ChosenSet {
  const PaperSet* set;
  std::vector<std::string> files;  // none for a stand-in
};

// Runs what the journal does not have yet, set after set; false if interrupted.
bool run_experiments(const std::vector<ChosenSet>& sets, const Settings& settings, Journal& journal,
                     Progress& progress);

}  // namespace tyto::cli
