#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/problem/problem.h"

namespace tyto {

// Whether X has so few entries that it stays in the processor's cache: to read it is less work than to rank
// its columns, or to drop some.
inline bool in_cache(const Design& design, const Tuning::Reading& tuning) {
  return design.stored_entries() <= tuning.cache_entries;
}

// The columns that J°(X'r) may depend on where it is at least `level`: of m columns that are left, those with
// |x_j'r| below `least` = level times w_m cannot raise it; dropping them lowers m.
struct Contenders {
  IndexSet columns;
  Vector bounds;  // of X'r in these columns
  double least = 0, level = 0;
};
// From bounds v of X'r. Nothing, if the contenders are more than `most`.
std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most,
                                     const Tuning::Reading& tuning = {});
// Those of them that have to be read to know J°: the prefix that pays at that level.
IndexSet decisive(const SortedL1& penalty, const Contenders& of, double level);

// X'r for a residual that moves, where columns are read only if they matter. Of a column that was not read
// since, |x_j'r| is at most a factor times what it was, plus ||x_j|| times the distance that r has moved
// (3.2). The rows of a ridge are added by settle() and values(): they are 0 for columns outside the model.
class Correlation {
 public:
  // Where only positive parts count, bounds are from above. What is read is counted by `work`, which must
  // outlive this object.
  Correlation(const Design& design, bool nonnegative, const Work& work, const Tuning::Reading& tuning = {});
  Correlation(const Design&, bool, const Work&&, const Tuning::Reading& = {}) = delete;
  // Whether bounds are cheaper than X'r itself. This object takes no memory of length p before columns are
  // read or adopted. What it knows of them may be asked for only after that.
  bool pays() const { return !tiny_columns_; }

  void move_to(const Vector& r);
  void read(std::span<const Index> columns);  // in order; those that are exact already are not read again
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
  // At the point that was settled last, in the columns of the problem: the contenders at a level a little
  // below J°. Empty unless they were found from X'y alone, as in most first fits.
  const Contenders& contenders() const { return contenders_; }

 private:
  void drift_by(double distance);
  void forget();
  void rescale();     // makes the factor 1; stored values are not changed
  void leave_zero();  // copies X'y into a value and a drift for each column
  void read_all();
  void note(std::span<const Index> columns, const Vector& values);  // read while X'y stands for the others
  // Of a column whose value, over the factor, was `value` when the drift was `then`.
  double bound(Index column, double value, double then) const {
    const double change = (drift_ - then) * design_.norms()[column];
    return factor_ * (value + (nonnegative_ ? change : std::copysign(change, value)));
  }
  Vector bounds(const Selection& columns) const;

  Index most_read() const { return share_of(tuning_.all_share, design_.cols()); }
  void read_places(const IndexSet& places, const Selection& columns);
  std::optional<Contenders> contenders_near_zero(const SortedL1& penalty, double level) const;
  bool most_matter(const SortedL1& penalty, const Selection& columns, double level) const;
  void update(const SortedL1& penalty, Contenders& of) const;
  double dual_norm(const Problem& problem, const Vector& beta, const Selection& columns, double level);

  Design design_;
  const Work* work_;
  Tuning::Reading tuning_;
  Vector residual_;
  // As long as r has left y for one other point only, X'y stands for all columns but those that were read
  // there, in order: a fit that ends there needs no vector of length p of its own.
  std::shared_ptr<const AtZero> at_zero_;
  struct Read {
    Index column;
    double value;
  };
  std::vector<Read> read_;
  // After that, by column: x_j'r over the factor when it was last read, and the drift then; -1: never read.
  Vector value_, read_at_;
  double drift_ = 0, factor_ = 1;  // D and F of MATH.md, section 3
  bool nonnegative_, short_columns_, tiny_columns_;
  bool complete_ = false;  // every column has been read at least once
  bool fresh_ = false;     // every column is exact at this r
  Contenders contenders_;
  Vector bounds_;         // of the columns that were settled last,
  bool bounded_ = false;  // if this is true
  // The last time that all columns were settled: the drift then, J°, and the penalty it belongs to.
  double settled_at_ = -1, settled_norm_ = 0;
  std::optional<SortedL1> settled_penalty_;
};

}  // namespace tyto
