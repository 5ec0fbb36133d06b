#include "tests/support/least_squares.h"

#include <Eigen/SVD>

namespace tyto {

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& z, const Eigen::MatrixXd& y) {
  if (z.cols() == 0) return Eigen::MatrixXd(0, y.cols());
  const Vector norms = z.colwise().norm().unaryExpr([](double norm) { return norm > 0 ? norm : 1; });
  const Eigen::MatrixXd unit = z * norms.cwiseInverse().asDiagonal();
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(unit, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(1e-11);
  return norms.cwiseInverse().asDiagonal() * svd.solve(y);
}

}  // namespace tyto
