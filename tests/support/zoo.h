#pragma once

#include <string>
#include <vector>

#include "tyto/problem/problem.h"

namespace tyto {

// Tiny problems whose only solution is known exactly. All numbers are the same in float and in double.
struct ZooProblem {
  std::string name;
  Eigen::MatrixXd x;
  Vector y, weights, solution;
};
std::vector<ZooProblem> zoo();

enum class Storage { kDense, kFloat, kSparse };
std::string name(Storage storage);
Design stored(const Eigen::MatrixXd& x, Storage storage);

}  // namespace tyto
