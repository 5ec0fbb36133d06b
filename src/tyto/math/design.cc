#include "tyto/math/design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/base/parallel.h"
#include "tyto/math/kernels.h"

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

// Sums of weight (x - mean)^2 and of weight x^2 over a column. Deviations do not cancel. The mean of a
// constant column is that constant, free of rounding: centred, it is exactly 0. Not centred, the mean is 0.
struct Moments {
  double mean, deviation, squares;
};

// How often rows count.
struct RowWeights {
  const Vector& weight;  // empty: all once
  double total;
  Index counted;  // rows of weight > 0
};

// f(0) + ... + f(n - 1), in an order that the compiler may turn into vectors and that depends on n alone.
template <class F>
double sum_of(Index n, F f) {
  constexpr Index kLanes = 8;
  std::array<double, kLanes> sums{};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) sums[static_cast<std::size_t>(k)] += f(i + k);
  for (; i < n; ++i) sums[0] += f(i);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class Scalar>
Moments moments_of(const DenseColumns<Scalar>& x, Index j, const RowWeights& rows, bool center) {
  const Vector& weight = rows.weight;
  const bool weighted = weight.size() > 0;
  const Index n = x.rows;
  const Scalar* column = x.data + j * n;
  const double* times = weight.data();
  const auto sum = [&](auto f) {  // of weight f(value)
    return sum_of(n, [&](Index i) { return times[i] * f(static_cast<double>(column[i])); });
  };
  const auto sums_less = [&](double shift) -> kernels::Sums {
    if (!weighted) return kernels::sums(column, n, shift);
    return {sum([&](double v) { return v - shift; }),
            sum([&](double v) { return (v - shift) * (v - shift); })};
  };
  const kernels::Sums sums = sums_less(0);
  if (!center || n == 0) return {0, sums.squares, sums.squares};
  const auto counts = [&](Index i) { return !weighted || weight[i] > 0; };
  Index first = 0;
  while (!counts(first)) ++first;
  bool constant = true;
  for (Index i = first; i < n && constant; ++i) constant = column[i] == column[first] || !counts(i);
  if (constant) return {static_cast<double>(column[first]), 0, sums.squares};
  // A sum of large numbers rounds; what it left out of the mean is in the sum of the deviations.
  const double near = sums.sum / rows.total;
  const kernels::Sums rest = sums_less(near);
  const double off = rest.sum / rows.total;
  return {near + off, std::max(0.0, rest.squares - off * rest.sum), sums.squares};
}

// The weight of the rows in which a column has no entry. All weight less that of the entries would be lost in
// rounding where the entries have nearly all of it: then these rows are added up themselves.
template <class Scalar, class StorageIndex>
double weight_of_zeros(const SparseColumns<Scalar, StorageIndex>& x, Index j, const RowWeights& rows,
                       double stored) {
  if (rows.weight.size() == 0) return static_cast<double>(x.rows - (x.start[j + 1] - x.start[j]));
  if (stored <= rows.total / 2) return rows.total - stored;
  double sum = 0;
  Index next = 0;
  const auto add_until = [&](Index end) {
    while (next < end) sum += rows.weight[next++];
  };
  for (StorageIndex k = x.start[j]; k < x.start[j + 1]; ++k) {
    add_until(x.row[k]);
    ++next;
  }
  add_until(x.rows);
  return sum;
}

// Entries that are not stored are zeros. Whether any of them counts is asked of numbers of rows, as sums of
// weights round.
template <class Scalar, class StorageIndex>
Moments moments_of(const SparseColumns<Scalar, StorageIndex>& x, Index j, const RowWeights& rows,
                   bool center) {
  const Vector& weight = rows.weight;
  const bool weighted = weight.size() > 0;
  const auto each = [&](auto&& f) {
    for (StorageIndex k = x.start[j]; k < x.start[j + 1]; ++k)
      f(static_cast<double>(x.value[k]), weighted ? weight[x.row[k]] : 1);
  };
  double sum = 0, squares = 0, stored = 0;
  Index entries = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  each([&](double value, double times) {
    sum += times * value, squares += times * value * value, stored += times;
    if (times > 0) ++entries, least = std::min(least, value), most = std::max(most, value);
  });
  if (!center) return {0, squares, squares};
  const bool zeros = entries < rows.counted;
  if (zeros) least = std::min(least, 0.0), most = std::max(most, 0.0);
  if (!(least < most)) return {least == most ? least : 0, 0, squares};
  // As for dense columns: what rounding left out of the mean is in the sum of the deviations.
  const double near = sum / rows.total, at_zero = zeros ? weight_of_zeros(x, j, rows, stored) : 0;
  double rest = -at_zero * near, deviation = at_zero * near * near;
  each([&](double value, double times) {
    rest += times * (value - near);
    deviation += times * (value - near) * (value - near);
  });
  const double off = rest / rows.total;
  return {near + off, std::max(0.0, deviation - off * rest), squares};
}

