#include "tyto/design/adjustment.h"

#include <cmath>
#include <limits>
#include <utility>

namespace tyto {

Adjustment Adjustment::none(Index rows, Index cols) {
  RowAdjustment plain;
  plain.basis.resize(rows, 0);
  plain.total = static_cast<double>(rows);
  return {std::make_shared<const RowAdjustment>(std::move(plain)), Eigen::MatrixXd(0, cols), {}, {}};
}

Adjustment Adjustment::select(std::span<const Index> columns) const {
  const Index count = std::ssize(columns);
  const bool scaled = scale.size() > 0;
  Adjustment to{rows, Eigen::MatrixXd(offset.rows(), count), Vector(scaled ? count : 0),
                std::vector<bool>(nearly_constant.empty() ? 0 : columns.size())};
  for (Index k = 0; k < count; ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    for (Index d = 0; d < offset.rows(); ++d) to.offset(d, k) = offset(d, j);
    if (scaled) to.scale[k] = scale[j];
    if (is_nearly_constant(j)) to.nearly_constant[static_cast<std::size_t>(k)] = true;
  }
  return to;
}

const Vector& Adjustment::weighted(const Vector& v, Vector& room) const {
  if (rows->root.size() == 0) return v;
  room = v;
  for (Index c = 0; c < rows->classes; ++c)
    room.segment(c * rows->root.size(), rows->root.size()).array() *= rows->root.array();
  return room;
}

// A v that is centred but for rounding counts as centred: the mean of a column is at most its rounding norm
// over sqrt(n), so that x_j'v is off by no more than its own rounding, and no offset has to be read.
Vector Adjustment::along_basis(const Vector& v) const {
  const Eigen::MatrixXd& basis = rows->basis;
  if (basis.cols() == 0) return {};
  Vector result(basis.cols() * rows->classes);
  for (Index c = 0; c < rows->classes; ++c) {
    const auto own = v.segment(c * basis.rows(), basis.rows());
    auto along = result.segment(c * basis.cols(), basis.cols());
    if (!rows->plain) {
      along = basis.transpose() * own;
      continue;
    }
    const double sum = own.sum();
    const double length = own.norm();
    const bool centred =
        std::isfinite(length) && std::abs(sum) <= 2 * std::numeric_limits<double>::epsilon() * length;
    along.setConstant(centred ? 0 : sum);
  }
  return result;
}

void Adjustment::take_out(const Vector& shift, Vector& eta) const {
  const Eigen::MatrixXd& basis = rows->basis;
  for (Index c = 0; c < rows->classes; ++c) {
    auto own = eta.segment(c * basis.rows(), basis.rows());
    if (rows->root.size() > 0) own.array() *= rows->root.array();
    if (rows->plain && basis.cols() > 0)
      own.array() -= shift[c];
    else if (basis.cols() > 0)
      own -= basis * shift.segment(c * basis.cols(), basis.cols());
  }
}

}  // namespace tyto
