#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace tyto {

using Index = Eigen::Index;  // 64 bits
using Vector = Eigen::VectorXd;
using ExtendedVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
using IndexSet = std::vector<Index>;  // strictly increasing column numbers

}  // namespace tyto
