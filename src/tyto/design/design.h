#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tyto/base/lazy.h"
#include "tyto/base/selection.h"
#include "tyto/base/types.h"
#include "tyto/base/work.h"
#include "tyto/columns/columns.h"
#include "tyto/design/adjustment.h"

namespace tyto {

// The n x p matrix X: columns that are stored somewhere, which of them, and their adjustment (row weights,
// centre, scale, directions projected out), which is applied on the fly. A value, cheap to copy: the memory
// is shared and never changes. What reads X takes a Work: with the threads that it may use, and to count
// there what it reads. Left out, it is one thread, and nobody counts.
class Design {
 public:
  Design();
  explicit Design(std::shared_ptr<const Columns> columns);
  static Design dense(Eigen::MatrixXd x);
  static Design dense(Eigen::MatrixXf x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x);
  static Design sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x);
  static Design sparse(Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t> x);

  Index rows() const { return columns_->rows(); }
  Index cols() const { return selection_->size(); }
  bool is_sparse() const { return columns_->is_sparse(); }
  std::string storage() const { return columns_->storage(); }          // in words, for people
  bool is_slow() const { return columns_->is_slow(); }                 // it is read from a file
  std::uint64_t bytes_read() const { return columns_->bytes_read(); }  // from it so far, by all who share it
  Index stored_entries() const;                                        // of the selected columns
  Index stored_entries(std::span<const Index> columns) const;          // of some of them

  // Row i counts weights[i] >= 0 times, or once where there are none. Columns are centred to mean 0, and
  // scaled to norm sqrt(n), or the root of the sum of the weights: by the standard deviation (over n), or by
  // the root mean square where they are not centred. A constant column (all zero, if not centred) gets scale
  // 1.
  Design standardized(bool center, bool scale, const Vector& weights = {}, const Work& work = Work()) const;
  // Replaces every column by its residual after least squares on one of them, which itself becomes 0. The
  // same design if that one is 0 already, but for rounding.
  Design without(Index column, const Work& work = Work()) const;
  // The same columns with other weights of the rows, times these factors: means and directions are taken out
  // by the new weights, scales stay.
  Design reweighted(const Vector& factors, const Work& work = Work()) const;
  Design select(std::span<const Index> columns) const;  // no copy of the data
  // The same in any order and in memory of their own, where they have new numbers.
  Design gather(std::span<const Index> columns, const Work& work = Work()) const;
  // The same columns once for each of several classes, nothing copied: a block diagonal matrix, of which
  // column j classes + c is column j in the rows of class c. Only products, selections and copies of blocks
  // are made of it: it is not standardised again.
  Design for_classes(Index classes) const;
  // A copy of some rows, given in increasing order: neither centred nor scaled, in the same storage.
  Design take_rows(std::span<const Index> rows) const;

  Index raw(Index column) const { return (*selection_)[column]; }  // its number in storage
  Index find(Index raw) const { return selection_->find(raw); }    // the column of that number, or -1
  const Adjustment& adjustment() const { return *adjustment_; }
  Index classes() const { return adjustment_->rows->classes; }
  Index class_of(Index column) const { return classes() > 1 ? raw(column) % classes() : 0; }
  // These four are those of the rows of one class, and of a column in its own.
  double total_weight() const { return adjustment_->rows->total; }  // of the rows: n, if they have none
  const Vector& roots() const { return adjustment_->rows->root; }   // of the weights; empty if there are none
  const Eigen::MatrixXd& basis() const { return adjustment_->rows->basis; }  // B: n x k, orthogonal columns
  const Eigen::MatrixXd& offsets() const { return adjustment_->offset; }     // k x p
  // What of v lies along B, as coefficients of B.
  Vector coordinates(const Vector& v) const;
  bool is_scaled() const { return adjustment_->scale.size() > 0; }
  double scale(Index column) const { return adjustment_->scale_of(column); }
  Vector scales() const { return is_scaled() ? adjustment_->scale : Vector::Ones(cols()); }

  const Vector& norms() const { return lengths().norm; }  // ||x_j||
  // What rounding errors of x_j'v are proportional to, for a centred v: ||D raw_j|| / scale_j, or less where
  // the mean is taken off before anything is summed. Never below ||x_j||, but for rounding.
  const Vector& rounding_norms() const { return lengths().rounding_norm; }
  double largest_rounding_norm() const { return lengths().largest; }  // of all; 0 if there are none
  // The smallest and the largest rounding norm times its scale; not a number, if one is not. 1 if there are
  // none.
  struct Range {
    double least = 1, most = 1;
  };
  Range stored_rounding_norms() const { return lengths().stored; }
  // Whether the mean of some column is taken off each entry before anything is summed.
  bool has_nearly_constant_columns() const { return !adjustment_->nearly_constant.empty(); }
  bool is_zero(Index column) const;  // no entry that counts and is not 0, once a large mean is taken off