// A column whose mean is large beside what is left without it: the mean will be taken off first. Then the
// errors of x_j'r are those of ||x_j||, and an error of the mean, eps ||raw_j||, times one of the mean of r,
// of which a part eps ||raw_j|| / ||x_j|| may come from the same column.
bool is_far(double norm, double magnitude) {
  constexpr double kFar = 64;
  return magnitude > kFar * norm;
}
double magnitude_of_far(double norm, double magnitude) {
  if (!std::isfinite(magnitude)) return magnitude;
  const double epsilon = std::numeric_limits<double>::epsilon();
  const double share = norm > 0 ? std::min(1.0, epsilon * magnitude / norm) : 0;
  return norm + share * magnitude;
}

Moments moments_of(const ColumnStorage& storage, Index raw, const RowWeights& rows, bool center) {
  return std::visit([&](const auto& x) { return moments_of(x, raw, rows, center); }, storage);
}

}  // namespace

Design::Design(ColumnStorage storage, std::shared_ptr<const void> owner)
    : storage_(storage), owner_(std::move(owner)) {
  Index cols = 0;
  std::visit([&](const auto& x) { rows_ = x.rows, cols = x.cols; }, storage_);
  frame_ = std::make_shared<const Frame>(
      Frame{{}, {}, Eigen::MatrixXd(rows_, 0), static_cast<double>(rows_), false, true});
  columns_ =
      std::make_shared<const Columns>(Columns{Selection::first(cols), Eigen::MatrixXd(0, cols), {}, {}});
}

Design Design::with(Columns columns, std::shared_ptr<Lazy<Lengths>> lengths) const {
  Design result = *this;
  result.columns_ = std::make_shared<const Columns>(std::move(columns));
  result.lengths_ = std::move(lengths);
  result.kept_ = nullptr;
  return result;
}

Design Design::with(Columns columns, Vector norm, Vector magnitude) const {
  auto lengths =
      std::make_shared<Lazy<Lengths>>(lengths_of(std::move(norm), std::move(magnitude), columns.scale));
  return with(std::move(columns), std::move(lengths));
}

Design::Lengths Design::lengths_of(Vector norm, Vector magnitude, const Vector& scale) {
  Lengths result{std::move(norm), std::move(magnitude)};
  if (const Vector& m = result.magnitude; m.size() > 0) {
    const auto range = [](const auto& v) {
      return Range{v.template minCoeff<Eigen::PropagateNaN>(), v.template maxCoeff<Eigen::PropagateNaN>()};
    };
    result.largest_magnitude = m.maxCoeff();
    result.stored = scale.size() > 0 ? range(m.cwiseProduct(scale)) : range(m);
  }
  return result;
}

template <class Task>
void Design::for_each_column(Task task) const {
  parallel_for(column_groups(), useful_threads(threads_, stored_entries()), [&](Index group) {
    for (Index j = group * kColumnGroup; j < std::min(cols(), (group + 1) * kColumnGroup); ++j) task(j);
  });
}

Design::Lengths Design::measured() const {  // of columns as they are stored
  const Vector once;
  const RowWeights rows{once, total_weight(), rows_};
  Vector norm(cols());
  for_each_column([&](Index j) { norm[j] = moments_of(storage_, raw(j), rows, false).squares; });
  norm = norm.cwiseSqrt();
  return lengths_of(norm, norm, {});
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
          if (cols() == x.cols) return static_cast<Index>(x.start[x.cols] - x.start[0]);
          Index entries = 0;
          for (Index k = 0; k < cols(); ++k)
            entries += static_cast<Index>(x.start[raw(k) + 1] - x.start[raw(k)]);
          return entries;
        } else {
          return x.rows * cols();
        }
      },
      storage_);
}

Design Design::standardized(bool center, bool scale, const Vector& weights) const {
  if (weights.size() > 0 && (weights.size() != rows_ || !weights.allFinite() || (weights.array() < 0).any() ||
                             !(weights.sum() > 0) || !std::isfinite(weights.sum())))
    throw InvalidArgument("observation-weights: want " + std::to_string(rows_) +
                          " finite numbers >= 0 that are not all 0");
  const bool weighted = weights.size() > 0;
  Frame frame{weights,
              weights.cwiseSqrt(),
              Eigen::MatrixXd::Ones(rows_, center ? 1 : 0),
              weighted ? weights.sum() : static_cast<double>(rows_),
              center,
              !weighted};
  if (center && weighted) frame.basis = frame.root;
  Design result = *this;
  result.frame_ = std::make_shared<const Frame>(std::move(frame));
  Columns columns{
      columns_->raw, Eigen::MatrixXd(center ? 1 : 0, cols()), vector_to_write(scale ? cols() : 0), {}};
  prefer_huge_pages(columns.offset);
  Vector norms = vector_to_write(cols()), magnitudes = vector_to_write(cols());
  const RowWeights rows{weights, result.total_weight(), weighted ? (weights.array() > 0).count() : rows_};
  for_each_column([&](Index j) {
    const Moments m = moments_of(storage_, raw(j), rows, center);
    if (center) columns.offset(0, j) = m.mean;
    norms[j] = m.deviation, magnitudes[j] = m.squares;
  });
  magnitudes = magnitudes.cwiseSqrt();
  norms = norms.cwiseSqrt();  // the same, if columns are not centred
  const double length = std::sqrt(rows.total);
  for (Index j = 0; j < cols() && (center || scale); ++j) {
    if (center && is_far(norms[j], magnitudes[j])) {
      columns.far.resize(static_cast<std::size_t>(cols()));
      columns.far[static_cast<std::size_t>(j)] = true;
      magnitudes[j] = magnitude_of_far(norms[j], magnitudes[j]);
    }
    if (!scale) continue;
    columns.scale[j] = norms[j] > 0 ? norms[j] / length : 1;  // a constant column keeps its scale
    magnitudes[j] /= columns.scale[j];
    if (norms[j] > 0) norms[j] = length;
  }
  return result.with(std::move(columns), std::move(norms), std::move(magnitudes));
}

