#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tyto/design/design.h"
#include "tyto/design/gram_cache.h"
#include "tyto/math/sorted_l1.h"
#include "tyto/problem/projection.h"

namespace tyto {

// X'y, and J° of it for a penalty, of which that of a problem may be a multiple.
struct AtZero {
  Vector correlation;
  SortedL1 penalty;
  double dual_norm;
};

// minimise P(b) = 1/2 ||y - Xb||^2 + ridge/2 ||b||^2 + J(b). An intercept is a centred design and a centred
// y: theta then sums to 0. The ridge is p more rows, sqrt(ridge) I under X and 0 under y, which are not
// written down: below, X, y and r stand for all rows, eta for those of the data.
struct Problem {
  Design design;
  Vector y;
  SortedL1 penalty;
  double ridge = 0;
  std::shared_ptr<const AtZero> at_zero = nullptr;  // where somebody has read it already
  // What was projected out of design and y, if anything, and will be reported with the coefficients.
  std::shared_ptr<const Projection> projection = nullptr;
  std::shared_ptr<GramCache> gram_cache = nullptr;  // of the design, where products of its columns are kept
};

// Throws InvalidArgument unless the sizes agree and all numbers, and the norms made of them, are finite.
void validate(const Problem& problem);
void validate(const Design& design, const Vector& y);  // the same without the penalty

using SparseBeta = Eigen::SparseVector<double, 0, Index>;  // coefficients, those that are not 0

struct Iterate {
  Vector beta, eta;  // invariant: eta == X beta
};
// X'r from that of the rows of the data.
void add_ridge(const Problem& problem, const Vector& beta, Vector& correlation);
Vector norms(const Problem& problem);  // of the columns
Iterate make_iterate(const Problem& problem, Vector beta, const Work& work = Work());

// A proof of how good b is: P(b) - P(b*) <= gap. The dual point is theta = scale * r with r = y - Xb.
struct Certificate {
  double primal = 0, dual = 0, gap = 0;
  // What `gap` may be off by in floating point, up to the coefficients as they are reported: no tolerance
  // below it can be met.
  double rounding = 0;
  double scale = 0;
  double residual_norm = 0;
  IndexSet support;  // the columns, of the problem at hand, where b is not 0

  double relative_gap() const { return primal > 0 ? gap / primal : gap; }
  // An objective of 0 is the least there is: then only the coefficients as they are reported round.
  bool meets(double tolerance) const {
    if (!std::isfinite(primal) || !(gap >= -rounding)) return false;
    return primal == 0 || std::max(gap, 0.0) + rounding <= tolerance * primal;
  }
};

// The duality gap on the problem at hand (MATH.md, section 2). One pass over X.
Certificate certify(const Problem& problem, const Iterate& x);
// The same where it is known of X'r what the gap depends on.
struct Settled {
  double dual_norm;   // J°(X'r)
  IndexSet support;   // the columns where b is not 0
  Vector at_support;  // X'r there
};
Certificate certify(const Problem& problem, const Iterate& x, Settled known);
// X'r. One pass over X.
Vector correlation(const Problem& problem, const Iterate& x, const Work& work = Work());
Settled settle(const Problem& problem, const Vector& correlation, IndexSet support);

// The gap's formula (2.6): rr = ||r||^2, ry = r'y, norm = J(b), product = b'X'r, bound = J°(X'r).
struct Gap {
  double scale, gap;
};
Gap duality_gap(double rr, double ry, double norm, double product, double bound, bool nonnegative);

// The problem on some of the columns, with the head of the weights: the same solution, if the columns left
// out are 0.
Problem restrict_to(const Problem& problem, std::span<const Index> columns);
Vector restrict_to(const Vector& v, std::span<const Index> columns);
Vector expand(Vector v, const Selection& columns, Index size);  // zeros elsewhere
// The entries at `places`, those that are not 0, in the columns that the places stand for.
SparseBeta sparse(const Vector& v, std::span<const Index> places, const Selection& columns, Index size);

Vector dense(const SparseBeta& v);  // with its zeros

AtZero at_zero(const Problem& problem, const Work& work = Work());  // one pass over X
// The smallest multiplier of the penalty whose solution is 0: J°(X'y).
double alpha_max(const Problem& problem);

}  // namespace tyto
