#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "tyto/base/types.h"

namespace tyto {

// Where a column lies in memory. Views: the memory belongs to somebody else.
template <class Scalar>
struct DenseColumns {
  const Scalar* data;  // column-major
  Index rows, cols;
};
template <class Scalar, class StorageIndex>
struct SparseColumns {  // compressed: column j has entries start[j] .. start[j + 1] - 1
  const Scalar* value;
  const StorageIndex* row;
  const StorageIndex* start;
  Index rows, cols;
};
using ColumnStorage = std::variant<DenseColumns<double>, DenseColumns<float>,
                                   SparseColumns<double, std::int32_t>, SparseColumns<float, std::int32_t>,
                                   SparseColumns<double, std::int64_t>, SparseColumns<float, std::int64_t>>;

// The n x p matrix X with columns x_j = (raw_j - center_j) / scale_j. Dense or sparse, double or float,
// owned, borrowed or mapped: it is the same type. Cheap to copy: the memory is shared and never changes.
// Centring and scaling are applied on the fly, so that sparse data stays sparse.
class Design {
 public:
  Design() : Design(ColumnStorage(DenseColumns<double>{nullptr, 0, 0}), nullptr) {}

  static Design dense(Eigen::MatrixXd x);
  static Design dense(Eigen::MatrixXf x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x);
  static Design sparse(Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t> x);
  // Borrowed memory: `owner` is kept as long as any copy of the design lives (it may be null).
  static Design borrow(ColumnStorage storage, std::shared_ptr<const void> owner);

  Index rows() const { return rows_; }
  Index cols() const { return static_cast<Index>(column_.size()); }
  bool is_sparse() const { return storage_.index() >= 2; }
  Index stored_entries() const;  // of the selected columns

  // Centred to mean 0, and scaled to columns of norm sqrt(n): by the standard deviation (over n), or by the
  // root mean square where the columns are not centred. A constant column (all zero, if not centred) gets
  // scale 1.
  Design standardized(bool center, bool scale) const;
  Design select(std::span<const Index> columns) const;  // no copy of the data
  Design with_threads(int threads) const;               // threads that the passes below may use
  int threads() const { return threads_; }

  const Vector& centers() const { return center_; }
  const Vector& scales() const { return scale_; }
  const Vector& norms() const { return norm_; }  // ||x_j||
  // ||raw_j|| / scale_j >= ||x_j||: what rounding errors of x_j'v are proportional to, however well centred
  // x_j is.
  const Vector& magnitudes() const { return magnitude_; }

  bool is_zero(Index column) const;  // no entry that is not 0

  void multiply(const Vector& beta, Vector& eta) const;         // eta <- X beta; skips zeros of beta
  void transpose_multiply(const Vector& v, Vector& out) const;  // out <- X'v
  double dot(Index column, const Vector& v) const;              // x_j'v
  void axpy(Index column, double a, Vector& eta) const;         // eta <- eta + a x_j
  // f(row, raw value) for the stored entries of a column, in order of rows.
  template <class F>
  void for_each_entry(Index column, F f) const;

 private:
  Design(ColumnStorage storage, std::shared_ptr<const void> owner);
  void measure();  // norm_ and magnitude_ from center_ and scale_

  ColumnStorage storage_;
  std::shared_ptr<const void> owner_;
  Index rows_ = 0;
  int threads_ = 1;
  IndexSet column_;  // of storage_, in the order of this design
  Vector center_, scale_, norm_, magnitude_;
};

template <class F>
void Design::for_each_entry(Index column, F f) const {
  std::visit(
      [&](const auto& x) {
        const Index j = column_[static_cast<std::size_t>(column)];
        if constexpr (requires { x.start; }) {
          for (auto k = x.start[j]; k < x.start[j + 1]; ++k)
            f(static_cast<Index>(x.row[k]), static_cast<double>(x.value[k]));
        } else {
          for (Index i = 0; i < x.rows; ++i) f(i, static_cast<double>(x.data[j * x.rows + i]));
        }
      },
      storage_);
}

}  // namespace tyto
