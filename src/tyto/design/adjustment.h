#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tyto/base/types.h"
#include "tyto/columns/columns.h"

namespace tyto {

// What is done to rows, whatever the column: row i counts weight[i] times, and a few directions are taken out
// of every column. Where the rows are those of several classes, one class after the other, it is done to
// each.
struct RowAdjustment {
  Vector weight, root;    // root[i]^2 = weight[i]; both empty where all rows count once
  Eigen::MatrixXd basis;  // B: n x k, orthogonal columns
  double total = 0;       // weight of all rows, those of one class
  bool centred = false;   // the first direction is that of the intercept, D 1
  bool plain = true;      // no weights, and no direction but that
  Index classes = 1;
};

// How the columns that are stored become those of a design: x_j = (D raw_j - B offset_j) / scale_j, with D
// the roots of the row weights. Nothing is written down but B, the offsets and the scales, so that sparse
// data stays sparse.
struct Adjustment {
  std::shared_ptr<const RowAdjustment> rows;
  Eigen::MatrixXd offset;  // k x p
  Vector scale;            // empty: all are 1
  // Columns whose mean is large beside what is left without it. It is taken off each entry before anything is
  // summed: afterwards it would leave rounding errors of its own size. Empty if there are none.
  std::vector<bool> nearly_constant;

  static Adjustment none(Index rows, Index cols);
  Adjustment select(std::span<const Index> columns) const;

  double scale_of(Index column) const { return scale.size() > 0 ? scale[column] : 1; }
  bool is_nearly_constant(Index column) const {
    return !nearly_constant.empty() && nearly_constant[static_cast<std::size_t>(column)];
  }
  // The adjustment of single entries: centred, if all are, and scaled.
  EntryMap entry_map(Index column) const {
    return {rows->centred ? offset(0, column) : 0, 1 / scale_of(column)};
  }
  const double* roots() const { return rows->root.size() > 0 ? rows->root.data() : nullptr; }

  const Vector& weighted(const Vector& v, Vector& room) const;  // D v; in `room` if it is not v
  Vector along_basis(const Vector& v) const;                    // B'v, of one class after the other
  void take_out(const Vector& shift, Vector& eta) const;        // eta <- D eta - B shift
  // x_j'v from B'v (of the column's class) and raw_j'D v; for a nearly constant column from the latter
  // without its mean.
  double corrected(double product, Index column, const Eigen::Ref<const Vector>& along) const {
    for (Index d = is_nearly_constant(column) ? 1 : 0; d < along.size(); ++d)
      if (along[d] != 0) product -= offset(d, column) * along[d];
    return product / scale_of(column);
  }
};

}  // namespace tyto
