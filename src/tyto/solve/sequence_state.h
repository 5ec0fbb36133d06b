#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "tyto/problem/correlation.h"
#include "tyto/problem/correlation_span.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

namespace tyto {

// Where a sequence of fits is, between two of them.
struct Point {
  SparseBeta beta;
  Vector eta;

  Point() = default;
  explicit Point(const Problem& problem) : beta(problem.design.cols()), eta(Vector::Zero(problem.y.size())) {}
  IndexSet support() const { return {beta.innerIndexPtr(), beta.innerIndexPtr() + beta.nonZeros()}; }
  void move_to(const Iterate& x, std::span<const Index> support) {
    beta = sparse(x.beta, support, Selection::first(x.beta.size()), x.beta.size());
    eta = x.eta;
  }
};

// X'r of all columns of a problem at a point, and J° of it for a penalty. The point is remembered, so that
// the same one is not read again.
struct FullPass {
  std::shared_ptr<const Vector> correlation = nullptr;
  SortedL1 penalty = {};
  double dual_norm = 0;
  Point at = {};

  bool holds(const Iterate& x, const IndexSet& support) const {
    return correlation && correlation->size() == x.beta.size() && at.eta == x.eta &&
           at.support() == support &&
           Vector::Map(at.beta.valuePtr(), at.beta.nonZeros()) == restrict_to(x.beta, support);
  }
};

struct Sequence::State {
  std::unique_ptr<const Work> work;  // of all fits
  Design design;
  Vector y;
  double ridge;
  bool nonnegative;
  FitOptions options;
  std::unique_ptr<Solver> solver;
  Point x;
  Selection all;  // columns
  Correlation correlation;
  CorrelationSpan span;  // for several at once
  Index entries;
  Index ahead = options.tuning.lookahead.ahead;  // fits that are tried at once
  std::shared_ptr<const Projection> projection = nullptr;
  std::shared_ptr<GramCache> gram_cache = nullptr;
  // X'y that came with the problem. It counts as a pass when it is first used.
  std::shared_ptr<const AtZero> at_zero = nullptr;
  FullPass pass = {};  // the last one, where all columns are read
  bool on_path = false;
  TracePoint last = {};  // of the last answer

  // Whether columns of X'r are read only where they matter.
  bool lazy() const { return solver->takes_bounds() && correlation.pays(); }
  // The certificate at a point. It takes one pass over the columns of the problem, or less where bounds will
  // do. `kept`: the columns of the problem in `design`.
  Certificate assess(const Problem& problem, const Iterate& at, IndexSet support, const Selection& kept) {
    const std::shared_ptr<const AtZero> known = std::exchange(at_zero, nullptr);
    if (lazy()) {  // `correlation` has adopted X'y, if it is known
      if (known) work->count(entries);
      correlation.move_to(y - at.eta);
      return certify(problem, at, correlation.settle(problem, at.beta, std::move(support), kept));
    }
    const bool whole = problem.design.cols() == design.cols();
    if (known && support.empty() && whole) {
      work->count(entries);
      pass = {{known, &known->correlation}, known->penalty, known->dual_norm, Point(problem)};
    }
    if (!whole || !pass.holds(at, support)) {  // it holds where the last fit ended
      pass = {};
      pass.correlation = std::make_shared<const Vector>(tyto::correlation(problem, at, *work));
      pass.at.move_to(at, support);
    } else if (const auto known_norm = problem.penalty.dual_norm_from(pass.penalty, pass.dual_norm);
               known_norm && problem.ridge == 0) {
      Vector at_support = restrict_to(*pass.correlation, support);
      return certify(problem, at, {*known_norm, std::move(support), std::move(at_support)});
    }
    Settled settled = settle(problem, *pass.correlation, std::move(support));
    pass.penalty = problem.penalty;
    pass.dual_norm = settled.dual_norm;
    return certify(problem, at, std::move(settled));
  }
  // X'r at the point that was assessed last, or bounds of it.
  const Vector& ascent(const Problem& problem, const Iterate& at, const Selection& kept) {
    return lazy() ? correlation.values(problem, at.beta, kept) : *pass.correlation;
  }
  // How many columns of the full problem the rule keeps by the certificate of the point that was assessed
  // last. In most first fits the contenders are enough to tell.
  Index columns_left(const ScreeningRule& rule, const Problem& full, const Iterate& at,
                     const Certificate& c) {
    if (!rule.safe || !rule.screens) return full.design.cols();
    const Contenders& few = correlation.contenders();
    if (lazy() && !few.columns.empty() && drops(full, c, few.level))
      return tyto::columns_left(rule, restrict_to(full, few.columns), c, few.bounds,
                                options.tuning.screening);
    return tyto::columns_left(rule, full, c, ascent(full, at, all), options.tuning.screening);
  }
  double passes_since(Index entries_read) const {
    return static_cast<double>(work->entries_read() - entries_read) /
           static_cast<double>(std::max<Index>(entries, 1));
  }
  void check(const SortedL1& penalty) const;
  Problem problem(const SortedL1& penalty) const {
    check(penalty);
    return {design, y, penalty, ridge, nullptr, projection, gram_cache};
  }

  // Looking ahead (foreseen.cc).
  // Whether X is so small that the solver takes all of its columns at once: a path wants most of them.
  bool takes_all() const;
  Index furthest() const;  // how many fits are tried at once, where none was refused
  // Whether columns that the solver does not have seem to make a point infeasible that it has foreseen. The
  // first of the next penalties is that of the point.
  bool outgrown(std::span<const SortedL1> next, const Vector& beta) const;
  // Tells the solver which columns the next penalties will want, from X'r at a point; true if it lacks some.
  bool expect(std::span<const SortedL1> next, const Vector& beta, const Vector& ascent) const;
  // The solver takes in the columns it was told of, at the point of the last certificate.
  void extend(const Problem& problem);
};

}  // namespace tyto
