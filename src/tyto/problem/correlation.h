#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tyto/problem/problem.h"

namespace tyto {

// An X of so few entries is read from a cache: sooner than its columns are ranked, or dropped.
inline bool in_cache(const Design& design) { return design.stored_entries() <= Index{1} << 20; }

// What J°(X'r) may depend on where it is at least `level`: of m columns that are left, those with |x_j'r|
// below `least` = level times w_m cannot raise it, which lowers m.
struct Contenders {
  IndexSet columns;
  Vector bounds;  // of X'r there
  double least = 0, level = 0;
};
// Where v bounds X'r. Nothing, if they are more than `most`.
std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most);
// Those of them that have to be read for J°: the prefix that pays at that level.
IndexSet decisive(const SortedL1& penalty, const Contenders& of, double level);

// X'r for a residual that moves, where columns are read only if they matter. Of a column that was not read
// since, |x_j'r| is at most a factor times what it was, plus ||x_j|| times the way that r has gone (3.2). The
// rows of a ridge come in only when it is settled: they are 0 for columns that are not in the model.
class Correlation {
 public:
  // Where only positive parts count, bounds are from above. What is read counts as work, which must outlive
  // it.
  Correlation(const Design& design, bool nonnegative, const Work& work);
  Correlation(const Design&, bool, const Work&&) = delete;
  // Whether bounds are cheaper than X'r itself. It takes no memory before columns are read, or adopted; what
  // it knows of them may be asked for only then.
  bool pays() const { return !tiny_columns_; }

  void move_to(const Vector& r);
  void read(std::span<const Index> columns);  // those, in order, that are not exact
  // r moves to where X'r, without a ridge, is known: exactly for the columns `read`, for the others at a
  // distance of r.
  void adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance);
  void adopt(const Vector& y, std::shared_ptr<const AtZero> at_zero);  // before anything else
  bool exact(Index column) const;
  double value(Index column) const;  // exact, or as large as it may be by now

  // Reads what J°(X'r) and the gap at x depend on. `columns` are those of `problem` in the design.
  Settled settle(const Problem& problem, const Vector& beta, IndexSet support, const Selection& columns);
  // At the point that was settled last: X'r of the same columns, or bounds of it.
  const Vector& values(const Problem& problem, const Vector& beta, const Selection& columns);
  // There, of the columns of the problem: those that count, and a few more. Mostly none but in the first fit,
  // as long as X'y is all that is needed.
  const Contenders& contenders() const { return contenders_; }

 private:
  void go(double distance);
  void forget();
  void start_over();  // with the factor 1, where all values are new
  void spread();      // from X'y to a value and a way for each column
  void read_all();
  void note(std::span<const Index> columns, const Vector& values);  // what was read near X'y
  double bound(Index column, double value, double way) const {      // from what it was then
    const double change = (way_now_ - way) * design_.norms()[column];
    return factor_ * (value + (nonnegative_ ? change : std::copysign(change, value)));
  }
  Vector bounds(const Selection& columns) const;

  Index most_read() const { return 3 * design_.cols() / 4; }  // more than that: all are sooner read
  void read_places(const IndexSet& places, const Selection& columns);
  std::optional<Contenders> contenders_near_zero(const SortedL1& penalty, double level) const;
  bool most_matter(const SortedL1& penalty, const Selection& columns, double level) const;
  void update(const SortedL1& penalty, Contenders& of) const;
  double dual_norm(const Problem& problem, const Vector& beta, const Selection& columns, double level);

  Design design_;
  const Work* work_;
  Vector residual_;
  // Until r leaves the point after y for another one, X'y stands for all columns but those that were read
  // there, in order: a fit that ends there needs no vector of length p of its own.
  std::shared_ptr<const AtZero> at_zero_;
  struct Read {
    Index column;
    double value;
  };
  std::vector<Read> since_;
  // After that: x_j'r over the factor, when it was last read, and the way gone until then; -1: never.
  Vector value_, way_;
  double way_now_ = 0, factor_ = 1;
  bool nonnegative_, short_columns_, tiny_columns_;
  bool complete_ = false;  // every column has been read at least once
  bool fresh_ = false;     // and at this r
  Contenders contenders_;
  Vector bounds_;         // of the columns that were settled last,
  bool bounded_ = false;  // if this is true
  // The last time that all columns were settled: where, for which penalty, and its J°.
  double settled_way_ = -1, settled_norm_ = 0;
  std::optional<SortedL1> settled_penalty_;
};

}  // namespace tyto
