#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/select/folds.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/select/score.h"

namespace tyto {

struct CvOptions {
  Index folds = 10, repeats = 1;  // repeats: each with folds of its own
  std::uint64_t seed = 1;         // of the folds
  Folds given = {};               // the folds themselves, if not empty; then once
  ErrorMeasure error = ErrorMeasure::kAuto;
  PathOptions path = {};        // the grid; rules that end it look at the path on all rows
  std::vector<double> qs = {};  // parameters of bh or gaussian to choose from; empty: that of the regression
  std::vector<double> slopes = {};  // the same for oscar
  std::vector<double> gammas = {};  // how far to relax, to choose from; empty: not at all
};
void validate(const CvOptions& options);

// One fold along the grid: its errors, and its certificates.
struct FoldScore {
  Index shape = 0, repeat = 0, fold = 0;  // which: shape counts the qs, or the slopes
  Index rows = 0;                         // held out
  double weight = 0;                      // of those rows
  std::vector<double> errors;             // for each gamma, for each strength
  // For each strength.
  std::vector<double> relative_gaps;  // with their rounding
  std::vector<Status> statuses;
  double passes = 0;  // in units of the whole matrix
};

// The errors along a grid, relaxed by gamma.
struct CvErrors {
  double gamma = 1;
  std::vector<double> error = {}, standard_error = {};
};

// One shape of the weights.
struct CvCurve {
  double q = 0, slope = 0;
  Regression regression;  // of all rows
  Path path;              // the fits on all rows; the errors below are for its steps
  double gamma = 1;       // the best for this shape, and its errors
  std::vector<double> error = {}, standard_error = {};
  std::vector<CvErrors> by_gamma = {};  // all

  std::vector<double> errors_of(const FoldScore& score) const;  // those of its gamma
};

struct CrossValidation {
  ErrorMeasure measure = ErrorMeasure::kMse;
  Index folds = 0, repeats = 0;
  std::vector<CvCurve> curves;    // one for each q, or each slope
  std::vector<FoldScore> scores;  // those that were finished, by shape, repeat and fold
  // The choice: a curve, at its gamma, and two of its steps, best <= 1-SE in strength. Not there before all
  // folds are.
  Index chosen_curve = -1, best = -1, one_se = -1;
  PathStop stopped_by = PathStop::kNone;  // kInterrupted or kMaxSeconds where folds are missing
  double passes = 0, seconds = 0, cpu_seconds = 0;

  bool complete() const { return best >= 0; }
  bool converged() const;    // every fit of it
  double worst_gap() const;  // the largest relative gap of a fold's fit, with its rounding
  const CvCurve& chosen() const { return curves.at(static_cast<std::size_t>(chosen_curve)); }
};

// A parameter that was chosen together with the strength: its values, and the best mean error of each.
struct Comparison {
  std::string name;  // "q", "slope" or "gamma"
  std::vector<double> values, errors;
  double chosen;
};
// One for each parameter that had several values; gammas are compared on the curve that was chosen.
std::vector<Comparison> comparisons(const CrossValidation& cv);

struct CvProgress {
  Index done, folds;    // folds, of all repeats and shapes
  double seconds;       // so far
  double seconds_left;  // a guess; negative while there is none
};

// One fold's models, on the data's own scale.
struct FoldModels {
  IndexSet held_out;              // rows
  std::vector<DataScale> models;  // for each gamma, for each strength
};

struct CvHooks {
  std::vector<FoldScore> finished = {};                      // by an earlier run of the same
  std::function<bool(const CvProgress&)> progress = {};      // return false to stop
  std::function<void(const FoldScore&)> fold_finished = {};  // calls do not overlap
  // The errors of each model, the smaller the better, in place of the error measure; called on any thread.
  std::function<std::vector<double>(const FoldModels&)> score = {};
};

// Fits the path on all rows, then, along the same grid, on the training rows of every fold, and scores each
// fit on the rows held out. Columns are centred and scaled by the training rows alone. The multiplier of a
// fold, and its ridge, is its share of the rows' weight times that of all (MATH.md, section 9). Folds run
// side by side on options.threads threads; no number depends on how many. Rows held out have weight 0, so
// that X is not copied. options.max_seconds is for all of it.
CrossValidation cross_validate(const Design& raw, const Vector& response, const RegressionOptions& regression,
                               const CvOptions& cv = {}, const FitOptions& options = {},
                               const CvHooks& hooks = {});

// Where the error is best (of several, the strongest penalty), and the strongest penalty whose error is
// within one standard error of it. Strengths fall.
struct CvChoice {
  Index best, one_se;
};
CvChoice choose(const std::vector<double>& error, const std::vector<double>& standard_error,
                ErrorMeasure measure);

}  // namespace tyto
