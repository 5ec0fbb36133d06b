#pragma once

#include <optional>

#include "tyto/base/selection.h"
#include "tyto/problem/gradient_bounds/contenders.h"
#include "tyto/problem/problem.h"

namespace tyto {

// What is known of X'r, minus the gradient of the loss, for a residual r that moves. J°(X'r), which every
// duality gap needs, comes from here. A strategy either reads all of X'r (eager.h) or only the columns that
// matter, with bounds for the others (drift.h); subspace.h does the same for several residuals at once.
// `columns` are those of `problem` in the design that the object was made for. The rows of a ridge are added
// here: they are not part of r.
class GradientBounds {
 public:
  virtual ~GradientBounds() = default;

  virtual void move_to(const Vector& r) = 0;
  // Reads what J°(X'r) and the gap at beta depend on. r must be the residual there.
  virtual DualNormAt evaluate_dual_norm(const Problem& problem, const Vector& beta, IndexSet support,
                                        const Selection& columns) = 0;
  // At the point of the last evaluation, for the same columns: X'r, or bounds of it.
  virtual const Vector& values(const Problem& problem, const Vector& beta, const Selection& columns) = 0;
  // Whether the value of a column of the design is x_j'r itself.
  virtual bool exact(Index column) const = 0;
  // At the point of the last evaluation, if that found them: all columns that J° depends on where it is at
  // least a level a little below what it is. Empty if it did not.
  virtual const Contenders& contenders() const = 0;
};

// J° of all columns where it was evaluated last. It holds for every multiple of its penalty.
class DualNormMemo {
 public:
  void forget() { penalty_.reset(); }
  void remember(const SortedL1& penalty, double dual_norm) {
    penalty_ = penalty;
    dual_norm_ = dual_norm;
  }
  // Nothing if it is not known. With a ridge, X'r changes with beta where r does not.
  std::optional<double> recall(const Problem& problem) const {
    if (!penalty_ || problem.ridge > 0) return std::nullopt;
    return problem.penalty.dual_norm_from(*penalty_, dual_norm_);
  }

 private:
  std::optional<SortedL1> penalty_;
  double dual_norm_ = 0;
};

}  // namespace tyto
