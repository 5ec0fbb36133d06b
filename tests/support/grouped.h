#pragma once

#include "tests/support/random.h"

namespace tyto {

// min 1/2 c'Hc - q'c + J(c), where c_k counts sizes[k] times in J: what is left of a problem when columns
// move as clusters.
struct Grouped {
  Eigen::MatrixXd hessian;
  Vector pull;  // q
  std::vector<Index> sizes;
  Vector magnitudes;  // to start from, non-increasing and >= 0
  SortedL1 penalty;

  Vector ascent(const Vector& c) const { return pull - hessian * c; }
  double objective(const Vector& c) const;
};

// Regular or singular H, with directions that have no curvature, whole numbers at times, weights of every
// kind. Groups in `positive` problems all start away from 0. So many groups, or a few if that is 0.
Grouped random_grouped(Random& random, bool positive, Index many = 0);

}  // namespace tyto
