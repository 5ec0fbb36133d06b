#include "tyto/select/local_model.h"

#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

// The Cholesky factor of the second derivatives, with a little added to the diagonal where it takes that:
// then steps are a little shorter.
Matrix factor_of(Matrix products) {
  const double most = products.diagonal().maxCoeff();
  for (double ridge = rounding::kFirstRidge; ridge <= rounding::kLastRidge; ridge *= rounding::kRidgeGrowth) {
    Matrix factor = products;
    factor.diagonal().array() += ridge * most;
    if (most > 0 && cholesky(factor)) return factor.triangularView<Eigen::Lower>();
  }
  return Matrix::Identity(products.rows(), products.cols());
}

Vector at_working(const LocalModel& model, const SparseBeta& beta) {
  Vector result(std::ssize(model.working));
  for (Index k = 0; k < result.size(); ++k)
    result[k] = beta.coeff(model.working[static_cast<std::size_t>(k)]);
  return result;
}

}  // namespace

LocalSolution part_of_the_way(const LocalPoint& from, const LocalSolution& to, double share) {
  if (share == 1) return to;
  return {SparseBeta((1 - share) * from.beta + share * to.beta),
          (1 - share) * from.constant + share * to.constant};
}

CoMoments between(const CoMoments& a, const CoMoments& b, double share) {
  CoMoments result = a;
  result.weight = (1 - share) * a.weight + share * b.weight;
  result.mean = (1 - static_cast<long double>(share)) * a.mean + static_cast<long double>(share) * b.mean;
  result.comoment = (1 - share) * a.comoment + share * b.comoment;
  return result;
}

LocalSolution solve(const LocalModel& model, const LocalPoint& from, const FitOptions& options,
                    const SparseBeta& start) {
  const Index size = std::ssize(model.working);
  const Vector mean = model.curvature.mean.cast<double>();
  Matrix products = model.curvature.comoment;
  if (!model.intercept) products += model.curvature.weight * mean * mean.transpose();
  Vector inverse(size);
  for (Index k = 0; k < size; ++k)
    inverse[k] = 1 / model.problem.design.scale(model.working[static_cast<std::size_t>(k)]);
  products = inverse.asDiagonal() * products * inverse.asDiagonal();
  Vector gradient = restrict_to(from.gradient, model.working);

  const Matrix factor = factor_of(std::move(products));
  const Vector beta = at_working(model, from.beta);
  solve_lower(factor, gradient);
  const Vector response = factor.transpose() * beta + gradient;
  const Problem local{Design::dense(Matrix(factor.transpose())), response, model.problem.penalty.head(size),
                      model.problem.ridge};
  const Vector warm = at_working(model, start);
  const Fit found = fit(local, options, &warm);
  LocalSolution result{{}, from.constant};
  result.beta = sparse(found.solution.beta, nonzero_entries(found.solution.beta), Selection(model.working),
                       model.problem.design.cols());
  if (model.intercept && model.curvature.weight > 0) {
    const Vector moved = inverse.cwiseProduct(found.solution.beta - beta);
    result.constant += from.residual / model.curvature.weight - mean.dot(moved);
  }
  return result;
}

}  // namespace tyto
