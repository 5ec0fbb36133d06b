#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "tyto/problem/problem.h"

namespace tyto {

// An X of so few entries is read from a cache: sooner than its columns are ranked, or dropped.
inline bool in_cache(const Design& design) { return design.stored_entries() <= Index{1} << 20; }

// What J°(X'r) may depend on where it is at least `level` and v bounds X'r: of m columns that are left, those
// below `least` = level times w_m cannot raise it, which lowers m.
struct Contenders {
  IndexSet columns;
  double least;
};
Contenders contenders(const SortedL1& penalty, const Vector& v, double level);
// Those of them that have to be read for J°: the prefix that pays at that level.
IndexSet decisive(const SortedL1& penalty, const Vector& v, const Contenders& of, double level);

// X'r for a residual that moves, where columns are read only if they matter. Of a column that was not read
// since, |x_j'r| is at most what it was, plus ||x_j|| times the way that r has gone (MATH.md, section 3). The
// rows of a ridge come in only when it is settled: they are 0 for columns that are not in the model.
class Correlation {
 public:
  // Where only positive parts count, bounds are from above.
  Correlation(const Design& design, bool nonnegative);
  // Whether bounds are cheaper than X'r itself. It takes no memory before columns are read, or adopted; what
  // it knows of them may be asked for only then.
  bool pays() const { return !tiny_columns_; }

  void move_to(const Vector& r);
  void read(std::span<const Index> columns);  // those that are not exact
  // r moves to where X'r, without a ridge, is known: exactly for the columns `read`, for the others at a
  // distance of r.
  void adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance);
  void adopt(const Vector& y, const AtZero& at_zero);  // before anything else
  bool exact(Index column) const { return way_[column] == way_now_; }
  // Exact, or as large as it may be by now.
  double value(Index column) const {
    const double change = (way_now_ - way_[column]) * design_.norms()[column];
    return value_[column] + (nonnegative_ ? change : std::copysign(change, value_[column]));
  }

  // Reads what J°(X'r) and the gap at x depend on. `columns` are those of `problem` in the design.
  Settled settle(const Problem& problem, const Vector& beta, const Selection& columns);
  Vector values(const Selection& columns) const;

 private:
  void read_all();

  Design design_;
  Vector residual_;
  Vector value_, way_;  // when last read: x_j'r, and the way gone until then; -1: never
  double way_now_ = 0;
  bool nonnegative_, short_columns_, tiny_columns_;
  bool complete_ = false;  // every column has been read at least once
  bool fresh_ = false;     // and at this r
  // The last time that all columns were settled: where, for which penalty, and its J°.
  double settled_way_ = -1, settled_norm_ = 0;
  std::optional<SortedL1> settled_penalty_;
};

}  // namespace tyto
