#include <Eigen/Cholesky>
#include <cmath>

#include "tyto/base/rounding.h"
#include "tyto/moments/moments.h"

namespace tyto {
namespace {

// R with R'R = c, for co-moments of columns of length 1. Where c is not positive definite in floating point,
// with pivots, and without rows that are all rounding.
Matrix root_of_unit(const Matrix& c) {
  Matrix factor = c;
  if (cholesky(factor)) return factor.triangularView<Eigen::Lower>().transpose();
  const Eigen::LDLT<Matrix> pivoted(c);
  const Vector& d = pivoted.vectorD();
  const Matrix upper = pivoted.matrixU();
  const Matrix ordered = upper * pivoted.transpositionsP();
  IndexSet kept;
  for (Index i = 0; i < d.size(); ++i)
    if (d[i] > rounding::kEpsilon) kept.push_back(i);
  const Vector roots = d(kept).cwiseSqrt();
  return roots.asDiagonal() * ordered(kept, Eigen::all);
}

// R with R'R = c. Columns that are 0 stay exactly that.
Matrix root_of(const Matrix& c) {
  IndexSet varied;
  for (Index j = 0; j < c.cols(); ++j)
    if (c(j, j) > 0) varied.push_back(j);
  const Vector lengths = c.diagonal()(varied).cwiseSqrt();
  const Vector inverse = lengths.cwiseInverse();
  const Matrix some = c(varied, varied);
  Matrix unit = inverse.asDiagonal() * some * inverse.asDiagonal();
  unit.diagonal().setOnes();
  const Matrix factor = root_of_unit(unit);
  Matrix result = Matrix::Zero(factor.rows(), c.cols());
  for (std::size_t k = 0; k < varied.size(); ++k)
    result.col(varied[k]) = factor.col(static_cast<Index>(k)) * lengths[static_cast<Index>(k)];
  return result;
}

// Rows of weight W/k with these moments: sqrt(k/W) Q [sqrt(W) (mean - origin)'; R], with the reflection Q
// that turns the first unit vector into 1/sqrt(k), so that the rows have this mean.
Matrix rows_of(const CoMoments& moments, const Means& origin) {
  const Matrix root = root_of(moments.comoment);
  const Index k = root.rows() + 1;
  Matrix rows(k, root.cols());
  rows.row(0) = std::sqrt(moments.weight) * (moments.mean - origin).cast<double>().transpose();
  rows.bottomRows(k - 1) = root;
  Vector normal = Vector::Constant(k, -1 / std::sqrt(static_cast<double>(k)));
  normal[0] += 1;
  if (const double square = normal.squaredNorm(); square > 0) {
    const Eigen::RowVectorXd along = (2 / square) * (normal.transpose() * rows);
    for (Index j = 0; j < rows.cols(); ++j) rows.col(j) -= normal * along[j];
  }
  return std::sqrt(static_cast<double>(k) / moments.weight) * rows;
}

}  // namespace

Dataset equivalent_rows(const MomentSet& set, bool centred, std::vector<Index>& folds) {
  const CoMoments total = set.total();
  const Index p = set.features();
  const Means centre = centred ? total.mean : Means(Means::Zero(p + 1));
  std::vector<Matrix> parts;
  Index count = 0;
  for (const CoMoments& fold : set.folds) {
    parts.push_back(fold.rows > 0 ? rows_of(fold, centre) : Matrix(0, p + 1));
    count += parts.back().rows();
  }
  Matrix x(count, p);
  Dataset data;
  data.response.resize(count);
  data.row_weights.resize(count);
  folds.clear();
  for (std::size_t f = 0; f < parts.size(); ++f) {
    const Index k = parts[f].rows();
    const Index first = std::ssize(folds);
    x.middleRows(first, k) = parts[f].leftCols(p);
    data.response.segment(first, k) = parts[f].col(p);
    data.row_weights.segment(first, k).setConstant(set.folds[f].weight / static_cast<double>(k));
    folds.insert(folds.end(), static_cast<std::size_t>(k), static_cast<Index>(f));
  }
  data.design = Design::dense(std::move(x));
  data.names = set.names;
  data.response_name = set.response_name;
  data.origin = std::make_shared<const Origin>(Origin{total.rows, centre.head(p), centre[p]});
  return data;
}

}  // namespace tyto
