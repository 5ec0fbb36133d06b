#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/regression_args.h"
#include "tyto/select/summed.h"

namespace tyto::cli {

// Rows that are read in blocks and summed, so that data of any length needs little memory.
struct SummingArgs {
  std::string memory;  // "1G"; empty: no limit
  Index folds = 1;
  std::uint64_t seed = 1;  // of the folds
  int threads = 1;
};

// Moments, and what else the data says about itself.
struct SummedData {
  MomentSet moments;
  Dataset about;  // names, without rows
  Index dropped = 0;
};
// One pass over the files.
SummedData sum_moments(const DataArgs& data, const SummingArgs& args);
SummedData read_moments(const std::vector<std::string>& files);  // of .moments files, merged

// Whether a command is to work on sums: --memory was given for files of rows, or its data is a .moments file.
bool works_on_sums(const RegressionArgs& args);
// The models, from two passes over the files or more; from .moments files without any. `note` says what the
// certificates are about. The rows' weights and so on are named in the data of the result, as in data that
// was read. The first is for fits and paths, also of other losses and of wide data, by gradients.
std::pair<Dataset, Estimate> estimate_streamed(const RegressionArgs& args, Task task, std::string& note);
std::pair<Dataset, CvEstimate> cross_validate_streamed(const RegressionArgs& args, std::string& note);

}  // namespace tyto::cli
