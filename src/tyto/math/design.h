#pragma once

#include <Eigen/SparseCore>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>

#include "tyto/base/lazy.h"
#include "tyto/base/selection.h"
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

// The n x p matrix X with columns x_j = (D raw_j - B offset_j) / scale_j: D the roots of row weights, B a few
// directions that are taken out of every column, that of the intercept first. Dense or sparse, double or
// float, owned, borrowed or mapped: it is the same type. Cheap to copy: the memory is shared and never
// changes. All of this is applied on the fly, so that sparse data stays sparse.
class Design {
 public:
  Design() : Design(DenseColumns<double>{nullptr, 0, 0}, nullptr) {}

  static Design dense(Eigen::MatrixXd x);
  static Design dense(Eigen::MatrixXf x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x);
  static Design sparse(Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t> x);
  // Borrowed memory: `owner` is kept as long as any copy of the design lives (it may be null).
  static Design borrow(ColumnStorage storage, std::shared_ptr<const void> owner) {
    return {storage, std::move(owner)};
  }

  Index rows() const { return rows_; }
  Index cols() const { return columns_->raw.size(); }
  bool is_sparse() const { return storage_.index() >= 2; }
  Index stored_entries() const;  // of the selected columns

  // Row i counts weights[i] >= 0 times, or once where there are none. Columns are centred to mean 0, and
  // scaled to norm sqrt(n), or the root of the sum of the weights: by the standard deviation (over n), or by
  // the root mean square where they are not centred. A constant column (all zero, if not centred) gets scale
  // 1.
  Design standardized(bool center, bool scale, const Vector& weights = {}) const;
  // Replaces every column by its residual after least squares on one of them, which itself becomes 0. The
  // same design if that one is 0 already, but for rounding.
  Design without(Index column) const;
  Design select(std::span<const Index> columns) const;  // no copy of the data
  // The same of a sparse one, in any order and in memory of their own, where they have new numbers.
  Design gather(std::span<const Index> columns) const;
  // A copy of some rows, given in increasing order: neither centred nor scaled, in the same storage.
  Design take_rows(std::span<const Index> rows) const;
  Design with_threads(int threads) const;  // threads that the passes below may use
  int threads() const { return threads_; }
  // A copy with a counter of its own, shared with what is selected from it. Several threads may add to it.
  Design with_counter() const;
  Index entries_read() const { return entries_read_->load(std::memory_order_relaxed); }  // by products
  void count_pass() const { count(stored_entries()); }     // that somebody else has made
  Index count_read(std::span<const Index> columns) const;  // the same; returns what it adds

  Index raw(Index column) const { return columns_->raw[column]; }  // its number in storage
  Index find(Index raw) const { return columns_->raw.find(raw); }  // the column of that number, or -1

  double total_weight() const { return frame_->total; }           // of the rows: n, if they have none
  const Vector& roots() const { return frame_->root; }            // of the weights; empty if there are none
  const Eigen::MatrixXd& basis() const { return frame_->basis; }  // B: n x k, orthogonal columns
  const Eigen::MatrixXd& offsets() const { return columns_->offset; }  // k x p
  // What of v lies along B, as coefficients of B.
  Vector coordinates(const Vector& v) const;
  bool is_scaled() const { return columns_->scale.size() > 0; }
  double scale(Index column) const { return is_scaled() ? columns_->scale[column] : 1; }
  Vector scales() const { return is_scaled() ? columns_->scale : Vector::Ones(cols()); }
  const Vector& norms() const { return lengths().norm; }  // ||x_j||
  // What rounding errors of x_j'v are proportional to, for a centred v: ||D raw_j|| / scale_j, or less where
  // the mean is taken off before anything is summed. Never below ||x_j||, but for rounding.
  const Vector& magnitudes() const { return lengths().magnitude; }
  double largest_magnitude() const { return lengths().largest_magnitude; }  // of all; 0 if there are none
  // The smallest and the largest magnitude times its scale; not a number, if one is not. 1 if there are none.
  struct Range {
    double least = 1, most = 1;
  };
  Range stored_magnitudes() const { return lengths().stored; }

  // Whether the mean of some column is taken off each entry before anything is summed.
  bool has_far_columns() const { return !columns_->far.empty(); }
  bool is_zero(Index column) const;  // no entry that counts and is not 0, once a large mean is taken off

