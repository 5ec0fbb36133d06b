#include "tests/support/grouped.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tyto/math/weights.h"

namespace tyto {

double Grouped::objective(const Vector& c) const {
  std::vector<double> expanded;
  for (Index k = 0; k < c.size(); ++k)
    expanded.insert(expanded.end(), static_cast<std::size_t>(sizes[static_cast<std::size_t>(k)]),
                    std::abs(c[k]));
  std::sort(expanded.begin(), expanded.end(), std::greater<>());
  double sum = 0.5 * c.dot(hessian * c) - pull.dot(c);
  for (std::size_t i = 0; i < expanded.size(); ++i)
    sum += penalty.weight(static_cast<Index>(i)) * expanded[i];
  return sum;
}

Grouped random_grouped(Random& random, bool positive, Index many) {
  const Index count = many > 0 ? many : random.between(1, 8), rows = many + random.between(1, 12);
  Eigen::MatrixXd z = random_matrix(random, rows, count);
  if (random.chance(0.3)) z = z.array().round();
  for (Index k = 1; k < count; ++k) {
    if (random.chance(0.1)) {
      const double sign = random.chance(0.5) ? 1 : -1;
      z.col(k) = sign * z.col(random.below(k));
    }
    if (random.chance(0.05)) z.col(k).setZero();
  }
  std::vector<Index> sizes;
  for (Index k = 0; k < count; ++k) sizes.push_back(random.between(1, 3));
  const Index p = std::accumulate(sizes.begin(), sizes.end(), Index{0}) + random.below(3);
  const std::vector<std::string> names = weight_names();
  Vector shape =
      random.chance(0.5)
          ? random_weights(random, p)
          : make_weights(names[static_cast<std::size_t>(random.below(std::ssize(names)))], {rows, p, 0.2});
  shape *= std::pow(10, random.uniform(-1, 1));
  Vector y = 3 * random_vector(random, rows);
  if (random.chance(0.3)) y = y.array().round();
  Vector magnitudes = random_vector(random, count).cwiseAbs();
  if (positive) magnitudes.array() += 0.01;
  if (!positive && random.chance(0.5)) magnitudes.tail(random.below(count + 1)).setZero();
  if (random.chance(0.2)) magnitudes.setConstant(magnitudes[0]);
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  return {z.transpose() * z, z.transpose() * y, sizes, magnitudes, SortedL1(shape)};
}

}  // namespace tyto
