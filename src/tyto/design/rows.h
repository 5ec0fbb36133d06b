#pragma once

#include "tyto/design/design.h"

namespace tyto {

// A copy of a design by rows a_i, for algorithms that visit observations: row-major for dense designs, with
// all adjustments applied; compressed rows for sparse ones, weighted and scaled, with what is taken out of
// them kept beside them.
class Rows {
 public:
  Rows() = default;
  explicit Rows(const Design& design);
  Rows(const Design& design, std::span<const Index> rows);  // some of them, given in increasing order
  void keep_columns(std::span<const Index> columns);        // in increasing order; the others leave

  Index count() const { return count_; }
  Vector squared_norms() const;  // ||a_i||^2
  // a_i'd for a d that is zero outside `support`.
  double dot(Index row, const Vector& d, const IndexSet& support) const;
  // out <- out + sum_k factor[k] a_(row[k])
  void add(std::span<const Index> row, std::span<const double> factor, Vector& out) const;

 private:
  void copy_sparse(const Design& design, std::span<const Index> rows);

  Index count_ = 0, cols_ = 0;
  bool sparse_ = false;
  std::vector<double> value_;       // dense: count x cols; sparse: the stored entries
  std::vector<Index> column_;       // sparse only
  std::vector<std::size_t> start_;  // sparse only
  Eigen::MatrixXd basis_,
      shift_;  // sparse only: a_i = stored_i - shift' basis_i (basis: k x n, shift: k x p)
};

// ||a_i||^2 of all rows.
Vector squared_row_norms(const Design& design);

}  // namespace tyto
