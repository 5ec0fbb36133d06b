#pragma once

#include <memory>

#include "tyto/select/regression.h"

namespace tyto {

// Inner products of columns over all rows, computed once for all folds: those over the rows of a fold follow
// from the few rows that are held out (MATH.md, section 9).
class FoldProducts {
 public:
  explicit FoldProducts(const Regression& all_rows);

  // For the paths on all rows: where it pays, the products that they ask for are kept here; else null.
  const std::shared_ptr<GramCache>& cache() const { return cache_; }
  void complete(const Work& work = Work());  // after the last of those paths
  // The products of the design of a fold, as far as they are known; null where none is. `held_out`: the rows
  // left out, as they are stored.
  std::shared_ptr<GramCache> known_to(const Design& fold, const Design& held_out,
                                      const Vector& weights) const;

 private:
  Design all_rows_;
  std::shared_ptr<GramCache> cache_;
};

}  // namespace tyto
