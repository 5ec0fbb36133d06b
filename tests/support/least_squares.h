#pragma once

#include "tyto/base/types.h"

namespace tyto {

// The shortest least squares on the columns of z, for each column of y; lengths are counted in ||z_k||.
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& z, const Eigen::MatrixXd& y);

}  // namespace tyto
