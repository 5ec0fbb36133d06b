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
  room = rows->root.cwiseProduct(v);
  return room;
}

// A v that is centred but for rounding counts as centred: the mean of a column is at most its rounding norm
// over sqrt(n), so that x_j'v is off by no more than its own rounding, and no offset has to be read.
Vector Adjustment::along_basis(const Vector& v) const {
  const Eigen::MatrixXd& basis = rows->basis;
  if (basis.cols() == 0) return {};
  if (!rows->plain) return basis.transpose() * v;
  const double sum = v.sum();
  const double length = v.norm();
  const bool centred =
      std::isfinite(length) && std::abs(sum) <= 2 * std::numeric_limits<double>::epsilon() * length;
  return Vector::Constant(basis.cols(), centred ? 0 : sum);
}

void Adjustment::take_out(const Vector& shift, Vector& eta) const {
  if (rows->root.size() > 0) eta.array() *= rows->root.array();
  if (rows->plain && shift.size() > 0)
    eta.array() -= shift[0];
  else if (shift.size() > 0)
    eta -= rows->basis * shift;
}

}  // namespace tyto
