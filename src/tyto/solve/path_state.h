#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tyto/problem/gradient_bounds/drift.h"
#include "tyto/problem/gradient_bounds/eager.h"
#include "tyto/problem/gradient_bounds/subspace.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"
#include "tyto/solve/watch.h"

namespace tyto {

// Where a path is, between two fits.
struct PathPoint {
  SparseBeta beta;
  Vector eta;
  Vector coordinates;  // of the loss there

  explicit PathPoint(const Problem& problem)
      : beta(problem.design.cols()), eta(Vector::Zero(problem.design.rows())) {}
  IndexSet support() const { return {beta.innerIndexPtr(), beta.innerIndexPtr() + beta.nonZeros()}; }
  void move_to(const Iterate& x, std::span<const Index> support) {
    beta = sparse(x.beta, support, Selection::first(x.beta.size()), x.beta.size());
    eta = x.eta;
    coordinates = x.coordinates;
  }
};

// What a PathSolver carries from one fit to the next.
struct PathState {
  PathState(const Problem& problem, const FitOptions& options);

  Problem data;  // without a penalty, which comes with each fit
  bool nonnegative;
  FitOptions options;
  Work work;  // of all fits
  std::unique_ptr<Solver> solver;
  PathPoint x;
  Selection all;  // columns
  EagerBounds eager;
  DriftBounds drift;
  bool drift_pays;
  SubspaceBounds subspace;      // for several points at once
  Index ahead;                  // fits that are tried at once
  bool on_path = false;         // several penalties have been given at once
  TracePoint last = {};         // of the last answer
  Index entries;                // of X
  Index entries_accounted = 0;  // those that were read for the fits that are done

  void check(const SortedL1& penalty) const;  // throws InvalidArgument if it does not fit
  Problem problem(const SortedL1& penalty) const;
  SolverTraits traits() const { return solver->traits(options.tuning.loop); }
  // What is known of X'r: bounds where they pay and the solver takes them.
  GradientBounds& gradient() {
    if (drift_pays && traits().takes_bounds) return drift;
    return eager;
  }
  // The certificate at a point of a problem with these columns. It takes one pass over them, or less where
  // bounds will do. Sets the coordinates of the loss at the point.
  Certificate certify(const Problem& problem, Iterate& at, IndexSet support, const Selection& columns);
  // How many columns of the full problem the rule keeps by the certificate of the point that was certified
  // last.
  Index columns_left(const ScreeningRule& rule, const Problem& full, const Iterate& at, const Certificate& c);
  double passes(Index entries_read) const;
  double take_passes();  // those that no fit has accounted for

  // Goes on to penalties without reading X, but for columns that the solver takes in, as far as it can. Then
  // one pass certifies all of these points; those up to the first that misses the tolerance are answers.
  std::vector<Fit> look_ahead(std::span<const SortedL1> penalties, Watch& watch);
  // Whether X is so small that the solver takes all of its columns at once: a path wants most of them.
  bool takes_all() const;
  // Whether look-ahead may pay at all.
  bool may_look_ahead() const {
    const Design& design = data.design;
    return data.loss->is_quadratic() && !design.is_sparse() && design.rows() > design.cols();
  }
};

// A fit with its solution and certificate, and the pattern of the solution.
Fit make_fit(Status status, Iterate solution, Certificate certificate);

}  // namespace tyto
