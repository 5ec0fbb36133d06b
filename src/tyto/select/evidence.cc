#include "tyto/select/evidence.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "tyto/math/entries.h"

namespace tyto {
namespace {

// The sums for one model, without what lies along Z: the intercept and the unpenalised columns.
struct Projected {
  Vector xr;           // X'r of all columns
  double rr = 0;       // ||r||^2
  double removed = 0;  // what was taken off ||r||^2: 0, if the coefficients of Z were the best
};
Projected projected(const Regression& regression, const EvidenceSums& sums, Index k) {
  Projected result{sums.xr.col(k), sums.rr[k], 0};
  const Index first = regression.has_intercept ? 0 : 1;
  const Index size = sums.zx.rows() - first;
  if (size == 0) return result;
  Matrix zz(sums.zx.rows(), sums.zx.rows());
  zz(0, 0) = sums.weight;
  for (Index j = 1; j < zz.cols(); ++j) {
    zz.col(j) = sums.zx.col(regression.free[static_cast<std::size_t>(j - 1)]);
    zz(j, 0) = zz(0, j);
  }
  const Vector zr = sums.zr.col(k).tail(size);
  const Vector along = zz.bottomRightCorner(size, size).ldlt().solve(zr);
  result.removed = std::max(0.0, along.dot(zr));
  result.rr = std::max(0.0, result.rr - result.removed);
  result.xr -= sums.zx.bottomRows(size).transpose() * along;
  return result;
}

// The scale of a column as the data that was summed has it; that of the design where it does not vary.
double scale_of(const Regression& regression, const EvidenceSums& sums, Index k) {
  const Index j = regression.penalized[k];
  double squares = sums.xx[j];
  if (regression.has_intercept) squares -= sums.zx(0, j) * (sums.zx(0, j) / sums.weight);
  return squares > 0 ? std::sqrt(squares / sums.weight) : regression.problem.design.scale(k);
}

}  // namespace

LinearModel penalized(const Model& model) {
  LinearModel result{{}, model.relaxed ? model.relaxed->penalized_intercept : model.intercept()};
  for (std::size_t k = 0; k < model.coefficients.size(); ++k)
    result.coefficients.emplace_back(model.coefficients[k].column, model.relaxed
                                                                       ? model.relaxed->penalized[k]
                                                                       : model.coefficients[k].value);
  return result;
}

SummedCertificate certify(const Regression& regression, const Model& model, const EvidenceSums& sums,
                          Index k) {
  const Problem& problem = regression.problem;
  const Index p = regression.penalized.size();
  const Projected left = projected(regression, sums, k);
  Vector all = Vector::Zero(regression.columns);
  for (const auto& [column, value] : penalized(model).coefficients) all[column] = value;
  Iterate x{Vector(p), {}};
  SummedCertificate result{{}, Vector(p)};
  for (Index j = 0; j < p; ++j) {
    const double scale = model.options.standardize ? scale_of(regression, sums, j) : 1;
    x.beta[j] = all[regression.penalized[j]] * scale;
    result.correlation[j] = left.xr[regression.penalized[j]] / scale;
  }
  LossPoint at;
  at.value = 0.5 * left.rr;
  at.response_product = left.rr + x.beta.dot(result.correlation);
  at.fitted_magnitude = problem.loss->response().norm();
  at.residual_magnitude = std::sqrt(left.rr);
  Vector with_ridge = result.correlation;
  add_ridge(problem, x.beta, with_ridge);
  DualNormAt known = evaluate_dual_norm(problem, with_ridge, nonzero_entries(x.beta));
  known.largest_product = std::min(0.0, with_ridge.maxCoeff());
  Certificate& c = result.certificate;
  c = tyto::certify(problem, x, at, std::move(known));
  c.primal += 0.5 * left.removed;
  c.loss += 0.5 * left.removed;
  c.gap += 0.5 * left.removed;
  return result;
}

}  // namespace tyto
