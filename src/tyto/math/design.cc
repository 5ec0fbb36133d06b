#include "tyto/math/design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/base/error.h"
#include "tyto/base/parallel.h"

namespace tyto {
namespace {

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

}  // namespace

Design::Design(ColumnStorage storage, std::shared_ptr<const void> owner)
    : storage_(storage), owner_(std::move(owner)) {
  Index cols = 0;
  std::visit([&](const auto& x) { rows_ = x.rows, cols = x.cols; }, storage_);
  frame_ = std::make_shared<const Frame>(Frame{{}, Eigen::MatrixXd(rows_, 0), static_cast<double>(rows_)});
  Columns columns{
      IndexSet(static_cast<std::size_t>(cols)), Eigen::MatrixXd(0, cols), Vector::Ones(cols), {}, {}};
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

// ||x_j||^2 is summed over weight (raw - mean)^2, which does not cancel; the entries a sparse column does not
// store contribute mean^2 each.
void Design::measure(Columns& columns) const {
  columns.norm.resize(cols()), columns.magnitude.resize(cols());
  const bool centred = columns.offset.rows() > 0;
  parallel_for(column_groups(), useful_threads(threads_, stored_entries()), [&](Index task) {
    for (Index j = task * kColumnGroup; j < std::min(cols(), (task + 1) * kColumnGroup); ++j) {
      double squares = 0, raw = 0, stored = 0;
      const double mean = centred ? columns.offset(0, j) : 0, scale = columns.scale[j], absent = mean / scale;
      for_each_entry(j, [&](Index i, double value) {
        const double x = value / scale, deviation = (value - mean) / scale, times = weight(i);
        squares += times * deviation * deviation, raw += times * x * x, stored += times;
      });
      columns.norm[j] = std::sqrt(squares + std::max(0.0, frame_->total - stored) * absent * absent);
      columns.magnitude[j] = std::sqrt(raw);
    }
  });
}

Design Design::weighted(const Vector& weights) const {
  if (weights.size() != rows_ || !weights.allFinite() || (weights.array() < 0).any() || !(weights.sum() > 0))
    throw InvalidArgument("observation-weights: want " + std::to_string(rows_) +
                          " finite numbers >= 0 that are not all 0");
  Design result = *this;
  result.frame_ = std::make_shared<const Frame>(
      Frame{weights.cwiseSqrt(), Eigen::MatrixXd(rows_, 0), weights.sum(), false});
  Columns columns{columns_->raw, Eigen::MatrixXd(0, cols()), Vector::Ones(cols()), {}, {}};
  result.measure(columns);
  result.adopt(std::move(columns));
  return result;
}

Design Design::standardized(bool center, bool scale) const {
  Design result = *this;
  Frame frame = *frame_;
  frame.basis.resize(rows_, center ? 1 : 0);
  if (center)
    frame.basis = frame.root.size() > 0 ? Eigen::MatrixXd(frame.root) : Eigen::MatrixXd::Ones(rows_, 1);
  frame.plain = frame.root.size() == 0;
  Columns columns{columns_->raw, Eigen::MatrixXd(frame.basis.cols(), cols()), Vector::Ones(cols()), {}, {}};
  parallel_for(column_groups(), useful_threads(threads_, stored_entries()), [&](Index task) {
    for (Index j = task * kColumnGroup; center && j < std::min(cols(), (task + 1) * kColumnGroup); ++j)
      columns.offset(0, j) = mean(j);
  });
  result.frame_ = std::make_shared<const Frame>(std::move(frame));
  result.measure(columns);
  const double length = std::sqrt(frame_->total);
  for (Index j = 0; scale && rows_ > 0 && j < cols(); ++j)
    if (columns.norm[j] > 0) {
      columns.scale[j] = columns.norm[j] / length;
      columns.magnitude[j] /= columns.scale[j];
      columns.norm[j] = length;
    }
  result.adopt(std::move(columns));
  return result;
}

// The mean of a constant column is that constant, free of rounding: its centred column is exactly 0.
double Design::mean(Index column) const {
  if (rows_ == 0) return 0;
  double sum = 0, seen = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  Index stored = 0;
  for_each_entry(column, [&](Index i, double value) {
    const double times = weight(i);
    sum += times * value, ++stored;
    if (times > 0) seen += times, least = std::min(least, value), most = std::max(most, value);
  });
  if (stored < rows_ && seen < frame_->total) least = std::min(least, 0.0), most = std::max(most, 0.0);
  return least == most ? least : sum / frame_->total;
}

// Gram-Schmidt, twice. The norm that is left over is raised by its rounding error, since screening rests on
// it.
Design Design::without(Index column) const {
  constexpr double kNothing = 1e-10;
  Vector direction(rows_), along;
  pack({&column, 1}, 0, rows_, direction.data());
  direction -= basis() * coordinates(direction);
  const double length = direction.norm();
  if (!(length > kNothing * magnitudes()[column])) return *this;
  direction /= length;
  transpose_multiply(direction, along);
  const Index count = basis().cols();
  Frame frame = *frame_;
  frame.plain = false;
  frame.basis.conservativeResize(rows_, count + 1);
  frame.basis.col(count) = direction;
  Columns columns = *columns_;
  columns.offset.conservativeResize(count + 1, cols());
  columns.offset.row(count) = along.cwiseProduct(scales());
  const double rounding = static_cast<double>(rows_ + 16) * std::numeric_limits<double>::epsilon();
  columns.norm = ((norms().array().square() - along.array().square()).max(0.0) +
                  rounding * magnitudes().array().square())
                     .sqrt();
  Design result = *this;
  result.frame_ = std::make_shared<const Frame>(std::move(frame));
  result.adopt(std::move(columns));
  return result;
}

Vector Design::coordinates(const Vector& v) const {
  return (basis().transpose() * v).cwiseQuotient(basis().colwise().squaredNorm().transpose());
}

bool Design::is_zero(Index column) const {
  bool zero = true;
  for_each_entry(column, [&](Index i, double value) { zero = zero && (value == 0 || weight(i) == 0); });
  return zero;
}

Design Design::select(std::span<const Index> columns) const {
  const auto count = std::ssize(columns);
  const Columns& from = *columns_;
  Columns to{IndexSet(columns.size()), Eigen::MatrixXd(from.offset.rows(), count), Vector(count),
             Vector(count), Vector(count)};
  for (Index k = 0; k < count; ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    to.raw[static_cast<std::size_t>(k)] = raw(j);
    to.offset.col(k) = from.offset.col(j), to.scale[k] = from.scale[j];
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

}  // namespace tyto