  void multiply(const Vector& beta, Vector& eta) const;  // eta <- X beta; skips zeros of beta
  // eta <- the sum of some of the columns, each times its factor.
  void multiply(std::span<const Index> columns, const Vector& factors, Vector& eta) const;
  void transpose_multiply(const Vector& v, Vector& out) const;  // out <- X'v
  // out <- x_j'v for some of the columns.
  void transpose_multiply(std::span<const Index> columns, const Vector& v, double* out) const;
  // The same for several vectors, the columns of a matrix: where X is dense it is read once for all of them.
  void multiply(const Eigen::MatrixXd& beta, Eigen::MatrixXd& eta) const;
  void transpose_multiply(std::span<const Index> columns, const Eigen::MatrixXd& v,
                          Eigen::MatrixXd& out) const;
  // r <- y - X beta, column by column, and out <- X'r for the columns of X that some beta needs, which are
  // returned. They are read once for both.
  IndexSet residuals(const Vector& y, const Eigen::MatrixXd& beta, Eigen::MatrixXd& r,
                     Eigen::MatrixXd& out) const;
  void axpy(Index column, double a, Vector& eta) const;  // eta <- eta + a x_j
  // Columns as they stand, one after the other: rows begin .. begin + length - 1 of each.
  void pack(std::span<const Index> columns, Index begin, Index length, double* out) const;
  // out(i, k) <- x_i'x_k for the columns k = the last out.cols() of `columns`, and all i.
  void products(std::span<const Index> columns,
                Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out) const;
  // The same design, which keeps the products that it computes, beginning with those of `columns`. What is
  // selected from it does not. Not for several threads at once.
  Design keeping_products(std::vector<Index> columns = {}, Eigen::MatrixXd products = {}) const;
  std::span<const Index> kept_columns() const {  // in the order of their products
    return kept_ ? std::span<const Index>(kept_->columns) : std::span<const Index>();
  }
  const Eigen::MatrixXd& kept_products() const { return kept_->products; }
  // f(row, raw value) for the stored entries of a column, in order of rows.
  template <class F>
  void for_each_entry(Index column, F f) const;

 private:
  static constexpr Index kColumnGroup = 32;  // columns that share a task
  Index column_groups() const { return (cols() + kColumnGroup - 1) / kColumnGroup; }

  struct Columns {
    Selection raw;  // numbers in storage
    Eigen::MatrixXd offset;
    Vector scale;  // empty: all are 1
    // Columns whose mean is large beside what is left without it, which is taken off before anything is
    // summed: afterwards it would leave rounding errors of its own size. Empty if there are none.
    std::vector<bool> far;
  };
  struct Lengths {
    Vector norm, magnitude;
    double largest_magnitude = 0;
    Range stored = {};
  };
  struct Kept {
    std::vector<Index> columns, place;  // place: by column; -1 for those that are not there
    Eigen::MatrixXd products;
  };
  struct Frame {  // what all columns share
    Vector weight, root;
    Eigen::MatrixXd basis;
    double total = 0;
    bool centred = false;  // the first direction is that of the intercept, D 1
    bool plain = true;     // no weights, and no direction but that
  };
  Design(ColumnStorage storage, std::shared_ptr<const void> owner);
  Design with(Columns columns, std::shared_ptr<Lazy<Lengths>> lengths) const;
  Design with(Columns columns, Vector norm, Vector magnitude) const;
  static Lengths lengths_of(Vector norm, Vector magnitude, const Vector& scale);
  const Lengths& lengths() const {  // data as it was read is measured only if somebody asks
    return lengths_->get([&] { return measured(); });
  }
  Lengths measured() const;
  template <class Task>
  void for_each_column(Task task) const;                          // in groups, on threads
  const Vector& with_roots(const Vector& v, Vector& room) const;  // D v; in `room` if it is not v
  Vector along_basis(const Vector& v) const;                      // B'v
  void take_out(const Vector& shift, Vector& eta) const;          // eta <- D eta - B shift
  bool far(Index column) const {
    return !columns_->far.empty() && columns_->far[static_cast<std::size_t>(column)];
  }
  void count(Index entries) const { entries_read_->fetch_add(entries, std::memory_order_relaxed); }
  // f(first row, entries less their mean) for blocks of the rows begin .. end - 1 of a column, zeros that are
  // not stored included.
  template <class F>
  void for_each_block(Index column, Index begin, Index end, F f) const;
  // out[k] <- the product of the entries less their mean with v_k, the k-th of several vectors.
  void far_dots(Index column, const double* v, Index count, double* out) const;
  void add_far(Index column, double a, Index begin, Index length, Vector& eta) const;  // a times these
  // x_j'v from B'v and raw_j'D v; for a far column from the latter without its mean.
  double corrected(double product, Index column, const Vector& along) const {
    for (Index d = far(column) ? 1 : 0; d < along.size(); ++d)
      if (along[d] != 0) product -= columns_->offset(d, column) * along[d];
    return product / scale(column);
  }
  void compute_products(std::span<const Index> columns,
                        Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out) const;

  ColumnStorage storage_;
  std::shared_ptr<const void> owner_;
  Index rows_ = 0;
  int threads_ = 1;
  std::shared_ptr<const Columns> columns_;
  std::shared_ptr<Lazy<Lengths>> lengths_ = std::make_shared<Lazy<Lengths>>();
  std::shared_ptr<const Frame> frame_;
  std::shared_ptr<Kept> kept_;
  std::shared_ptr<std::atomic<Index>> entries_read_ = std::make_shared<std::atomic<Index>>(0);
};

template <class F>
void Design::for_each_entry(Index column, F f) const {
  std::visit(
      [&](const auto& x) {
        const Index j = raw(column);
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
