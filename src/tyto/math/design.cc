#include "tyto/math/design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tyto/base/parallel.h"
#include "tyto/math/kernels.h"
#include "tyto/math/linear_algebra.h"

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

// The same for up to four columns and many v, in blocks of rows that stay in the innermost cache.
template <class Scalar>
void four_dots(const DenseColumns<Scalar>& x, std::span<const Index> columns, const Eigen::MatrixXd& v,
               Eigen::Matrix<double, 4, Eigen::Dynamic>& out) {
  constexpr Index kBlock = 1024;
  for (Index begin = 0; begin < x.rows; begin += kBlock) {
    const Index length = std::min(kBlock, x.rows - begin);
    std::array<const Scalar*, 4> four;
    for (std::size_t k = 0; k < 4; ++k)  // the last one again where there are fewer
      four[k] = x.data + columns[std::min(k, columns.size() - 1)] * x.rows + begin;
    for (Index k = 0; k < v.cols(); ++k)
      kernels::dot4(four.data(), v.col(k).data() + begin, length, out.col(k).data());
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
  Columns columns{IndexSet(static_cast<std::size_t>(cols)), Vector::Zero(cols), Vector::Ones(cols), {}, {}};
  std::iota(columns.raw.begin(), columns.raw.end(), Index{0});
  adopt(std::move(columns));
}

void Design::adopt(Columns columns) {
  columns.largest_magnitude = columns.magnitude.size() > 0 ? columns.magnitude.maxCoeff() : 0;
  columns_ = std::make_shared<const Columns>(std::move(columns));
}

Design Design::borrow(ColumnStorage storage, std::shared_ptr<const void> owner) {
  Design design(storage, std::move(owner));
  Columns columns = *design.columns_;
  design.measure(columns);
  design.adopt(std::move(columns));
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
          for (const Index j : columns_->raw) entries += static_cast<Index>(x.start[j + 1] - x.start[j]);
          return entries;
        } else {
          return x.rows * cols();
        }
      },
      storage_);
}

// ||x_j||^2 is summed over (raw - center)^2, which does not cancel; the entries a sparse column does not
// store contribute center^2 each.
void Design::measure(Columns& columns) const {
  columns.norm.resize(cols()), columns.magnitude.resize(cols());
  const Index tasks = (cols() + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, stored_entries()), [&](Index task) {
    for (Index j = task * kColumnGroup; j < std::min(cols(), (task + 1) * kColumnGroup); ++j) {
      double centred = 0, raw = 0;
      Index stored = 0;
      const double center = columns.center[j], scale = columns.scale[j], absent = center / scale;
      for_each_entry(j, [&](Index, double value) {
        const double x = value / scale, deviation = (value - center) / scale;
        centred += deviation * deviation, raw += x * x, ++stored;
      });
      columns.norm[j] = std::sqrt(centred + static_cast<double>(rows_ - stored) * absent * absent);
      columns.magnitude[j] = std::sqrt(raw);
    }
  });
}

Design Design::standardized(bool center, bool scale) const {
  Design result = *this;
  Columns columns = *columns_;
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
      columns.center[j] = !center ? 0.0 : least == most ? least : sum / n;
      columns.scale[j] = 1;
    }
  });
  measure(columns);
  for (Index j = 0; scale && rows_ > 0 && j < cols(); ++j)
    if (columns.norm[j] > 0) {
      columns.scale[j] = columns.norm[j] / std::sqrt(n);
      columns.magnitude[j] /= columns.scale[j];
      columns.norm[j] = std::sqrt(n);
    }
  result.adopt(std::move(columns));
  return result;
}

bool Design::is_zero(Index column) const {
  bool zero = true;
  for_each_entry(column, [&](Index, double value) { zero = zero && value == 0; });
  return zero;
}

Design Design::select(std::span<const Index> columns) const {
  const auto count = std::ssize(columns);
  const Columns& from = *columns_;
  Columns to{IndexSet(columns.size()), Vector(count), Vector(count), Vector(count), Vector(count)};
  for (Index k = 0; k < count; ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    to.raw[static_cast<std::size_t>(k)] = raw(j);
    to.center[k] = from.center[j], to.scale[k] = from.scale[j];
    to.norm[k] = from.norm[j], to.magnitude[k] = from.magnitude[j];
  }
  Design result = *this;
  result.adopt(std::move(to));
  return result;
}

Design Design::with_threads(int threads) const {
  Design result = *this;
  result.threads_ = threads;
  return result;
}

