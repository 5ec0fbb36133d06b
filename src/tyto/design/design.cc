#include "tyto/design/design.h"

#include <cmath>
#include <limits>
#include <string>

#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/base/parallel.h"
#include "tyto/columns/class_columns.h"
#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"

namespace tyto {
namespace {

template <class Matrix>
Design own_sparse(Matrix& x) {
  const auto owner = std::make_shared<Matrix>();
  owner->swap(x);  // Eigen's sparse matrices have no move constructor: moving one copies it
  owner->makeCompressed();
  using View = SparseView<typename Matrix::Scalar, typename Matrix::StorageIndex>;
  return Design(sparse_columns(
      View{owner->valuePtr(), owner->innerIndexPtr(), owner->outerIndexPtr(), owner->rows(), owner->cols()},
      owner));
}

template <class Matrix>
Design own_dense(Matrix x) {
  const auto owner = std::make_shared<const Matrix>(std::move(x));
  return Design(
      dense_columns(DenseView<typename Matrix::Scalar>{owner->data(), owner->rows(), owner->cols()}, owner));
}

// A column whose mean is large beside what is left without it: the mean will be taken off first. Then the
// errors of x_j'r are those of ||x_j||, and an error of the mean, eps ||raw_j||, times one of the mean of r,
// of which a part eps ||raw_j|| / ||x_j|| may come from the same column.
bool is_nearly_constant(double norm, double rounding_norm) {
  constexpr double kLarge = 64;
  return rounding_norm > kLarge * norm;
}
double rounding_norm_less_mean(double norm, double rounding_norm) {
  if (!std::isfinite(rounding_norm)) return rounding_norm;
  const double epsilon = std::numeric_limits<double>::epsilon();
  const double share = norm > 0 ? std::min(1.0, epsilon * rounding_norm / norm) : 0;
  return norm + share * rounding_norm;
}

void check_weights(const Vector& weights, Index rows) {
  if (weights.size() == 0) return;
  if (weights.size() != rows || !weights.allFinite() || (weights.array() < 0).any() || !(weights.sum() > 0) ||
      !std::isfinite(weights.sum()))
    throw InvalidArgument("observation-weights: want " + std::to_string(rows) +
                          " finite numbers >= 0 that are not all 0");
}

RowAdjustment row_adjustment(Index rows, bool center, const Vector& weights) {
  const bool weighted = weights.size() > 0;
  RowAdjustment result{weights,
                       weights.cwiseSqrt(),
                       Eigen::MatrixXd::Ones(rows, center ? 1 : 0),
                       weighted ? weights.sum() : static_cast<double>(rows),
                       center,
                       !weighted};
  if (center && weighted) result.basis = result.root;
  return result;
}

// Marks columns that are nearly constant and scales all of them, where this is wanted.
void standardize(Adjustment& to, Vector& norms, Vector& rounding_norms) {
  const bool center = to.rows->centred;
  const bool scale = to.scale.size() > 0;
  const double length = std::sqrt(to.rows->total);
  for (Index j = 0; j < norms.size() && (center || scale); ++j) {
    if (center && is_nearly_constant(norms[j], rounding_norms[j])) {
      to.nearly_constant.resize(static_cast<std::size_t>(norms.size()));
      to.nearly_constant[static_cast<std::size_t>(j)] = true;
      rounding_norms[j] = rounding_norm_less_mean(norms[j], rounding_norms[j]);
    }
    if (!scale) continue;
    to.scale[j] = norms[j] > 0 ? norms[j] / length : 1;  // a constant column keeps its scale
    rounding_norms[j] /= to.scale[j];
    if (norms[j] > 0) norms[j] = length;
  }
}

}  // namespace

Design::Design() : Design(dense_columns(DenseView<double>{nullptr, 0, 0}, nullptr)) {}

Design::Design(std::shared_ptr<const Columns> columns)
    : columns_(std::move(columns)),
      selection_(std::make_shared<const Selection>(Selection::first(columns_->cols()))),
      adjustment_(std::make_shared<const Adjustment>(Adjustment::none(columns_->rows(), columns_->cols()))) {}

Design Design::dense(Eigen::MatrixXd x) { return own_dense(std::move(x)); }
Design Design::dense(Eigen::MatrixXf x) { return own_dense(std::move(x)); }
Design Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x) { return own_sparse(x); }
Design Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x) { return own_sparse(x); }
Design Design::sparse(Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t> x) { return own_sparse(x); }

Index Design::stored_entries() const {
  if (!is_sparse()) return rows() / classes() * cols();
  if (cols() == columns_->cols()) return columns_->entries();
  std::array<Index, kGroup> room;
  Index entries = 0;
  for (Index begin = 0; begin < cols(); begin += kGroup)
    entries += columns_->entries(selection_->part(begin, std::min(kGroup, cols() - begin), room));
  return entries;
}

Index Design::stored_entries(std::span<const Index> columns) const {
  if (!is_sparse()) return rows() / classes() * std::ssize(columns);
  Index entries = 0;
  for_each_group(columns, [&](std::span<const Index> group) { entries += columns_->entries(group); });
  return entries;
}

