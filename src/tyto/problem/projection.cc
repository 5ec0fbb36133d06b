#include "tyto/problem/projection.h"

#include <cmath>

#include "tyto/base/rounding.h"

namespace tyto {

Projection::Projection(Eigen::MatrixXd triangle, Vector magnitudes, Response response)
    : triangle_(std::move(triangle)), magnitudes_(std::move(magnitudes)), response_(std::move(response)) {}

// Sums are in extended precision. Each coefficient is rounded before the next one makes up for it, so that a
// row of the system is met but for the rounding of its own coefficient, and of the coordinates of unpenalised
// columns in T. `spread` is the size of what was added up, which has the error of the extended sums.
Projection::Coefficients Projection::coefficients(const Design& design, std::span<const Index> columns,
                                                  const Vector& values) const {
  using rounding::kEpsilon;
  const Index count = response_.along.size();
  Coordinates rest = response_.along;
  Vector spread = rest.cwiseAbs().cast<double>();
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    const double own = values[k] / design.scale(j);
    for (Index d = 0; d < count; ++d) {
      const long double part = static_cast<long double>(own) * design.offsets()(d, j);
      rest[d] -= part;
      spread[d] += std::abs(static_cast<double>(part));
    }
  }
  Coefficients result{Vector(count), 0, 0};
  const double of_sum =
      static_cast<double>(values.size() + count + rounding::kExtendedTerms) * rounding::kExtendedEpsilon;
  for (Index d = count - 1; d >= 0; --d) {
    result.values[d] = static_cast<double>(rest[d] / triangle_(d, d));
    const double own = std::abs(triangle_(d, d) * result.values[d]);
    result.error += (kEpsilon * own + of_sum * (spread[d] + own)) * design.basis().col(d).norm();
    for (Index above = 0; above < d; ++above) {
      const long double part = static_cast<long double>(triangle_(above, d)) * result.values[d];
      const double size = std::abs(static_cast<double>(part));
      rest[above] -= part;
      spread[above] += size;
      result.error += kEpsilon * size * design.basis().col(above).norm();
    }
  }
  result.magnitude = result.values.tail(magnitudes_.size()).cwiseAbs().dot(magnitudes_);
  return result;
}

}  // namespace tyto
