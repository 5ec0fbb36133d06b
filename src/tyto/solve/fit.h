#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tyto/problem/problem.h"
#include "tyto/solve/solver.h"
#include "tyto/solve/stopping.h"

namespace tyto {

struct FitOptions {
  double tolerance = 1e-6;         // stop when gap + rounding <= tolerance * primal, on the full problem
  std::string solver = "auto";     // "auto" or a row of solvers()
  std::string screening = "safe";  // a row of screening_rules()
  std::string variant = "tyto";    // a row of solver_variants()
  Index max_epochs = 1'000'000;
  double max_seconds = std::numeric_limits<double>::infinity();
  int threads = 1;  // for passes over X that are large enough; the result has the same bits for any number
  StochasticOptions stochastic = {};
  Tuning tuning = {};  // thresholds of speed, which no user has to know: for tests and measurements
};
void validate(const FitOptions& options);

struct TracePoint {
  Index epoch;
  double seconds, primal, gap;
  Index active;  // columns left; in the last one, those that are not proved zero
};

// Called once an epoch, and more often where epochs are long; return false to stop.
using Observer = std::function<bool(const TracePoint&)>;

struct Fit {
  Iterate solution;  // at full length
  Status status;
  Certificate certificate;  // of the solution, on the full problem
  // The pattern of the solution: for each column of the certificate's support the number of its cluster.
  // Columns of one cluster have the same magnitude; number 0 has the largest.
  std::vector<Index> cluster;
  Index clusters = 0;  // how many there are
  std::vector<TracePoint> trace;
  Index epochs, screened;
  double passes;  // over X: entries read, in units of all that are stored
  double seconds, cpu_seconds;
  Index published_stop = -1;  // published variants: the epoch where their own rule held first at 1e-6, or -1
};

// Solves the problem from `warm_start` (coefficients; default 0). The caller's mistakes throw
// InvalidArgument; how the computation ended is the status.
Fit fit(const Problem& problem, const FitOptions& options = {}, const Vector* warm_start = nullptr,
        const Observer& observer = {});

struct PathState;

struct NextFits {
  std::vector<Fit> fits;  // at least one
  bool by_lookahead;      // solved by look-ahead, without epochs; the observer is called only now and then
};

// Fits one after the other on the same data, with one penalty after the other. Each starts where the last one
// ended, with all that is known by then: X'r, and what the solver has in memory.
class PathSolver {
 public:
  // The data, the ridge and whether coefficients may be negative are those of the problem; the weights come
  // with each fit.
  PathSolver(const Problem& problem, const FitOptions& options);
  ~PathSolver();

  void start_from(const Vector& beta);
  // `max_seconds` stands in for that of the options.
  Fit fit(const SortedL1& penalty, double max_seconds, const Observer& observer = {});
  // The fits of one or more of the next penalties: where the solver can look ahead, one reading of X
  // certifies several. Each penalty should be close to the one before, as on a path.
  NextFits fit_next(std::span<const SortedL1> penalties, double max_seconds, const Observer& observer = {});

 private:
  std::unique_ptr<PathState> state_;
};

}  // namespace tyto