Design Design::with(Adjustment adjustment, std::shared_ptr<Lazy<Lengths>> lengths) const {
  Design result = *this;
  result.adjustment_ = std::make_shared<const Adjustment>(std::move(adjustment));
  result.lengths_ = std::move(lengths);
  return result;
}

Design Design::with(Adjustment adjustment, Vector norm, Vector rounding_norm) const {
  auto lengths = std::make_shared<Lazy<Lengths>>(
      lengths_of(std::move(norm), std::move(rounding_norm), adjustment.scale));
  return with(std::move(adjustment), std::move(lengths));
}

Design::Lengths Design::lengths_of(Vector norm, Vector rounding_norm, const Vector& scale) {
  Lengths result{std::move(norm), std::move(rounding_norm)};
  if (const Vector& m = result.rounding_norm; m.size() > 0) {
    const auto range = [](const auto& v) {
      return Range{v.template minCoeff<Eigen::PropagateNaN>(), v.template maxCoeff<Eigen::PropagateNaN>()};
    };
    result.largest = m.maxCoeff();
    result.stored = scale.size() > 0 ? range(m.cwiseProduct(scale)) : range(m);
  }
  return result;
}

// task(column, its moments), on threads.
template <class Task>
void Design::for_each_moments(const RowWeights& rows, bool center, const Work& work, Task task) const {
  const Index groups = (cols() + kGroup - 1) / kGroup;
  const auto expected = expect();
  parallel_for(groups, useful_threads(work.threads(), stored_entries()), [&](Index group) {
    const Index begin = group * kGroup;
    const Index count = std::min(kGroup, cols() - begin);
    std::array<Index, kGroup> room;
    std::array<Moments, kGroup> found;
    columns_->moments(selection_->part(begin, count, room), rows, center, found.data());
    for (Index k = 0; k < count; ++k) task(begin + k, found[static_cast<std::size_t>(k)]);
  });
}

Design::Lengths Design::measured() const {  // of columns as they are stored
  const Vector once;
  Vector norm(cols());
  for_each_moments({once, total_weight(), rows()}, false, Work(),
                   [&](Index j, const Moments& m) { norm[j] = m.squares; });
  norm = norm.cwiseSqrt();
  return lengths_of(norm, norm, {});
}

Design Design::standardized(bool center, bool scale, const Vector& weights, const Work& work) const {
  check_weights(weights, rows());
  Adjustment to{std::make_shared<const RowAdjustment>(row_adjustment(rows(), center, weights)),
                Eigen::MatrixXd(center ? 1 : 0, cols()),
                vector_to_write(scale ? cols() : 0),
                {}};
  prefer_huge_pages(to.offset);
  Vector norms = vector_to_write(cols());
  Vector rounding_norms = vector_to_write(cols());
  const Index counted = weights.size() > 0 ? (weights.array() > 0).count() : rows();
  for_each_moments({weights, to.rows->total, counted}, center, work, [&](Index j, const Moments& m) {
    if (center) to.offset(0, j) = m.mean;
    norms[j] = m.deviation;
    rounding_norms[j] = m.squares;
  });
  rounding_norms = rounding_norms.cwiseSqrt();
  norms = norms.cwiseSqrt();  // the same, if columns are not centred
  standardize(to, norms, rounding_norms);
  return with(std::move(to), std::move(norms), std::move(rounding_norms));
}

// Gram-Schmidt, twice.
Design Design::without(Index column, const Work& work) const {
  constexpr double kNothing = 1e-10;
  Vector direction(rows());
  Vector along;
  pack({&column, 1}, 0, rows(), direction.data());
  direction -= basis() * coordinates(direction);
  const double length = direction.norm();
  if (!(length > kNothing * norms()[column])) return *this;
  direction /= length;
  transpose_multiply(direction, along, work);
  return with_direction(direction, along);
}

Design Design::reweighted(const Vector& factors, const Work& work) const {
  const RowAdjustment& before = *adjustment_->rows;
  const Vector weights = before.weight.size() > 0 ? Vector(before.weight.cwiseProduct(factors)) : factors;
  Design result = standardized(before.centred, false, weights, work);
  if (is_scaled()) {
    Adjustment to = *result.adjustment_;
    to.scale = adjustment_->scale;
    result = result.with(std::move(to), result.norms().cwiseQuotient(adjustment_->scale),
                         result.rounding_norms().cwiseQuotient(adjustment_->scale));
  }
  for (Index d = before.centred ? 1 : 0; d < before.basis.cols(); ++d) {
    Vector direction = factors.cwiseSqrt().cwiseProduct(before.basis.col(d));
    direction -= result.basis() * result.coordinates(direction);
    const double length = direction.norm();
    if (!(length > 0)) continue;
    direction /= length;
    Vector along;
    result.transpose_multiply(direction, along, work);
    result = result.with_direction(direction, along);
  }
  return result;
}

