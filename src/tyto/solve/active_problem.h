#pragma once

#include <limits>
#include <span>

#include "tyto/base/selection.h"
#include "tyto/math/entries.h"
#include "tyto/problem/problem.h"

namespace tyto {

// What screening left of a problem, the point at hand, and the best point so far.
struct ActiveProblem {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Problem problem;
  Iterate x;
  IndexSet support;   // of x, in the problem
  Selection columns;  // those of the problem in the full one
  SparseBeta best;    // the best point, in the full problem
  double best_gap = kInfinity, least_primal = kInfinity;
  Index progress_epoch = 0;  // the last one in which the gap or the objective was the least so far

  void record(const Certificate& c, Index epoch) {
    if (c.gap < best_gap) {
      best = sparse(x.beta, c.support, columns, best.size());
      best_gap = c.gap;
      progress_epoch = epoch;
    }
    if (c.primal + c.rounding < least_primal) {
      least_primal = c.primal;
      progress_epoch = epoch;
    }
  }
  // Keeps some of the columns; true if a non-zero coefficient left, so that x is another point.
  bool restrict_to(std::span<const Index> survivors, const Work& work) {
    const std::size_t before = support.size();
    x.beta = tyto::restrict_to(x.beta, survivors);
    support = nonzero_entries(x.beta);
    problem = tyto::restrict_to(problem, survivors);
    columns = columns.at(survivors);
    for (SparseBeta::InnerIterator it(best); it; ++it) {
      if (columns.find(it.index()) >= 0) continue;
      it.valueRef() = 0;
      best_gap = kInfinity;
    }
    if (support.size() == before) return false;
    problem.design.multiply(x.beta, x.eta, work);
    return true;
  }
};

}  // namespace tyto
