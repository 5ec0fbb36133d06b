#include "cli/grid_args.h"

#include <algorithm>

#include "cli/args.h"

namespace tyto::cli {

void add_grid(CLI::App& app, PathOptions& path) {
  app.add_option("--steps", path.steps, "Number of strengths, evenly spaced in their logarithms")
      ->capture_default_str();
  app.add_option("--ratio", path.ratio,
                 "The last strength as a fraction of alpha-max, the first [0.01 where p >= n, else 0.0001]");
  app.add_option("--max-explained", path.max_explained,
                 "Stop after a model that explains this fraction of the variance [off]");
  app.add_option("--min-change", path.min_change,
                 "Stop after a model that explains less than this more than the one before [off]");
  app.add_option("--max-nonzeros", path.max_nonzeros,
                 "Stop after a model with so many non-zero coefficients [off]");
  app.add_option("--max-clusters", path.max_clusters, "Stop after a model with so many clusters [off]");
  want_whole_numbers(app, {"--steps", "--max-nonzeros", "--max-clusters"});
}

std::vector<std::size_t> shown_steps(std::size_t count) {
  constexpr std::size_t kShown = 12;
  std::vector<std::size_t> shown;
  const std::size_t rows = std::min(kShown, count);
  for (std::size_t row = 0; row < rows; ++row)
    shown.push_back(rows == 1 ? 0 : row * (count - 1) / (rows - 1));
  return shown;
}

}  // namespace tyto::cli
