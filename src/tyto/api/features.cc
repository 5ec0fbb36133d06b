#include "tyto/features.h"

#include <utility>

#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"
#include "tyto/design/design.h"

namespace tyto {
namespace {

using Sparse = Eigen::SparseMatrix<double>;
using Owner = std::shared_ptr<const void>;

template <class Scalar>
std::shared_ptr<const Columns> columns(const Eigen::MatrixX<Scalar>& x, Owner owner) {
  return dense_columns(DenseView<Scalar>{x.data(), x.rows(), x.cols()}, std::move(owner));
}
std::shared_ptr<const Columns> columns(const Sparse& x, Owner owner) {
  const SparseView<double, std::int32_t> view{x.valuePtr(), x.innerIndexPtr(), x.outerIndexPtr(), x.rows(),
                                              x.cols()};
  return sparse_columns(view, std::move(owner));
}

template <class Matrix>
std::shared_ptr<const Design> borrowed(const Matrix& x) {
  return std::make_shared<const Design>(columns(x, nullptr));
}
template <class Matrix>
std::shared_ptr<const Design> kept(Matrix x) {
  auto owner = std::make_shared<const Matrix>(std::move(x));
  return std::make_shared<const Design>(columns(*owner, owner));
}

Sparse compressed(Sparse x) {
  x.makeCompressed();
  return x;
}

}  // namespace

Features::Features(const Eigen::MatrixXd& x) : design_(borrowed(x)) {}
Features::Features(Eigen::MatrixXd&& x) : design_(kept(std::move(x))) {}
Features::Features(const Eigen::MatrixXf& x) : design_(borrowed(x)) {}
Features::Features(Eigen::MatrixXf&& x) : design_(kept(std::move(x))) {}
Features::Features(const Sparse& x) : design_(x.isCompressed() ? borrowed(x) : kept(compressed(x))) {}
Features::Features(Sparse&& x) : design_(kept(compressed(std::move(x)))) {}

Eigen::Index Features::rows() const { return design_->rows(); }
Eigen::Index Features::cols() const { return design_->cols(); }

}  // namespace tyto
