#pragma once

#include <span>
#include <vector>

#include "tyto/problem/problem.h"

namespace tyto {

// X'r for a residual that moves, where columns are read only if they matter. Of a column that was not read
// since, |x_j'r| is at most what it was, plus ||x_j|| times the way that r has gone (MATH.md, section 3).
class Correlation {
 public:
  explicit Correlation(const Design& design);

  void move_to(const Vector& r);
  void read(std::span<const Index> columns);  // those that are not exact
  bool exact(Index column) const { return way_[column] == way_now_; }
  // Signed and exact, or a bound of the magnitude.
  double value(Index column) const {
    return exact(column) ? value_[column]
                         : std::abs(value_[column]) + (way_now_ - way_[column]) * norm_[column];
  }

  // Reads what J°(X'r) and the gap at x depend on. `columns` are those of `problem` in the design.
  void settle(const Problem& problem, const Vector& beta, std::span<const Index> columns);
  Vector values(std::span<const Index> columns) const;

 private:
  Design design_;
  Vector residual_, norm_;
  Vector value_, way_;  // when last read: x_j'r, and the way gone until then; -1: never
  double way_now_ = 0;
  bool complete_ = false;  // every column has been read at least once
};

}  // namespace tyto
