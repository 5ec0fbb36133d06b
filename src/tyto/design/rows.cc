#include "tyto/design/rows.h"

#include <numeric>

#include "tyto/math/kernels.h"

namespace tyto {

Rows::Rows(const Design& design) : count_(design.rows()), cols_(design.cols()), sparse_(design.is_sparse()) {
  const Vector scale = design.scales(), &root = design.roots();
  if (!sparse_) {
    value_.resize(static_cast<std::size_t>(count_ * cols_));
    Vector column(count_);
    for (Index j = 0; j < cols_; ++j) {
      design.pack({&j, 1}, 0, count_, column.data());
      for (Index i = 0; i < count_; ++i) value_[static_cast<std::size_t>(i * cols_ + j)] = column[i];
    }
    return;
  }
  basis_ = design.basis().transpose();
  shift_ = design.offsets() * scale.cwiseInverse().asDiagonal();
  start_.assign(static_cast<std::size_t>(count_) + 1, 0);
  for (Index j = 0; j < cols_; ++j)
    design.for_each_entry(j, [&](Index i, double) { ++start_[static_cast<std::size_t>(i) + 1]; });
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  value_.resize(start_.back()), column_.resize(start_.back());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  for (Index j = 0; j < cols_; ++j)
    design.for_each_entry(j, [&](Index i, double raw) {
      const std::size_t k = next[static_cast<std::size_t>(i)]++;
      value_[k] = (root.size() > 0 ? root[i] : 1) * raw / scale[j], column_[k] = j;
    });
}

Vector Rows::squared_norms() const {
  Vector result(count_);
  const Eigen::MatrixXd products = shift_ * shift_.transpose();  // sparse only
  for (Index i = 0; i < count_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!sparse_) {
      result[i] = kernels::dot(&value_[row * static_cast<std::size_t>(cols_)],
                               &value_[row * static_cast<std::size_t>(cols_)], cols_);
      continue;
    }
    result[i] = basis_.col(i).dot(products * basis_.col(i));  // |stored - shift' basis_i|^2, entry by entry
    for (std::size_t k = start_[row]; k < start_[row + 1]; ++k)
      result[i] += value_[k] * (value_[k] - 2 * shift_.col(column_[k]).dot(basis_.col(i)));
  }
  return result;
}

double Rows::dot(Index row, const Vector& d, const IndexSet& support) const {
  double sum = 0;
  const auto i = static_cast<std::size_t>(row);
  if (!sparse_) {
    const double* a = value_.data() + row * cols_;
    if (4 * std::ssize(support) > cols_) return kernels::dot(a, d.data(), cols_);
    for (const Index j : support) sum += a[j] * d[j];
    return sum;
  }
  for (std::size_t k = start_[i]; k < start_[i + 1]; ++k) sum += value_[k] * d[column_[k]];
  for (const Index j : support) sum -= shift_.col(j).dot(basis_.col(row)) * d[j];
  return sum;
}

void Rows::add(std::span<const Index> row, std::span<const double> factor, Vector& out) const {
  Vector total = Vector::Zero(basis_.rows());
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (!sparse_) {
      kernels::axpy(factor[k], value_.data() + row[k] * cols_, out.data(), cols_);
      continue;
    }
    const auto i = static_cast<std::size_t>(row[k]);
    for (std::size_t e = start_[i]; e < start_[i + 1]; ++e) out[column_[e]] += factor[k] * value_[e];
    total += factor[k] * basis_.col(row[k]);
  }
  if (sparse_ && total.size() > 0) out -= shift_.transpose() * total;
}

}  // namespace tyto
