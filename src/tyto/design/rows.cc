#include "tyto/design/rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tyto/math/kernels.h"

namespace tyto {

static constexpr Index kBlock = 32;  // rows

static IndexSet numbers_up_to(Index count) {
  IndexSet all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

Rows::Rows(const Design& design) : count_(design.rows()), cols_(design.cols()), sparse_(design.is_sparse()) {
  const IndexSet columns = numbers_up_to(cols_);
  if (design.is_slow()) {  // all of it is copied in any case
    *this = Rows(design.gather(columns));
    return;
  }
  if (sparse_) {
    copy_sparse(design, numbers_up_to(count_));
    return;
  }
  value_.resize(static_cast<std::size_t>(count_ * cols_));
  Eigen::MatrixXd block;  // a few rows at a time, so that they stay in the cache while they are transposed
  for (Index i = 0; i < count_; i += kBlock) {
    block.resize(std::min(kBlock, count_ - i), cols_);
    design.pack(columns, i, block.rows(), block.data());
    Eigen::Map<Eigen::MatrixXd>(value_.data() + i * cols_, cols_, block.rows()) = block.transpose();
  }
}

Rows::Rows(const Design& design, std::span<const Index> rows)
    : count_(std::ssize(rows)), cols_(design.cols()), sparse_(design.is_sparse()) {
  if (sparse_) {
    copy_sparse(design, rows);
    return;
  }
  value_.resize(static_cast<std::size_t>(count_ * cols_));
  Vector column(design.rows());
  const auto expected = design.expect();
  for (Index j = 0; j < cols_; ++j) {
    design.pack({&j, 1}, 0, design.rows(), column.data());
    for (Index k = 0; k < count_; ++k)
      value_[static_cast<std::size_t>(k * cols_ + j)] = column[rows[static_cast<std::size_t>(k)]];
  }
}

void Rows::copy_sparse(const Design& design, std::span<const Index> rows) {
  const Vector scale = design.scales();
  const Vector& root = design.roots();
  basis_ = Eigen::MatrixXd(design.basis()(rows, Eigen::all)).transpose();
  shift_ = design.offsets() * scale.cwiseInverse().asDiagonal();
  IndexSet place(static_cast<std::size_t>(design.rows()), -1);
  for (std::size_t k = 0; k < rows.size(); ++k)
    place[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
  const auto for_each_chosen = [&](Index j, auto use) {
    design.for_each_entry(j, [&](Index i, double raw) {
      if (const Index at = place[static_cast<std::size_t>(i)]; at >= 0)
        use(static_cast<std::size_t>(at), i, raw);
    });
  };
  start_.assign(rows.size() + 1, 0);
  for (Index j = 0; j < cols_; ++j)
    for_each_chosen(j, [&](std::size_t at, Index, double) { ++start_[at + 1]; });
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  value_.resize(start_.back());
  column_.resize(start_.back());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  for (Index j = 0; j < cols_; ++j)
    for_each_chosen(j, [&](std::size_t at, Index i, double raw) {
      const std::size_t k = next[at]++;
      value_[k] = (root.size() > 0 ? root[i] : 1) * raw / scale[j];
      column_[k] = j;
    });
}

void Rows::keep_columns(std::span<const Index> columns) {
  std::size_t next = 0;
  if (!sparse_) {
    for (Index i = 0; i < count_; ++i)
      for (const Index j : columns) value_[next++] = value_[static_cast<std::size_t>(i * cols_ + j)];
  } else {
    IndexSet place(static_cast<std::size_t>(cols_), -1);
    for (std::size_t k = 0; k < columns.size(); ++k)
      place[static_cast<std::size_t>(columns[k])] = static_cast<Index>(k);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
      for (std::size_t k = std::exchange(begin, start_[i + 1]); k < begin; ++k) {
        const Index at = place[static_cast<std::size_t>(column_[k])];
        if (at < 0) continue;
        value_[next] = value_[k];
        column_[next++] = at;
      }
      start_[i + 1] = next;
    }
    column_.resize(next);
    shift_ = Eigen::MatrixXd(shift_(Eigen::all, columns));
  }
  value_.resize(next);
  cols_ = std::ssize(columns);
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

Vector squared_row_norms(const Design& design) {
  if (design.is_sparse()) return Rows(design).squared_norms();
  Vector result = Vector::Zero(design.rows());
  Vector column(design.rows());
  const auto expected = design.expect();
  for (Index j = 0; j < design.cols(); ++j) {
    design.pack({&j, 1}, 0, design.rows(), column.data());
    result.array() += column.array().square();
  }
  return result;
}

}  // namespace tyto