// Gram-Schmidt, twice. The norm that is left over is raised by its rounding error, since screening rests on
// it; where little is left, it is measured. A column of which nothing is left is 0: divided by infinity.
Design Design::without(Index column) const {
  constexpr double kLittle = 1e-6, kNothing = 1e-10, kInfinity = std::numeric_limits<double>::infinity();
  Vector direction(rows_), along;
  pack({&column, 1}, 0, rows_, direction.data());
  direction -= basis() * coordinates(direction);
  const double length = direction.norm();
  if (!(length > kNothing * norms()[column])) return *this;
  direction /= length;
  transpose_multiply(direction, along);
  const Index count = basis().cols();
  Frame frame = *frame_;
  frame.plain = false;
  frame.basis.conservativeResize(rows_, count + 1);
  frame.basis.col(count) = direction;
  Design result = *this;
  result.frame_ = std::make_shared<const Frame>(std::move(frame));
  Columns columns{columns_->raw, columns_->offset, scales(), columns_->far};
  columns.offset.conservativeResize(count + 1, cols());
  for (Index j = 0; j < cols(); ++j)
    columns.offset(count, j) = columns.scale[j] < kInfinity ? along[j] * columns.scale[j] : 0;
  result.columns_ = std::make_shared<const Columns>(columns);  // for pack() below
  Vector norm = norms(), magnitude = magnitudes();
  const double rounding = static_cast<double>(rows_ + 16) * std::numeric_limits<double>::epsilon();
  for (Index j = 0; j < cols(); ++j) {
    const double before = norm[j], left = before * before - along[j] * along[j];
    if (left > kLittle * before * before) {
      norm[j] = std::sqrt(left + rounding * before * before);
    } else if (before > 0) {
      Vector rest(rows_);
      result.pack({&j, 1}, 0, rows_, rest.data());
      norm[j] = rest.norm() + rounding * magnitude[j];
      if (rest.norm() <= kNothing * before) norm[j] = magnitude[j] = 0, columns.scale[j] = kInfinity;
    }
  }
  return result.with(std::move(columns), std::move(norm), std::move(magnitude));
}

Vector Design::coordinates(const Vector& v) const {
  return (basis().transpose() * v).cwiseQuotient(basis().colwise().squaredNorm().transpose());
}

bool Design::is_zero(Index column) const {
  bool zero = true;
  if (far(column) && norms()[column] == 0) return zero;  // a constant less itself
  for_each_entry(column, [&](Index i, double value) {
    zero = zero && (value == 0 || (frame_->weight.size() > 0 && frame_->weight[i] == 0));
  });
  return zero;
}

Design Design::select(std::span<const Index> columns) const {
  const auto count = std::ssize(columns);
  const Columns& from = *columns_;
  const bool scaled = is_scaled();
  Columns to{from.raw.at(columns), Eigen::MatrixXd(from.offset.rows(), count), Vector(scaled ? count : 0),
             std::vector<bool>(from.far.empty() ? 0 : columns.size())};
  for (Index k = 0; k < count; ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    for (Index d = 0; d < from.offset.rows(); ++d) to.offset(d, k) = from.offset(d, j);
    if (scaled) to.scale[k] = from.scale[j];
    if (far(j)) to.far[static_cast<std::size_t>(k)] = true;
  }
  if (!lengths_->known()) return with(std::move(to), std::make_shared<Lazy<Lengths>>());
  return with(std::move(to), norms()(columns), magnitudes()(columns));
}

Design Design::with_threads(int threads) const {
  Design result = *this;
  result.threads_ = threads;
  return result;
}

Design Design::with_counter() const {
  Design result = *this;
  result.entries_read_ = std::make_shared<std::atomic<Index>>(0);
  return result;
}

}  // namespace tyto
