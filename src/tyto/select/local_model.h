#pragma once

#include "tyto/moments/moments.h"
#include "tyto/solve/fit.h"

namespace tyto {

// What is known of a loss near one model: its gradient there, and second derivatives of the working columns
// there or nearby. Columns are on the scale of the problem; c is the constant of centred columns.
struct LocalModel {
  const IndexSet& working;
  const CoMoments& curvature;  // of these columns, on the data's scale
  const Problem& problem;      // of all columns, with the penalty
  bool intercept;
};

struct LocalPoint {
  SparseBeta beta;
  double constant = 0;
  Vector gradient = {};  // X'r on the problem's scale, r without what the intercept makes up for
  double residual = 0;   // sum of r
};

struct LocalSolution {
  SparseBeta beta;  // of all columns
  double constant = 0;
};

// A step of Newton's method: the minimum of the quadratic model and the penalty over the working columns.
LocalSolution solve(const LocalModel& model, const LocalPoint& from, const FitOptions& options,
                    const SparseBeta& start);

LocalSolution part_of_the_way(const LocalPoint& from, const LocalSolution& to, double share);

// (1 - share) a + share b
CoMoments between(const CoMoments& a, const CoMoments& b, double share);

}  // namespace tyto
