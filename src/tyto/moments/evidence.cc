#include "tyto/moments/evidence.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/parallel.h"

namespace tyto {
namespace {

EvidenceSums sums_of(const Dataset& table, const EvidenceQuery& query, Index begin, Index length) {
  const Index p = table.design.cols();
  const bool weighted = table.row_weights.size() > 0;
  Matrix a = packed_rows(table, begin, length);
  EvidenceSums sums;
  for (Index i = begin; i < begin + length; ++i)
    sums.fingerprint.add(table.response[i], weighted ? table.row_weights[i] : 1);
  a.rowwise() -= query.centre.transpose();
  Matrix used(length, std::ssize(query.used));
  for (Index k = 0; k < used.cols(); ++k) used.col(k) = a.col(query.used[static_cast<std::size_t>(k)]);
  Matrix r(length, query.models());
  product(used, query.betas, r);
  for (Index k = 0; k < r.cols(); ++k) r.col(k) = (a.col(p) - r.col(k)).array() + query.constants[k];
  Matrix z(length, 1 + std::ssize(query.free));
  z.col(0).setOnes();
  if (weighted) {
    const Vector roots = table.row_weights.segment(begin, length).cwiseSqrt();
    a.array().colwise() *= roots.array();
    r.array().colwise() *= roots.array();
    z.col(0) = roots;
  }
  for (Index k = 1; k < z.cols(); ++k) z.col(k) = a.col(query.free[static_cast<std::size_t>(k - 1)]);
  sums.weight = z.col(0).squaredNorm();
  sums.xx = a.leftCols(p).colwise().squaredNorm();
  sums.yy = a.col(p).squaredNorm();
  sums.rr = r.colwise().squaredNorm();
  sums.zx.resize(z.cols(), p);
  sums.zr.resize(z.cols(), r.cols());
  sums.xr.resize(p, r.cols());
  transpose_product(z, a.leftCols(p), 0, sums.zx);
  transpose_product(z, r, 0, sums.zr);
  transpose_product(a.leftCols(p), r, 0, sums.xr);
  return sums;
}

}  // namespace

EvidenceQuery make_query(const Means& centre, IndexSet free, const std::vector<LinearModel>& models) {
  EvidenceQuery query;
  query.centre = centre.cast<double>();
  query.free = std::move(free);
  for (const LinearModel& model : models)
    for (const auto& [column, value] : model.coefficients) query.used.push_back(column);
  std::ranges::sort(query.used);
  query.used.erase(std::unique(query.used.begin(), query.used.end()), query.used.end());
  query.betas = Matrix::Zero(std::ssize(query.used), std::ssize(models));
  query.constants.resize(std::ssize(models));
  for (Index k = 0; k < query.constants.size(); ++k) {
    const LinearModel& model = models[static_cast<std::size_t>(k)];
    long double constant = query.centre[query.centre.size() - 1];
    for (const auto& [column, value] : model.coefficients) {
      query.betas(std::ranges::lower_bound(query.used, column) - query.used.begin(), k) = value;
      constant -= static_cast<long double>(query.centre[column]) * value;
    }
    query.constants[k] = static_cast<double>(constant - model.intercept);
  }
  return query;
}

void EvidenceSums::merge(const EvidenceSums& other) {
  if (other.rr.size() == 0) return;
  if (rr.size() == 0) {
    *this = other;
    return;
  }
  if (other.xr.rows() != xr.rows() || other.xr.cols() != xr.cols() || other.zr.rows() != zr.rows())
    throw InvalidArgument("evidence: want sums of one query, got others");
  fingerprint.merge(other.fingerprint);
  weight += other.weight;
  zx += other.zx;
  zr += other.zr;
  xr += other.xr;
  xx += other.xx;
  rr += other.rr;
  yy += other.yy;
}

void EvidenceSum::add(const Dataset& rows, const EvidenceQuery& query, int threads) {
  const Index columns = rows.design.cols() + 1;
  if (query.centre.size() != columns)
    throw InvalidArgument(fmt::format("data: want {} feature columns, as the models have, got {}",
                                      query.centre.size() - 1, columns - 1));
  const Index n = rows.design.rows();
  const Index step = chunk_rows(columns);
  const Index count = (n + step - 1) / step;
  const auto at_once = static_cast<Index>(std::max(1, threads));
  for (Index first = 0; first < count; first += at_once) {
    std::vector<EvidenceSums> found(static_cast<std::size_t>(std::min(at_once, count - first)));
    parallel_for(std::ssize(found), threads, [&](Index k) {
      const Index begin = (first + k) * step;
      found[static_cast<std::size_t>(k)] = sums_of(rows, query, begin, std::min(step, n - begin));
    });
    for (EvidenceSums& one : found) sum_.add(std::move(one));
  }
}

}  // namespace tyto
