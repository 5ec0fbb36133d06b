#include "tyto/problem/projection.h"

#include <cmath>

#include "tyto/base/rounding.h"

namespace tyto {

Projection::Projection(Eigen::MatrixXd triangle, Vector magnitudes, Response response)
    : triangle_(std::move(triangle)), magnitudes_(std::move(magnitudes)), response_(std::move(response)) {}

double Projection::response_squares(const Design& design) const {
  double squares = 0;
  const Index count = triangle_.cols();
  for (Index k = 0; k < response_.along.size(); ++k) {
    const double part = static_cast<double>(response_.along[k]) * design.basis().col(k % count).norm();
    squares += part * part;
  }
  return squares;
}

// Sums are in extended precision. Each coefficient is rounded before the next one makes up for it, so that a
// row of the system is met but for the rounding of its own coefficient, and of the coordinates of unpenalised
// columns in T. `spread` is the size of what was added up, which has the error of the extended sums.
Projection::Coefficients Projection::coefficients(const Design& design, std::span<const Index> columns,
                                                  const Vector& values, const Vector& along) const {
  const Index count = triangle_.cols();
  const Index classes = design.classes();
  Coordinates rest = response_.along;
  if (along.size() > 0) {
    rest = Coordinates::Zero(count * classes);
    rest.head(along.size()) = along.cast<long double>();
  }
  Vector spread = rest.cwiseAbs().cast<double>();
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    const Index first = design.class_of(j) * count;
    const double own = values[k] / design.scale(j);
    for (Index d = 0; d < count; ++d) {
      const long double part = static_cast<long double>(own) * design.offsets()(d, j);
      rest[first + d] -= part;
      spread[first + d] += std::abs(static_cast<double>(part));
    }
  }
  if (classes > 1) centre(rest, spread, classes);
  Coefficients result{Vector(count * classes), 0, 0};
  const double of_sum = static_cast<double>(values.size() + count + classes + rounding::kExtendedTerms) *
                        rounding::kExtendedEpsilon;
  for (Index c = 0; c < classes; ++c)
    solve({rest.segment(c * count, count), spread.segment(c * count, count)}, design, of_sum,
          result.values.segment(c * count, count), result);
  return result;
}

// Takes the mean over the classes out of the coordinates.
void Projection::centre(Coordinates& rest, Vector& spread, Index classes) const {
  const Index count = triangle_.cols();
  for (Index d = 0; d < count; ++d) {
    auto own = rest(Eigen::seqN(d, classes, count));
    const long double mean = own.sum() / static_cast<long double>(classes);
    own.array() -= mean;
    spread(Eigen::seqN(d, classes, count)).array() += std::abs(static_cast<double>(mean));
  }
}

void Projection::solve(Side side, const Design& design, double of_sum, Eigen::Ref<Vector> values,
                       Coefficients& result) const {
  using rounding::kEpsilon;
  for (Index d = values.size() - 1; d >= 0; --d) {
    values[d] = static_cast<double>(side.rest[d] / triangle_(d, d));
    const double own = std::abs(triangle_(d, d) * values[d]);
    result.error += (kEpsilon * own + of_sum * (side.spread[d] + own)) * design.basis().col(d).norm();
    for (Index above = 0; above < d; ++above) {
      const long double part = static_cast<long double>(triangle_(above, d)) * values[d];
      const double size = std::abs(static_cast<double>(part));
      side.rest[above] -= part;
      side.spread[above] += size;
      result.error += kEpsilon * size * design.basis().col(above).norm();
    }
  }
  result.magnitude += values.tail(magnitudes_.size()).cwiseAbs().dot(magnitudes_);
}

}  // namespace tyto
