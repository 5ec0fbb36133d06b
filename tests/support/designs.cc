#include "tests/support/designs.h"

namespace tyto {

std::vector<Design> every_storage(const Eigen::MatrixXd& x) {
  const auto owner = std::make_shared<const Eigen::MatrixXd>(x);
  return {Design::dense(x),
          Design::dense(Eigen::MatrixXf(x.cast<float>())),
          Design::sparse(Sparse32(x.sparseView())),
          Design::sparse(Sparse64(Sparse32(x.sparseView()))),
          Design::sparse(SparseFloat(x.cast<float>().sparseView())),
          Design(dense_columns(DenseView<double>{owner->data(), x.rows(), x.cols()}, owner))};
}

Eigen::MatrixXd entries_of(const Design& design) {
  const std::vector<naive::Reals> columns = naive::columns(design);
  Eigen::MatrixXd x(design.rows(), design.cols());
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i)
      x(i, j) = real(columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  return x;
}

}  // namespace tyto
