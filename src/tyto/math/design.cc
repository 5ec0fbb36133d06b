#include "tyto/math/design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tyto/base/parallel.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

constexpr Index kRowBlock = 8192;   // 64 KiB of v stay in the cache while a group of columns goes by
constexpr Index kColumnGroup = 32;  // columns that share a task
constexpr Index kEntriesPerThread =
    1 << 19;  // below about twice this, a second thread costs more than it saves

template <class Matrix>
Design own_sparse(Matrix& x) {
  const auto owner = std::make_shared<Matrix>();
  owner->swap(x);  // Eigen's sparse matrices have no move constructor: moving one copies it
  owner->makeCompressed();
  using Columns = SparseColumns<typename Matrix::Scalar, typename Matrix::StorageIndex>;
  return Design::borrow(Columns{owner->valuePtr(), owner->innerIndexPtr(), owner->outerIndexPtr(),
                                owner->rows(), owner->cols()},
                        owner);
}

template <class Matrix>
Design own_dense(Matrix x) {
  const auto owner = std::make_shared<const Matrix>(std::move(x));
  return Design::borrow(DenseColumns<typename Matrix::Scalar>{owner->data(), owner->rows(), owner->cols()},
                        owner);
}

// Threads that pay for reading so many entries.
int useful_threads(int threads, Index entries) {
  return static_cast<int>(std::clamp<Index>(entries / kEntriesPerThread, 1, std::max(threads, 1)));
}

// raw_j'v for the columns of a group; dense columns four at a time and in blocks of rows.
template <class Scalar>
void dots(const DenseColumns<Scalar>& x, std::span<const Index> columns, const double* v, double* out) {
  std::fill_n(out, columns.size(), 0.0);
  const auto count = static_cast<Index>(columns.size());
  for (Index begin = 0; begin < x.rows; begin += kRowBlock) {
    const Index length = std::min(kRowBlock, x.rows - begin);
    const auto at = [&](Index k) { return x.data + columns[static_cast<std::size_t>(k)] * x.rows + begin; };
    Index k = 0;
    for (; k + 4 <= count; k += 4) {
      const std::array<const Scalar*, 4> four{at(k), at(k + 1), at(k + 2), at(k + 3)};
      kernels::dot4(four.data(), v + begin, length, out + k);
    }
    for (; k < count; ++k) out[k] += kernels::dot(at(k), v + begin, length);
  }
}

template <class Scalar, class StorageIndex>
void dots(const SparseColumns<Scalar, StorageIndex>& x, std::span<const Index> columns, const double* v,
          double* out) {
  for (const Index j : columns) {
    double even = 0, odd = 0;
    StorageIndex k = x.start[j];
    const StorageIndex end = x.start[j + 1];
    for (; k + 1 < end; k += 2) {
      even += static_cast<double>(x.value[k]) * v[x.row[k]];
      odd += static_cast<double>(x.value[k + 1]) * v[x.row[k + 1]];
    }
    if (k < end) even += static_cast<double>(x.value[k]) * v[x.row[k]];
    *out++ = even + odd;
  }
}

template <class Scalar>
void add_column(const DenseColumns<Scalar>& x, Index j, double a, double* eta, Index begin, Index length) {
  kernels::axpy(a, x.data + j * x.rows + begin, eta + begin, length);
}

template <class Scalar, class StorageIndex>
void add_column(const SparseColumns<Scalar, StorageIndex>& x, Index j, double a, double* eta) {
  for (StorageIndex k = x.start[j]; k < x.start[j + 1]; ++k)
    eta[x.row[k]] += a * static_cast<double>(x.value[k]);
}

}  // namespace

Design::Design(ColumnStorage storage, std::shared_ptr<const void> owner)
    : storage_(storage), owner_(std::move(owner)) {
  Index cols = 0;
  std::visit([&](const auto& x) { rows_ = x.rows, cols = x.cols; }, storage_);
  column_.resize(static_cast<std::size_t>(cols));
  std::iota(column_.begin(), column_.end(), Index{0});
  center_ = Vector::Zero(cols), scale_ = Vector::Ones(cols);
  norm_ = magnitude_ = Vector::Zero(cols);
}

Design Design::borrow(ColumnStorage storage, std::shared_ptr<const void> owner) {
  Design design(storage, std::move(owner));
  design.measure();
  return design;
}

Design Design::dense(Eigen::MatrixXd x) { return own_dense(std::move(x)); }
Design Design::dense(Eigen::MatrixXf x) { return own_dense(std::move(x)); }
Design Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x) { return own_sparse(x); }
Design Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x) { return own_sparse(x); }
Design Design::sparse(Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t> x) { return own_sparse(x); }

Index Design::stored_entries() const {
  return std::visit(
      [&](const auto& x) -> Index {
        if constexpr (requires { x.start; }) {
          Index entries = 0;
          for (const Index j : column_) entries += static_cast<Index>(x.start[j + 1] - x.start[j]);
          return entries;
        } else {
          return x.rows * cols();
        }
      },
      storage_);
}

