#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tyto/select/regression.h"
#include "tyto/select/relax.h"
#include "tyto/solve/fit.h"

namespace tyto {

struct PathOptions {
  Index steps = 100;
  double ratio = 0;  // the last strength as a fraction of the first; 0: 0.01 where p >= n, else 0.0001
  // Rules that end the path early, after the first strength whose model
  std::optional<double> max_explained = {};  // explains at least this fraction,
  std::optional<double> min_change = {};     // adds less than this to what a non-empty one before explained,
  std::optional<Index> max_nonzeros = {};    // has so many coefficients that are not 0,
  std::optional<Index> max_clusters = {};    // or so many clusters.
  std::vector<double> alphas = {};           // the strengths themselves, the largest first, if not empty
};
void validate(const PathOptions& options);

enum class PathStop {
  kNone,  // all strengths are there
  kMaxExplained,
  kMinChange,
  kMaxNonzeros,
  kMaxClusters,
  kMaxSeconds,
  kInterrupted,  // the observer said stop
};
std::string_view name(PathStop stop);

// One strength of a path. A path has many, so no vector of length n or p is kept.
struct PathStep {
  double alpha = 0;
  Fit fit = {};             // its solution and support are empty
  SparseBeta beta = {};     // on the problem's scale
  Vector coordinates = {};  // of the loss: see Iterate
  // Of what predicts: the root of the deviance, which is twice the loss (||y - Xb||, if that is squared
  // error); and the share of the deviance at b = 0 that the model explains, or 0 where that is 0.
  double residual_norm = 0, explained = 0;
  Index clusters = 0;
  std::optional<Relaxation> relaxation = {};

  Index nonzeros() const { return beta.nonZeros(); }
  SparseBeta predicting() const;  // the coefficients that predict: beta, or relaxed as far as asked for
  Fit expanded() const;           // the fit with its support, and beta at full length
};

struct Path {
  std::vector<double> alphas;       // all that were asked for
  double alpha_max = 0, ratio = 0;  // that they were made from
  std::vector<PathStep> steps;      // those that were fitted, at least the first; the last may be unfinished
  PathStop stopped_by = PathStop::kNone;
  double passes = 0;  // how often X was read, in units of the whole matrix
  double seconds = 0, cpu_seconds = 0;

  bool converged() const;  // all of the steps, and neither time nor patience ran out
};

struct PathProgress {
  Index step, steps;
  double alpha;
  double seconds;  // of the whole path
  TracePoint point;
};
// Called once an epoch; return false to stop.
using PathObserver = std::function<bool(const PathProgress&)>;

// The rule that ends a path after the last of these steps, or kNone.
PathStop rule_fired(const PathOptions& rules, const std::vector<PathStep>& steps);

double deviance_root(const Problem& problem, const Certificate& c);
double null_deviance_root(const Problem& problem);  // at b = 0
double explained(double residual_norm, double null_norm);

double resolved_ratio(const PathOptions& options, Index n, Index p);  // with 0 replaced

// Those of the options, or alpha_max ratio^(k / (steps - 1)), k = 0, ..., steps - 1. Where alpha_max is 0
// every solution is 0, and one strength, 1, is enough.
std::vector<double> alpha_grid(double alpha_max, Index n, Index p, const PathOptions& options);

// Fits alpha * J for each alpha, where J is the penalty of `unit`, each from the solution before it. alphas:
// > 0, the largest first. options.max_seconds is for all of them. A strength that misses the tolerance does
// not end the path: each has its status.
Path fit_path(const Problem& unit, const std::vector<double>& alphas, const PathOptions& rules = {},
              const FitOptions& options = {}, const PathObserver& observer = {});
// The same along the grid that starts at the regression's alpha_max; its alpha does not matter.
Path fit_path(const Regression& regression, const PathOptions& rules = {}, const FitOptions& options = {},
              const PathObserver& observer = {});

// Relaxes each step, after it was fitted: certificates stay those of the penalised fits.
void relax(const Regression& regression, double gamma, Path& path, const Work& work = Work());

}  // namespace tyto
