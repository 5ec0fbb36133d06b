#pragma once

#include "tyto/select/regression.h"

namespace tyto {

// Inner products of columns over all rows, computed once for all folds: those over the rows of a fold follow
// from the few rows that are held out (MATH.md, section 9).
class FoldProducts {
 public:
  explicit FoldProducts(const Regression& all_rows);

  // All rows, for the paths on them: where it pays, this keeps the products that they ask for.
  const Design& all_rows() const { return all_rows_; }
  void complete();  // after the last of those paths
  // The design of a fold, which knows its products. `held_out`: the rows left out, as they are stored.
  Design known_to(const Design& fold, const Design& held_out, const Vector& weights) const;

 private:
  Design all_rows_;
};

}  // namespace tyto
