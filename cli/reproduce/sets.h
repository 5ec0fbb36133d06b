#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/data/simulate.h"

namespace tyto::cli {

// A data set of the paper's Table 2, or one that stands beside it.
struct PaperSet {
  std::string_view name, title;
  double tau;                                // strengths p_i = i exp(-tau), i = 1, 2, 3
  bool standardized = true;                  // columns and response; else as it is, without an intercept
  std::vector<std::string_view> files = {};  // in the data folder, plain or compressed; stacked by rows
  std::string_view target = "", drop = "";
  std::optional<SimulateOptions> stand_in = {};  // simulated: the paper's data is not public
  std::string_view paper_rmse = "";              // Table 3; empty where the paper has none
  std::string_view note = "";
  std::string_view part_of = "";  // the set whose first rows these are

  bool simulated() const { return stand_in.has_value(); }
};
std::span<const PaperSet> paper_sets();
const PaperSet& find_paper_set(std::string_view name);  // throws InvalidArgument if there is none

// The files of a set, plain or compressed; empty if they are not all there.
std::vector<std::string> find_files(const PaperSet& set, const std::string& folder);
std::uint64_t fingerprint(const std::vector<std::string>& files);  // of their names and contents

// Reads or simulates it; `shrink`: the stand-ins have so many times fewer rows and columns. The response is
// in units of its standard deviation where the set is standardised.
Dataset load(const PaperSet& set, const std::vector<std::string>& files, Index shrink);

// A random 4:1 split of the rows, the same for a seed everywhere.
struct Split {
  Dataset training, test;
};
Split split_rows(const Dataset& data, std::uint64_t seed);

}  // namespace tyto::cli
