#pragma once

#include "tyto/design/rows.h"

namespace tyto {

// The rows that the mini-batches of an epoch draw, side by side in memory. Where they are few they are
// gathered from the columns in each epoch; else all rows are copied once, and columns that leave are taken
// out of the copy.
class BatchRows {
 public:
  // `share`: of all rows; an epoch that draws more has a copy of all of them.
  explicit BatchRows(double share) : share_(share) {}

  void attach(const Design& design);
  void restrict_to(std::span<const Index> survivors);
  void prepare(const Design& design, std::span<const Index> drawn);  // for one epoch; in any order, repeated

  // a_i'd for a row that was drawn, and a d that is zero outside `support`.
  double dot(Index row, const Vector& d, const IndexSet& support) const {
    return rows_.dot(place(row), d, support);
  }
  // out <- out + sum_k factor[k] a_(row[k])
  void add(std::span<const Index> row, std::span<const double> factor, Vector& out);

 private:
  Index place(Index row) const { return place_[static_cast<std::size_t>(row)]; }

  double share_;
  bool whole_ = false;  // rows_ has all rows
  Rows rows_;
  IndexSet place_;  // of a row of the design in rows_
  IndexSet chosen_;
};

}  // namespace tyto
