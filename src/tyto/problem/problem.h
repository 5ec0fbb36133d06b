#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tyto/base/lazy.h"
#include "tyto/design/design.h"
#include "tyto/design/gram_cache.h"
#include "tyto/loss/loss.h"
#include "tyto/math/sorted_l1.h"
#include "tyto/problem/projection.h"

namespace tyto {

// X'r at b = 0, and J° of it for a penalty, of which that of a problem may be a multiple.
struct AtZero {
  Vector residual, correlation;  // r, X'r
  SortedL1 penalty;
  double dual_norm;
};

// minimise P(b) = loss(Xb) + ridge/2 ||b||^2 + J(b). The intercept and unpenalised columns are projected out
// of the design, and the loss is minimised over their coefficients: r is orthogonal to them. The ridge is p
// more rows, sqrt(ridge) I under X, which are not written down: below, X and r stand for all rows, eta = Xb
// for those of the data.
struct Problem {
  Design design;
  SharedLoss loss;  // a vector y here is squared error
  SortedL1 penalty;
  double ridge = 0;
  std::shared_ptr<const AtZero> at_zero = nullptr;  // where somebody has read it already
  // What was projected out of the design, if anything, and will be reported with the coefficients.
  std::shared_ptr<const Projection> projection = nullptr;
  std::shared_ptr<GramCache> gram_cache = nullptr;  // of the design, where products of its columns are kept
  // Of the columns, where the loss has norms of its own; found when screening first asks: see ball_norms().
  std::shared_ptr<Lazy<Vector>> column_norms = std::make_shared<Lazy<Vector>>();
};

// Throws InvalidArgument unless the sizes agree and all numbers, and the norms made of them, are finite.
void validate(const Problem& problem);
void validate(const Design& design, const Vector& response);  // the same without the penalty

using SparseBeta = Eigen::SparseVector<double, 0, Index>;  // coefficients, those that are not 0

struct Iterate {
  Vector beta, eta;         // invariant: eta == X beta
  Vector coordinates = {};  // those of the loss there (LossPoint), or of a point nearby; empty: not known
};
LossPoint loss_at(const Problem& problem, const Iterate& x);
// X'r from that of the rows of the data.
void add_ridge(const Problem& problem, const Vector& beta, Vector& correlation);
Vector norms(const Problem& problem);  // of the columns
// What a move of the dual point within its ball changes x_j'theta by, over the radius: ||x_j||, or the norms
// of the loss (MATH.md, section 14). Without the ridge.
const Vector& ball_norms(const Problem& problem);
Iterate make_iterate(const Problem& problem, Vector beta, const Work& work = Work());

// A proof of how good b is: P(b) - P(b*) <= gap. The dual point is theta = scale * r, with r minus the
// gradient of the loss by Xb: y - Xb, if that is squared error.
struct Certificate {
  double primal = 0, dual = 0, gap = 0;
  // What `gap` may be off by in floating point, up to the coefficients as they are reported: no tolerance
  // below it can be met.
  double rounding = 0;
  // Where the objective is 0, rounding up to this is as good as none.
  double negligible = 0;
  double scale = 0;
  double residual_norm = 0;
  double residual_magnitude = 0;  // what rounding errors of r are proportional to
  double curvature = 1;           // theta* is within sqrt(2 curvature gap) of theta
  double loss = 0;                // without ridge and penalty
  IndexSet support;               // the columns, of the problem at hand, where b is not 0

  double relative_gap() const { return primal > 0 ? gap / primal : gap; }
  // An objective of 0 is the least there is: then only the coefficients as they are reported round, and what
  // they leave of the response has to be too little to count.
  bool meets(double tolerance) const {
    if (!std::isfinite(primal) || !(gap >= -rounding)) return false;
    if (primal == 0) return rounding <= negligible;
    return std::max(gap, 0.0) + rounding <= tolerance * primal;
  }
};

// The duality gap on the problem at hand (MATH.md, section 2). One pass over X.
Certificate certify(const Problem& problem, const Iterate& x);
// The same where it is known of X'r what the gap depends on.
struct DualNormAt {
  double dual_norm;   // J°(X'r)
  IndexSet support;   // the columns where b is not 0
  Vector at_support;  // X'r there
  // The largest x_j'r, where X'r is known but not r (LossPoint::response_product).
  std::optional<double> largest_product = {};
};
Certificate certify(const Problem& problem, const Iterate& x, const LossPoint& at, DualNormAt known);
// The same without its rounding, which a solver need not know on its way.
Certificate certify_roughly(const Problem& problem, const Iterate& x, const LossPoint& at, DualNormAt known);
// X'r. One pass over X.
Vector correlation(const Problem& problem, const Iterate& x, const Work& work = Work());
Vector correlation(const Problem& problem, const Iterate& x, const LossPoint& at, const Work& work = Work());
DualNormAt evaluate_dual_norm(const Problem& problem, const Vector& correlation, IndexSet support);

// The problem on some of the columns, with the head of the weights: the same solution, if the columns left
// out are 0.
Problem restrict_to(const Problem& problem, std::span<const Index> columns);
Vector restrict_to(const Vector& v, std::span<const Index> columns);
Vector expand(Vector v, const Selection& columns, Index size);  // zeros elsewhere
// The entries at `places`, those that are not 0, in the columns that the places stand for.
SparseBeta sparse(const Vector& v, std::span<const Index> places, const Selection& columns, Index size);

Vector dense(const SparseBeta& v);  // with its zeros

AtZero at_zero(const Problem& problem, const Work& work = Work());  // one pass over X
// The smallest multiplier of the penalty whose solution is 0: J°(X'r) at b = 0.
double alpha_max(const Problem& problem);

}  // namespace tyto
