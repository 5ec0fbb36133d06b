#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <memory>

namespace tyto {

class Design;

// A matrix of features, rows by columns, from an Eigen matrix as it is. A variable is borrowed: it has to
// live, unchanged, as long as the features and what is made of them. A temporary is moved in and kept.
class Features {
 public:
  Features(const Eigen::MatrixXd& x);  // NOLINT(*-explicit-*)
  Features(Eigen::MatrixXd&& x);       // NOLINT(*-explicit-*)
  Features(const Eigen::MatrixXf& x);  // NOLINT(*-explicit-*)
  Features(Eigen::MatrixXf&& x);       // NOLINT(*-explicit-*)
  // One that is not compressed is copied.
  Features(const Eigen::SparseMatrix<double>& x);  // NOLINT(*-explicit-*)
  Features(Eigen::SparseMatrix<double>&& x);       // NOLINT(*-explicit-*)

  Eigen::Index rows() const;
  Eigen::Index cols() const;
  const Design& design() const { return *design_; }  // for the library itself

 private:
  std::shared_ptr<const Design> design_;
};

}  // namespace tyto