Design Design::with_counter() const {
  Design result = *this;
  result.entries_read_ = std::make_shared<Index>(0);
  return result;
}

Index Design::find(Index raw) const {
  const auto found = std::lower_bound(columns_->raw.begin(), columns_->raw.end(), raw);
  return found != columns_->raw.end() && *found == raw ? found - columns_->raw.begin() : -1;
}

Index Design::count_read(std::span<const Index> columns) const {
  Index entries = 0;
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; }) {
          for (const Index j : columns) entries += static_cast<Index>(x.start[raw(j) + 1] - x.start[raw(j)]);
        } else {
          entries = x.rows * std::ssize(columns);
        }
      },
      storage_);
  *entries_read_ += entries;
  return entries;
}

void Design::transpose_multiply(std::span<const Index> columns, const Vector& v, double* out) const {
  const Index entries = count_read(columns);
  const double sum = v.sum();
  const Index tasks = (std::ssize(columns) + kColumnGroup - 1) / kColumnGroup;
  parallel_for(tasks, useful_threads(threads_, entries), [&](Index task) {
    const Index begin = task * kColumnGroup, count = std::min(kColumnGroup, std::ssize(columns) - begin);
    std::array<Index, kColumnGroup> group;
    for (Index k = 0; k < count; ++k)
      group[static_cast<std::size_t>(k)] = raw(columns[static_cast<std::size_t>(begin + k)]);
    std::visit(
        [&](const auto& x) {
          dots(x, {group.data(), static_cast<std::size_t>(count)}, v.data(), out + begin);
        },
        storage_);
    for (Index k = begin; k < begin + count; ++k) {
      const Index j = columns[static_cast<std::size_t>(k)];
      out[k] = (out[k] - centers()[j] * sum) / scales()[j];
    }
  });
}

void Design::pack(std::span<const Index> columns, Index begin, Index length, double* out) const {
  for (const Index j : columns) {
    const double center = centers()[j], factor = 1 / scales()[j];
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.start; }) {
            std::fill_n(out, length, -center * factor);
            for (auto k = x.start[raw(j)]; k < x.start[raw(j) + 1]; ++k)
              if (x.row[k] >= begin && x.row[k] < begin + length)
                out[x.row[k] - begin] = (static_cast<double>(x.value[k]) - center) * factor;
          } else {
            const auto* from = x.data + raw(j) * x.rows + begin;
            for (Index i = 0; i < length; ++i) out[i] = (static_cast<double>(from[i]) - center) * factor;
          }
        },
        storage_);
    out += length;
  }
}

// Dense columns in tiles, by blocks of rows that stay in the cache; sparse ones one at a time against all.
void Design::products(std::span<const Index> columns,
                      Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out) const {
  const Index all = std::ssize(columns), fresh = out.cols();
  count_read(columns);
  if (is_sparse()) {
    Vector v(rows_);
    for (Index k = 0; k < fresh; ++k) {
      pack(columns.subspan(static_cast<std::size_t>(all - fresh + k), 1), 0, rows_, v.data());
      transpose_multiply(columns, v, out.col(k).data());
    }
    return;
  }
  constexpr Index kTile = 128, kBlock = 512;
  const Index tiles = (fresh + kTile - 1) / kTile;
  parallel_for(tiles, useful_threads(threads_, rows_ * fresh), [&](Index tile) {
    const Index begin = tile * kTile, width = std::min(kTile, fresh - begin);
    const Index height = all - fresh + begin + width;  // the rest follows by symmetry
    Matrix block(std::min(kBlock, rows_), height);
    for (Index row = 0; row < rows_; row += kBlock) {
      const Index length = std::min(kBlock, rows_ - row);
      if (length != block.rows()) block.resize(length, height);
      pack(columns.first(static_cast<std::size_t>(height)), row, length, block.data());
      transpose_product(block, block.rightCols(width), row == 0 ? 0.0 : 1.0,
                        out.block(0, begin, height, width));
    }
  });
  const Index old = all - fresh;
  for (Index k = 0; k < fresh; ++k)
    for (Index i = (k / kTile + 1) * kTile; i < fresh; ++i) out(old + i, k) = out(old + k, i);
}