// ||x_j||^2 is summed over (raw - center)^2, which does not cancel; the entries a sparse column does not
// store contribute center^2 each.
void Design::measure() {
  const Index tasks = (cols() + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, stored_entries()), [&](Index task) {
    for (Index j = task * kColumnGroup; j < std::min(cols(), (task + 1) * kColumnGroup); ++j) {
      double centred = 0, raw = 0;
      Index stored = 0;
      for_each_entry(j, [&](Index, double value) {
        const double x = value / scale_[j], deviation = (value - center_[j]) / scale_[j];
        centred += deviation * deviation, raw += x * x, ++stored;
      });
      const double absent = center_[j] / scale_[j];
      norm_[j] = std::sqrt(centred + static_cast<double>(rows_ - stored) * absent * absent);
      magnitude_[j] = std::sqrt(raw);
    }
  });
}

Design Design::standardized(bool center, bool scale) const {
  Design result = *this;
  const auto n = static_cast<double>(rows_);
  const Index tasks = (cols() + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, stored_entries()), [&](Index task) {
    for (Index j = task * kColumnGroup; j < std::min(cols(), (task + 1) * kColumnGroup); ++j) {
      double sum = 0, least = 0, most = 0;
      Index stored = 0;
      for_each_entry(j, [&](Index, double value) {
        least = stored == 0 ? value : std::min(least, value),
        most = stored == 0 ? value : std::max(most, value);
        sum += value, ++stored;
      });
      if (stored < rows_) least = std::min(least, 0.0), most = std::max(most, 0.0);
      // The mean of a constant column is that constant, free of rounding: its centred column is exactly 0.
      result.center_[j] = !center ? 0.0 : least == most ? least : sum / n;
      result.scale_[j] = 1;
    }
  });
  result.measure();
  if (!scale || rows_ == 0) return result;
  for (Index j = 0; j < cols(); ++j)
    if (result.norm_[j] > 0) {
      result.scale_[j] = result.norm_[j] / std::sqrt(n);
      result.magnitude_[j] /= result.scale_[j];
      result.norm_[j] = std::sqrt(n);
    }
  return result;
}

bool Design::is_zero(Index column) const {
  bool zero = true;
  for_each_entry(column, [&](Index, double value) { zero = zero && value == 0; });
  return zero;
}

Design Design::select(std::span<const Index> columns) const {
  Design result = *this;
  const auto count = static_cast<Index>(columns.size());
  result.column_.resize(columns.size());
  for (Vector* v : {&result.center_, &result.scale_, &result.norm_, &result.magnitude_}) v->resize(count);
  for (Index k = 0; k < count; ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    result.column_[static_cast<std::size_t>(k)] = column_[static_cast<std::size_t>(j)];
    result.center_[k] = center_[j], result.scale_[k] = scale_[j];
    result.norm_[k] = norm_[j], result.magnitude_[k] = magnitude_[j];
  }
  return result;
}

Design Design::with_threads(int threads) const {
  Design result = *this;
  result.threads_ = threads;
  return result;
}

void Design::transpose_multiply(const Vector& v, Vector& out) const {
  out.resize(cols());
  const double sum = v.sum();
  const Index tasks = (cols() + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, stored_entries()), [&](Index task) {
    const Index begin = task * kColumnGroup, count = std::min(kColumnGroup, cols() - begin);
    const std::span<const Index> group(column_.data() + begin, static_cast<std::size_t>(count));
    std::visit([&](const auto& x) { dots(x, group, v.data(), out.data() + begin); }, storage_);
    for (Index j = begin; j < begin + count; ++j) out[j] = (out[j] - center_[j] * sum) / scale_[j];
  });
}

void Design::multiply(const Vector& beta, Vector& eta) const {
  eta.setZero(rows_);
  IndexSet support;
  double shift = 0;
  for (Index j = 0; j < cols(); ++j)
    if (beta[j] != 0) support.push_back(j), shift += beta[j] * center_[j] / scale_[j];
  std::visit(
      [&](const auto& x) {
        const auto raw = [&](Index j) { return column_[static_cast<std::size_t>(j)]; };
        if constexpr (requires { x.start; }) {
          for (const Index j : support) add_column(x, raw(j), beta[j] / scale_[j], eta.data());
        } else {
          const Index entries = static_cast<Index>(support.size()) * rows_;
          parallel_for((rows_ + kRowBlock - 1) / kRowBlock, useful_threads(threads_, entries),
                       [&](Index block) {
                         const Index begin = block * kRowBlock, length = std::min(kRowBlock, rows_ - begin);
                         for (const Index j : support)
                           add_column(x, raw(j), beta[j] / scale_[j], eta.data(), begin, length);
                       });
        }
      },
      storage_);
  if (shift != 0) eta.array() -= shift;
}

double Design::dot(Index column, const Vector& v) const {
  double result = 0;
  const std::span<const Index> one(&column_[static_cast<std::size_t>(column)], 1);
  std::visit([&](const auto& x) { dots(x, one, v.data(), &result); }, storage_);
  if (center_[column] != 0) result -= center_[column] * v.sum();
  return result / scale_[column];
}

void Design::axpy(Index column, double a, Vector& eta) const {
  const Index j = column_[static_cast<std::size_t>(column)];
  const double factor = a / scale_[column];
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; })
          add_column(x, j, factor, eta.data());
        else
          add_column(x, j, factor, eta.data(), 0, rows_);
      },
      storage_);
  if (center_[column] != 0) eta.array() -= factor * center_[column];
}

}  // namespace tyto