// One more direction is taken out; `along`: how much of it each column has. The norm that is left over is
// raised by its rounding error, since screening rests on it; where little is left, it is measured. A column
// of which nothing is left is 0: divided by infinity.
Design Design::with_direction(const Vector& direction, const Vector& along) const {
  constexpr double kLittle = 1e-6, kNothing = 1e-10, kInfinity = std::numeric_limits<double>::infinity();
  const Index count = basis().cols();
  RowAdjustment rows_without = *adjustment_->rows;
  rows_without.plain = false;
  rows_without.basis.conservativeResize(rows(), count + 1);
  rows_without.basis.col(count) = direction;
  Adjustment to{std::make_shared<const RowAdjustment>(std::move(rows_without)), offsets(), scales(),
                adjustment_->nearly_constant};
  to.offset.conservativeResize(count + 1, cols());
  for (Index j = 0; j < cols(); ++j)
    to.offset(count, j) = to.scale[j] < kInfinity ? along[j] * to.scale[j] : 0;
  const Design result = with(to, std::make_shared<Lazy<Lengths>>());  // for pack() below
  Vector norm = norms();
  Vector rounding_norm = rounding_norms();
  const double rounding = static_cast<double>(rows() + 16) * std::numeric_limits<double>::epsilon();
  for (Index j = 0; j < cols(); ++j) {
    const double before = norm[j];
    const double left = before * before - along[j] * along[j];
    if (left > kLittle * before * before) {
      norm[j] = std::sqrt(left + rounding * before * before);
    } else if (before > 0) {
      Vector rest(rows());
      result.pack({&j, 1}, 0, rows(), rest.data());
      norm[j] = rest.norm() + rounding * rounding_norm[j];
      if (rest.norm() > kNothing * before) continue;
      norm[j] = rounding_norm[j] = 0;
      to.scale[j] = kInfinity;
    }
  }
  return with(std::move(to), std::move(norm), std::move(rounding_norm));
}

Vector Design::coordinates(const Vector& v) const {
  return (basis().transpose() * v).cwiseQuotient(basis().colwise().squaredNorm().transpose());
}

bool Design::is_zero(Index column) const {
  bool zero = true;
  if (adjustment_->is_nearly_constant(column) && norms()[column] == 0) return zero;  // a constant less itself
  const Vector& weight = adjustment_->rows->weight;
  for_each_entry(column, [&](Index i, double value) {
    zero = zero && (value == 0 || (weight.size() > 0 && weight[i % weight.size()] == 0));  // of its class
  });
  return zero;
}

Design Design::select(std::span<const Index> columns) const {
  Adjustment to = adjustment_->select(columns);
  const bool known = lengths_->known();
  Design result = known ? with(std::move(to), norms()(columns), rounding_norms()(columns))
                        : with(std::move(to), std::make_shared<Lazy<Lengths>>());
  result.selection_ = std::make_shared<const Selection>(selection_->at(columns));
  return result;
}

Design Design::gather(std::span<const Index> columns, const Work& work) const {
  count_read(columns, work);
  return copied(columns);
}

Design Design::copied(std::span<const Index> columns) const {
  Design result = select(columns);
  result.columns_ = columns_->copy_columns(selection_->at(columns));
  if (!result.columns_) throw InvalidArgument("gather: want columns that can be copied into memory");
  result.selection_ = std::make_shared<const Selection>(Selection::first(std::ssize(columns)));
  return result;
}

std::shared_ptr<const void> Design::expect(std::span<const Index> columns) const {
  return is_slow() ? columns_->expect(selection_->at(columns)) : nullptr;
}

std::shared_ptr<const void> Design::expect() const {
  return is_slow() ? expect(all_but({}, cols())) : nullptr;
}

Design Design::for_classes(Index classes) const {
  IndexSet columns;  // each as often as there are classes
  for (Index j = 0; j < cols(); ++j) columns.insert(columns.end(), static_cast<std::size_t>(classes), j);
  Adjustment to = adjustment_->select(columns);
  RowAdjustment of_each = *to.rows;
  of_each.classes = classes;
  to.rows = std::make_shared<const RowAdjustment>(std::move(of_each));
  Design result = with(std::move(to), norms()(columns), rounding_norms()(columns));
  result.columns_ = class_columns(columns_, classes);
  if (cols() == columns_->cols()) {
    result.selection_ = std::make_shared<const Selection>(Selection::first(result.columns_->cols()));
    return result;
  }
  for (std::size_t k = 0; k < columns.size(); ++k)
    columns[k] = raw(columns[k]) * classes + static_cast<Index>(k) % classes;
  result.selection_ = std::make_shared<const Selection>(std::move(columns));
  return result;
}

Design Design::take_rows(std::span<const Index> rows) const {
  const auto copy = columns_->copy_rows(selection_->at(all_but({}, cols())), rows);
  if (!copy) throw InvalidArgument("take_rows: want rows that can be copied into memory");
  return Design(copy);
}

}  // namespace tyto
