#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/problem/gradient_bounds/gradient_bounds.h"

namespace tyto {

// Whether X has so few entries that it stays in the processor's cache: to read it is less work than to rank
// its columns, or to drop some.
inline bool in_cache(const Design& design, const Tuning::Reading& tuning) {
  return design.stored_entries() <= tuning.cache_entries;
}

// Columns of X'r are read only if they matter. Of a column that was not read since, |x_j'r| is at most a
// factor times what it was, plus ||x_j|| times the distance that r has moved (3.2).
class DriftBounds final : public GradientBounds {
 public:
  // What is read is counted by `work`, which must outlive this object. Where the problem knows X'r at b = 0,
  // r starts there. Where only positive parts count, bounds are from above.
  DriftBounds(const Problem& problem, const Work& work, const Tuning::Reading& tuning = {});
  DriftBounds(const Problem&, const Work&&, const Tuning::Reading& = {}) = delete;
  // Whether bounds are cheaper than X'r itself.
  static bool pays(const Design& design, const Tuning::Reading& tuning);

  void move_to(const Vector& r) override;
  DualNormAt evaluate_dual_norm(const Problem& problem, const Vector& beta, IndexSet support,
                                const Selection& columns) override;
  const Vector& values(const Problem& problem, const Vector& beta, const Selection& columns) override;
  bool exact(Index column) const override;
  const Contenders& contenders() const override { return contenders_; }

  // r moves to where X'r, without a ridge, is known: exactly for the columns `read`, for the others at a
  // distance of r.
  void adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance);
  // Columns in order; those that are exact already are not read again. The first time, all are read.
  void read(std::span<const Index> columns);
  double value(Index column) const;  // without a ridge: exact, or as large as it may be by now

 private:
  // What the entries of X'r come from. No vector of length p is kept before columns have been read at two
  // points: a fit that ends at the second needs none.
  enum class Source {
    kNothing,   // no column has been read
    kAtZero,    // X'r at b = 0, but for columns that were read at the one point that r has moved to
    kByColumn,  // for each column its value when it was read last, and the drift then
  };

  void drift_by(double distance);
  void forget();
  void rescale();     // makes the factor 1; stored values are not changed
  void leave_zero();  // from kAtZero to kByColumn
  void read_all();
  void note(std::span<const Index> columns, const Vector& values);  // read with kAtZero
  // Of a column whose value, over the factor, was `value` when the drift was `then`.
  double bound(Index column, double value, double then) const {
    const double change = (drift_ - then) * design_.norms()[column];
    return factor_ * (value + (nonnegative_ ? change : std::copysign(change, value)));
  }
  Vector bounds(const Selection& columns) const;

  Index most_read() const { return share_of(tuning_.all_share, design_.cols()); }
  void read_places(const IndexSet& places, const Selection& columns);
  void read_contenders(const SortedL1& penalty, const Contenders& of, double level, const Selection& columns);
  std::optional<Contenders> contenders_near_zero(const SortedL1& penalty, double level) const;
  bool most_matter(const SortedL1& penalty, const Selection& columns, double level) const;
  double level(const Problem& problem, const Vector& beta, const Vector& at_support,
               const Selection& columns);
  double dual_norm(const Problem& problem, const Vector& beta, const Selection& columns, double level);
  std::optional<double> dual_norm_near_zero(const SortedL1& penalty, const Selection& columns, double level);
  double dual_norm_of(const SortedL1& penalty, const Contenders& of, double level) const;

  Design design_;
  const Work* work_;
  Tuning::Reading tuning_;
  bool nonnegative_, short_columns_;

  Vector residual_;
  double drift_ = 0, factor_ = 1;  // D and F of MATH.md, section 3
  Source source_ = Source::kNothing;
  bool all_exact_ = false;  // every column is exact at this r
  std::shared_ptr<const AtZero> at_zero_;
  struct Read {
    Index column;
    double value;
  };
  std::vector<Read> read_;        // in order, with kAtZero
  Vector value_, read_at_;        // with kByColumn: x_j'r over the factor, and the drift then
  std::optional<Vector> bounds_;  // of the columns of the last evaluation, once they were asked for
  Contenders contenders_;
  DualNormMemo dual_norm_;  // at this r
};

}  // namespace tyto
