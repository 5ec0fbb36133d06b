#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/columns/dense.h"
#include "tyto/data/dataset.h"
#include "tyto/data/text.h"

namespace tyto {

template <class Scalar>
using DenseMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

// To be filled. In large pages where they can be had: passes over X are up to a fifth faster.
template <class Scalar>
DenseMatrix<Scalar> make_matrix(Index rows, Index cols) {
  DenseMatrix<Scalar> x(rows, cols);
  prefer_huge_pages(x);
  return x;
}

// Fills a column-major matrix row by row. Some rows are gathered and then transposed at once: value by value,
// a wide matrix would miss the cache at every one.
template <class Scalar>
class RowWriter {
 public:
  explicit RowWriter(DenseMatrix<Scalar>& x, Index first_row = 0)
      : x_(x),
        height_(x.rows() < 8 * kHeight ? 1 : kHeight),
        row_(first_row),
        panel_(static_cast<std::size_t>(height_ * x.cols())) {}

  Scalar* next() {  // room for the next row, until the next call
    if (filled_ == height_) flush();
    return panel_.data() + x_.cols() * filled_++;
  }
  void flush() {
    const Index n = x_.rows(), p = x_.cols();
    for (Index j = 0; j < p; ++j) {
      Scalar* to = x_.data() + j * n + row_;
      const Scalar* from = panel_.data() + j;
      for (Index i = 0; i < filled_; ++i) to[i] = from[i * p];
    }
    row_ += filled_;
    filled_ = 0;
  }
  Index written() const { return row_ + filled_; }

 private:
  static constexpr Index kHeight = 16;  // rows of 8 bytes: two cache lines of each column

  DenseMatrix<Scalar>& x_;
  Index height_, filled_ = 0, row_;
  std::vector<Scalar> panel_;
};

struct MissingValues {
  Index count = 0;
  std::string first;  // "name:line: column 'age'"

  template <class Place>
  void add(Place place) {
    if (count++ == 0) first = place();
  }
};

// Whether some row has all its numbers.
template <class Scalar>
bool has_complete_row(const DenseMatrix<Scalar>& x, const Vector& y) {
  for (Index i = 0; i < x.rows(); ++i)
    if (!x.row(i).array().isNaN().any() && !(y.size() > 0 && std::isnan(y[i]))) return true;
  return false;
}

// Missing values of the first `features` columns become the mean of the others in their column, or what
// `fill` says where that is not empty, by name where there are names.
template <class Scalar>
void fill_missing(DenseMatrix<Scalar>& x, Index features, const std::vector<std::string>& names,
                  const std::vector<Filling>& fill, Dataset& data) {
  data.means.assign(static_cast<std::size_t>(features), 0);
  const auto given = [&](Index j) {
    for (const Filling& one : fill)
      if (names.empty() || one.name.empty() ? one.column == j
                                            : one.name == names[static_cast<std::size_t>(j)])
        return one.value;
    return 0.0;
  };
  for (Index j = 0; j < features; ++j) {
    const auto there = !x.col(j).array().isNaN();
    const Index count = there.count();
    data.filled += x.rows() - count;
    if (count == 0 && fill.empty())
      throw DataError((names.empty() ? "column " + std::to_string(j)
                                     : "column " + in_quotes(names[static_cast<std::size_t>(j)])) +
                      ": expected some values to take the mean of, got none; use --drop or --missing "
                      "drop-columns");
    const double sum = there.select(x.col(j).template cast<double>().array(), 0.0).sum();
    const double mean = fill.empty() ? sum / static_cast<double>(count) : given(j);
    data.means[static_cast<std::size_t>(j)] = mean;
    if (count < x.rows()) x.col(j) = there.select(x.col(j).array(), static_cast<Scalar>(mean)).eval();
  }
}

// Makes the data set's matrix and response of `x` and `y`, in which NaN stands for what is missing.
template <class Scalar>
void settle(DenseMatrix<Scalar> x, Vector y, const MissingValues& missing, Missing policy, Dataset& data) {
  Index kept = x.rows();
  if (missing.count > 0 && policy != Missing::kKeep) {
    std::vector<bool> complete(static_cast<std::size_t>(x.rows()), true);
    for (Index i = 0; i < y.size(); ++i) complete[static_cast<std::size_t>(i)] = !std::isnan(y[i]);
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i)
        if (std::isnan(x(i, j))) complete[static_cast<std::size_t>(i)] = false;
    for (Index i = 0; i < x.rows(); ++i)
      if (!complete[static_cast<std::size_t>(i)]) data.dropped_rows.push_back(i);
    kept = x.rows() - std::ssize(data.dropped_rows);
    if (policy == Missing::kRefuse)
      throw DataError(missing.first + ": missing value (" + count_of(missing.count, "missing value") +
                      " in " + count_of(x.rows() - kept, "row") + "); use --missing mean or drop-rows");
    if (kept == 0) throw DataError(missing.first + ": missing value, as in every other row: no row is left");
    const auto compact = [&](auto* from, auto* to) {  // to <= from
      for (Index i = 0; i < x.rows(); ++i)
        if (complete[static_cast<std::size_t>(i)]) *to++ = from[i];
    };
    for (Index j = 0; j < x.cols(); ++j) compact(x.data() + j * x.rows(), x.data() + j * kept);
    if (y.size() > 0) {
      compact(y.data(), y.data());
      y.conservativeResize(kept);
    }
  }
  data.response = std::move(y);
  // Where rows are left out, the memory keeps its size: a copy would cost more than it saves.
  const auto owner = std::make_shared<const DenseMatrix<Scalar>>(std::move(x));
  data.design = Design(dense_columns(DenseView<Scalar>{owner->data(), kept, owner->cols()}, owner));
}

}  // namespace tyto