void Design::transpose_multiply(const Vector& v, Vector& out) const {
  out.resize(cols());
  const double sum = v.sum();
  const Index tasks = (cols() + kColumnGroup - 1) / kColumnGroup, entries = stored_entries();
  *entries_read_ += entries;
  parallel_for(tasks, useful_threads(threads_, entries), [&](Index task) {
    const Index begin = task * kColumnGroup, count = std::min(kColumnGroup, cols() - begin);
    const std::span<const Index> group(columns_->raw.data() + begin, static_cast<std::size_t>(count));
    std::visit([&](const auto& x) { dots(x, group, v.data(), out.data() + begin); }, storage_);
    for (Index j = begin; j < begin + count; ++j) out[j] = (out[j] - centers()[j] * sum) / scales()[j];
  });
}

void Design::multiply(const Vector& beta, Vector& eta) const {
  eta.setZero(rows_);
  IndexSet support;
  double shift = 0;
  for (Index j = 0; j < cols(); ++j)
    if (beta[j] != 0) support.push_back(j), shift += beta[j] * centers()[j] / scales()[j];
  count_read(support);
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; }) {
          for (const Index j : support) add_column(x, raw(j), beta[j] / scales()[j], eta.data());
        } else {
          const Index entries = static_cast<Index>(support.size()) * rows_;
          parallel_for((rows_ + kRowBlock - 1) / kRowBlock, useful_threads(threads_, entries),
                       [&](Index block) {
                         const Index begin = block * kRowBlock, length = std::min(kRowBlock, rows_ - begin);
                         for (const Index j : support)
                           add_column(x, raw(j), beta[j] / scales()[j], eta.data(), begin, length);
                       });
        }
      },
      storage_);
  if (shift != 0) eta.array() -= shift;
}

// Blocks of rows of the columns that some beta needs, packed, times their coefficients.
void Design::multiply(const Matrix& beta, Matrix& eta) const {
  eta.resize(rows_, beta.cols());
  if (is_sparse()) {
    Vector one;
    for (Index k = 0; k < beta.cols(); ++k) multiply(Vector(beta.col(k)), one), eta.col(k) = one;
    return;
  }
  IndexSet support;
  for (Index j = 0; j < cols(); ++j)
    if ((beta.row(j).array() != 0).any()) support.push_back(j);
  const Matrix factors = beta(support, Eigen::all);
  const Index entries = count_read(support);
  constexpr Index kBlock = 256;
  parallel_for((rows_ + kBlock - 1) / kBlock, useful_threads(threads_, entries), [&](Index block) {
    const Index begin = block * kBlock, length = std::min(kBlock, rows_ - begin);
    Matrix part(length, std::ssize(support));
    pack(support, begin, length, part.data());
    product(part, factors, eta.middleRows(begin, length));
  });
}

void Design::transpose_multiply(const Matrix& v, Matrix& out) const {
  out.setZero(cols(), v.cols());
  if (is_sparse()) {
    Vector one;
    for (Index k = 0; k < v.cols(); ++k) transpose_multiply(Vector(v.col(k)), one), out.col(k) = one;
    return;
  }
  const Index entries = stored_entries(), tasks = (cols() + 3) / 4;
  *entries_read_ += entries;
  const Eigen::RowVectorXd sums = v.colwise().sum();
  parallel_for(tasks, useful_threads(threads_, entries), [&](Index task) {
    const Index begin = 4 * task, count = std::min<Index>(4, cols() - begin);
    const std::span<const Index> group(columns_->raw.data() + begin, static_cast<std::size_t>(count));
    Eigen::Matrix<double, 4, Eigen::Dynamic> part =
        Eigen::Matrix<double, 4, Eigen::Dynamic>::Zero(4, v.cols());
    std::visit(
        [&](const auto& x) {
          if constexpr (!requires { x.start; }) four_dots(x, group, v, part);
        },
        storage_);
    out.middleRows(begin, count) = part.topRows(count) - centers().segment(begin, count) * sums;
    out.middleRows(begin, count).array().colwise() /= scales().segment(begin, count).array();
  });
}

double Design::dot(Index column, const Vector& v) const {
  double result = 0;
  const std::span<const Index> one(&columns_->raw[static_cast<std::size_t>(column)], 1);
  std::visit([&](const auto& x) { dots(x, one, v.data(), &result); }, storage_);
  if (centers()[column] != 0) result -= centers()[column] * v.sum();
  return result / scales()[column];
}

void Design::axpy(Index column, double a, Vector& eta) const {
  const Index j = raw(column);
  const double factor = a / scales()[column];
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; })
          add_column(x, j, factor, eta.data());
        else
          add_column(x, j, factor, eta.data(), 0, rows_);
      },
      storage_);
  if (centers()[column] != 0) eta.array() -= factor * centers()[column];
}

}  // namespace tyto
