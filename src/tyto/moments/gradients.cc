#include "tyto/moments/gradients.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/loss/rows.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/moments/row_chunks.h"

namespace tyto {
namespace {

// Row by row of a chunk, for each model: weighted r and h, and the sums of a row's numbers.
struct Derivatives {
  Matrix r, h;  // models x rows
};

// What a model does not know of a row: 0, 1 of two classes.
double encoded(double y, const std::vector<double>& classes) {
  return classes.empty() ? y : (y == classes[1] ? 1.0 : 0.0);
}

// r^2 / h, which is 0 where nothing is left of r.
double ratio(const RowPoint& at) { return at.residual == 0 ? 0 : at.residual * at.residual / at.curvature; }

Derivatives derivatives(const RowChunk& chunk, const GradientQuery& query, const Matrix& eta,
                        GradientSums& sums) {
  const SummedLoss& loss = *find_summed_loss(query.loss);
  Derivatives found{Matrix::Zero(query.models(), chunk.length), Matrix::Zero(query.models(), chunk.length)};
  sums.totals = Matrix::Zero(GradientSums::kTotals, query.models());
  sums.steepest = Vector::Zero(query.models());
  sums.farthest = Vector::Zero(query.models());
  for (Index i = 0; i < chunk.length; ++i) {
    const double v = chunk.weight(i);
    sums.fingerprint.add(chunk.response(i), v);
    if (!(v > 0)) continue;
    sums.weight += v;
    const double y = encoded(chunk.response(i), query.classes);
    for (Index k = 0; k < query.models(); ++k) {
      const RowPoint at = loss.row(y, eta(k, i));
      const double of_row[] = {at.value,
                               at.residual,
                               at.curvature,
                               ratio(at),
                               at.residual * at.residual,
                               eta(k, i) * eta(k, i),
                               at.magnitude * at.magnitude};
      for (Index t = 0; t < GradientSums::kTotals; ++t) sums.totals(t, k) += v * of_row[t];
      sums.steepest[k] = std::max(sums.steepest[k], at.curvature);
      if (at.residual != 0)
        sums.farthest[k] = std::max(sums.farthest[k], std::abs(at.residual) / at.curvature);
      found.r(k, i) = v * at.residual;
      found.h(k, i) = v * at.curvature;
    }
  }
  return found;
}

Matrix dense_rows(const RowChunk& chunk, const GradientQuery& query) {
  Matrix a = packed_rows(chunk.table, chunk.begin, chunk.length);
  a.conservativeResize(Eigen::NoChange, chunk.columns());
  if (query.centre.size() > 0) a.rowwise() -= query.centre.transpose();
  return a;
}

CoMoments weighted_moments(Matrix a, const Vector& weights) {
  IndexSet counted;
  for (Index i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) counted.push_back(i);
  if (counted.empty()) return {0, 0, Means::Zero(a.cols()), Matrix::Zero(a.cols(), a.cols())};
  if (std::ssize(counted) < a.rows()) a = Matrix(a(counted, Eigen::all));
  return moments_of(a, weights(counted));
}

void sum_dense(const RowChunk& chunk, const GradientQuery& query, GradientSums& sums) {
  const Matrix a = dense_rows(chunk, query);
  Matrix eta = Matrix::Zero(query.models(), chunk.length);
  if (!query.used.empty()) {
    Matrix products(chunk.length, query.models());
    product(Matrix(a(Eigen::all, query.used)), query.betas, products);
    eta = products.transpose();
  }
  eta.colwise() += query.constants;
  const Derivatives found = derivatives(chunk, query, eta, sums);
  const Matrix r = found.r.transpose();
  const Matrix h = found.h.transpose();
  sums.residual.resize(query.models(), a.cols());
  transpose_product(r, a, 0, sums.residual);
  if (query.loss != "gaussian") {
    sums.curvature.resize(query.models(), a.cols());
    transpose_product(h, a, 0, sums.curvature);
  }
  Vector weights(chunk.length);
  for (Index i = 0; i < chunk.length; ++i) weights[i] = chunk.weight(i);
  sums.square = (a.array().square().colwise() * weights.array()).colwise().sum();
  if (query.curved.empty()) return;
  const Matrix working = a(Eigen::all, query.working);
  for (const Index k : query.curved) sums.working.push_back(weighted_moments(working, h.col(k)));
}

// The entries of a row that are in the working set, by their places there.
struct WorkingRow {
  std::vector<std::pair<Index, double>> entries;
};

CoMoments sparse_moments(const RowChunk& chunk, const std::vector<WorkingRow>& rows, Index size,
                         const Vector& weights) {
  CoMoments result{0, 0, Means::Zero(size), Matrix::Zero(size, size)};
  Vector total = Vector::Zero(size);
  for (Index i = 0; i < chunk.length; ++i) {
    const double w = weights[i];
    if (!(w > 0)) continue;
    ++result.rows;
    result.weight += w;
    const auto& entries = rows[static_cast<std::size_t>(i)].entries;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const auto [column, x] = entries[k];
      total[column] += w * x;
      for (std::size_t l = k; l < entries.size(); ++l)
        result.comoment(entries[l].first, column) += w * x * entries[l].second;
    }
  }
  if (result.rows == 0) return result;
  result.mean = (total / result.weight).cast<long double>();
  result.comoment.triangularView<Eigen::Lower>() -= total * (total / result.weight).transpose();
  result.comoment.triangularView<Eigen::StrictlyUpper>() = result.comoment.transpose();
  return result;
}

// The place of each column among some of them, or -1.
std::vector<Index> places_of(const IndexSet& some, Index columns) {
  std::vector<Index> place(static_cast<std::size_t>(columns), -1);
  for (std::size_t k = 0; k < some.size(); ++k)
    place[static_cast<std::size_t>(some[k])] = static_cast<Index>(k);
  return place;
}

void sum_sparse(const RowChunk& chunk, const GradientQuery& query, GradientSums& sums) {
  const Index p = chunk.columns();
  const std::vector<Index> used = places_of(query.used, p);
  const std::vector<Index> working = places_of(query.working, p);
  const Matrix betas = query.betas.transpose();
  Matrix eta = query.constants.replicate(1, chunk.length);
  std::vector<WorkingRow> rows(static_cast<std::size_t>(chunk.length));
  for (Index i = 0; i < chunk.length; ++i)
    chunk.sparse->for_each(chunk.begin + i, [&](Index j, double x) {
      const auto column = static_cast<std::size_t>(j);
      if (used[column] >= 0) eta.col(i) += x * betas.col(used[column]);
      if (working[column] >= 0) rows[static_cast<std::size_t>(i)].entries.emplace_back(working[column], x);
    });
  const Derivatives found = derivatives(chunk, query, eta, sums);
  const bool curved = query.loss != "gaussian";
  sums.square = Vector::Zero(p);
  sums.residual = Matrix::Zero(query.models(), p);
  if (curved) sums.curvature = Matrix::Zero(query.models(), p);
  for (Index i = 0; i < chunk.length; ++i)
    chunk.sparse->for_each(chunk.begin + i, [&](Index j, double x) {
      sums.square[j] += chunk.weight(i) * x * x;
      sums.residual.col(j) += x * found.r.col(i);
      if (curved) sums.curvature.col(j) += x * found.h.col(i);
    });
  for (const Index k : query.curved)
    sums.working.push_back(sparse_moments(chunk, rows, std::ssize(query.working), found.h.row(k)));
}

GradientSums summed(const RowChunk& chunk, const GradientQuery& query) {
  GradientSums sums;
  if (chunk.sparse != nullptr && query.centre.size() == 0)
    sum_sparse(chunk, query, sums);
  else
    sum_dense(chunk, query, sums);
  return sums;
}

}  // namespace

void GradientSums::merge(const GradientSums& other) {
  if (other.square.size() == 0) return;
  if (square.size() == 0) {
    *this = other;
    return;
  }
  if (other.residual.rows() != residual.rows() || other.residual.cols() != residual.cols() ||
      other.working.size() != working.size() || other.curvature.size() != curvature.size())
    throw InvalidArgument("gradients: want sums of one query, got others");
  fingerprint.merge(other.fingerprint);
  weight += other.weight;
  square += other.square;
  totals += other.totals;
  steepest = steepest.cwiseMax(other.steepest);
  farthest = farthest.cwiseMax(other.farthest);
  residual += other.residual;
  if (curvature.size() > 0) curvature += other.curvature;
  for (std::size_t k = 0; k < working.size(); ++k) working[k].merge(other.working[k]);
}

void GradientSum::add(const Dataset& rows, const GradientQuery& query, int threads) {
  check_rows(rows);
  if (rows.design.cols() != query.features)
    throw InvalidArgument(fmt::format("data: want {} feature columns, as the models have, got {}",
                                      query.features, rows.design.cols()));
  add_chunks(rows, threads, sum_, [&](const RowChunk& chunk) { return summed(chunk, query); });
}

}  // namespace tyto