  // eta <- X beta; skips zeros of beta.
  void multiply(const Vector& beta, Vector& eta, const Work& work = Work()) const;
  // eta <- the sum of some of the columns, each times its factor.
  void multiply(std::span<const Index> columns, const Vector& factors, Vector& eta,
                const Work& work = Work()) const;
  // out <- X'v
  void transpose_multiply(const Vector& v, Vector& out, const Work& work = Work()) const;
  // out <- x_j'v for some of the columns.
  void transpose_multiply(std::span<const Index> columns, const Vector& v, double* out,
                          const Work& work = Work()) const;
  // The same for several vectors, the columns of a matrix: where X is dense it is read once for all of them.
  void multiply(const Eigen::MatrixXd& beta, Eigen::MatrixXd& eta, const Work& work = Work()) const;
  void transpose_multiply(std::span<const Index> columns, const Eigen::MatrixXd& v, Eigen::MatrixXd& out,
                          const Work& work = Work()) const;
  // r <- y - X beta, column by column, and out <- X'r for the columns of X that some beta needs, which are
  // returned. They are read once for both.
  IndexSet residuals(const Vector& y, const Eigen::MatrixXd& beta, Eigen::MatrixXd& r, Eigen::MatrixXd& out,
                     const Work& work = Work()) const;
  // out(i, k) <- x_i'x_k for the columns k = the last out.cols() of `columns`, and all i.
  void gram(std::span<const Index> columns, Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out,
            const Work& work = Work()) const;
  void axpy(Index column, double a, Vector& eta) const;  // eta <- eta + a x_j; not counted
  // Columns as they stand, one after the other: rows begin .. begin + length - 1 of each. Not counted.
  void pack(std::span<const Index> columns, Index begin, Index length, double* out) const;
  // What is called next reads these columns, or all, in about this order: keep the result for as long. Data
  // that is not in memory is read ahead by that.
  std::shared_ptr<const void> expect(std::span<const Index> columns) const;
  std::shared_ptr<const void> expect() const;
  // f(row, raw value) for the stored entries of a column, in order of rows. Not counted.
  template <class F>
  void for_each_entry(Index column, F f) const {
    columns_->for_each_entry(raw(column), f);
  }

 private:
  static constexpr Index kGroup = 32;  // columns that share a task, and a call of their storage

  struct Lengths {
    Vector norm, rounding_norm;
    double largest = 0;
    Range stored = {};
  };
  Design with(Adjustment adjustment, std::shared_ptr<Lazy<Lengths>> lengths) const;
  Design with(Adjustment adjustment, Vector norm, Vector rounding_norm) const;
  static Lengths lengths_of(Vector norm, Vector rounding_norm, const Vector& scale);
  const Lengths& lengths() const {  // data as it was read is measured only if somebody asks
    return lengths_->get([&] { return measured(); });
  }
  Lengths measured() const;
  template <class Task>
  void for_each_moments(const RowWeights& rows, bool center, const Work& work, Task task) const;
  Design with_direction(const Vector& direction, const Vector& along) const;

  Index count_read(std::span<const Index> columns, const Work& work) const;  // returns what it adds
  Design copied(std::span<const Index> columns) const;                       // as gather, not counted
  // eta <- eta + the sum of the columns, each times its factor, in blocks of rows.
  void add_in_blocks(std::span<const Index> columns, const Vector& factors, int threads, Vector& eta) const;
  // x_j'v from raw_j'D v and B'v of all classes: see Adjustment::corrected.
  double corrected(double product, Index column, const Vector& along) const {
    const Index directions = offsets().rows();
    return adjustment_->corrected(product, column, along.segment(class_of(column) * directions, directions));
  }
  // f(numbers in storage) for groups of some columns.
  template <class F>
  void for_each_group(std::span<const Index> columns, F f) const;
  // f(first row, entries less their mean) for blocks of some rows of a column, zeros that are not stored
  // included.
  template <class F>
  void for_each_block(Index column, RowRange rows, F f) const;
  // For a nearly constant column, less its mean: out[k] <- the product with v_k, the k-th of several vectors;
  // eta <- eta + a times some rows of it.
  void dots_less_mean(Index column, const double* v, Index count, double* out) const;
  void add_less_mean(Index column, double a, RowRange rows, Vector& eta) const;
  void add_columns(std::span<const Index> columns, const Vector& factors, RowRange rows, Vector& eta) const;
  void correlate_group(std::span<const Index> columns, const Vector& v, double* out) const;
  void correlate_group(std::span<const Index> columns, const Eigen::MatrixXd& v,
                       Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out) const;
  void gram_of_blocks(std::span<const Index> columns,
                      Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out, const Work& work) const;

  std::shared_ptr<const Columns> columns_;
  std::shared_ptr<const Selection> selection_;  // numbers in storage
  std::shared_ptr<const Adjustment> adjustment_;
  std::shared_ptr<Lazy<Lengths>> lengths_ = std::make_shared<Lazy<Lengths>>();
};

template <class F>
void Design::for_each_group(std::span<const Index> columns, F f) const {
  std::array<Index, kGroup> numbers;
  while (!columns.empty()) {
    const std::size_t count = std::min(columns.size(), numbers.size());
    for (std::size_t k = 0; k < count; ++k) numbers[k] = raw(columns[k]);
    f(std::span<const Index>(numbers.data(), count));
    columns = columns.subspan(count);
  }
}

}  // namespace tyto
