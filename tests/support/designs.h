#pragma once

#include <vector>

#include "tests/support/naive.h"
#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"
#include "tyto/design/design.h"

namespace tyto {

using Sparse32 = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
using Sparse64 = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>;
using SparseFloat = Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t>;

std::vector<Design> every_storage(const Eigen::MatrixXd& x);  // the same matrix of float-exact numbers
Eigen::MatrixXd entries_of(const Design& design);             // what its columns are, spelled out
inline double real(naive::Real value) { return static_cast<double>(value); }

}  // namespace tyto
