#include "tyto/problem/problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tyto/base/error.h"
#include "tyto/base/huge_pages.h"
#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

InvalidArgument mismatch(const char* field, Index want, Index got) {
  return InvalidArgument(std::string(field) + ": want " + std::to_string(want) + " entries, got " +
                         std::to_string(got));
}

// Rounding errors of the fitted values that do not come from X b: of y, and of what is projected out.
struct FittedError {
  double magnitude = 0;    // in units of rounding, in any direction
  double along_basis = 0;  // which r is orthogonal to
  double squares = 0;      // of the parts |b_j| m_j of X b
  double ridge = 0;        // largest ridge |b_j|
  double projected = 0;    // of what is projected out besides the intercept, in units of rounding
  double reported = 0;     // sum of |b'_j - b_j| ||x_j||; b'_j is s_j times b_j / s_j as it is reported
};
FittedError fitted_error(const Problem& problem, std::span<const Index> support, const Vector& nonzeros) {
  const double left = std::sqrt(kernels::dot(problem.y.data(), problem.y.data(), problem.y.size()));
  if (!problem.projection) return {left};
  const Projection& projection = *problem.projection;
  const Projection::Coefficients others = projection.coefficients(problem.design, support, nonzeros);
  return {std::max(left, projection.response_norm()) + others.magnitude, others.error, 0, 0,
          others.magnitude};
}

// How far J°(X'r) may be off: by the error of a product with r, by that of r itself, and by that of the
// coefficients that are reported, which moves all rows of r at once. Only what is left of that after
// projection counts: the intercept makes up for the rest. `most` <= 0: the largest x_j'r, where only positive
// ones count and none is.
double dual_norm_error(const Problem& problem, double residual_norm, const FittedError& error, double most) {
  const Design& design = problem.design;
  const Index p = design.cols();
  const double column = design.largest_rounding_norm();
  const double length = design.is_scaled() ? std::sqrt(design.total_weight()) : column;
  const double of_fitted = rounding::kFittedRow * std::sqrt(error.squares);
  const double of_sums = (residual_norm + of_fitted) / std::sqrt(static_cast<double>(problem.y.size()));
  const double of_products = rounding::kGapTerm * (column * of_sums + error.ridge + length * error.projected);
  const double most_off = of_products + length * error.reported;
  return std::max(0.0, most_off + most) * static_cast<double>(p) / problem.penalty.weight_sum(p);
}

// The largest x_j'r, of columns that are not 0, or 0 if that is larger.
double largest_product(const Problem& problem, const Iterate& x) {
  const Vector products = correlation(problem, x);
  double result = -std::numeric_limits<double>::infinity();
  for (Index j = 0; j < products.size(); ++j)
    if (problem.design.rounding_norms()[j] > 0) result = std::max(result, products[j]);
  return std::min(result, 0.0);
}

// D(s r) - D(s' r), with s' = s / (1 + excess): where s r may be infeasible by as much, s' r is not.
double dual_loss(double scale, double excess, double rr, double ry) {
  const double share = excess < 1 ? excess / (1 + excess) : 1 - 1 / (1 + excess);
  const double off = std::abs(scale) * share;
  return off * std::abs(ry - scale * rr) + 0.5 * off * off * rr;
}

}  // namespace

void validate(const Problem& problem) {
  validate(problem.design, problem.y);
  if (problem.penalty.size() != problem.design.cols())
    throw mismatch("weights", problem.design.cols(), problem.penalty.size());
  if (!(problem.ridge >= 0 && std::isfinite(problem.ridge)))
    throw InvalidArgument(fmt::format("ridge: want a finite number >= 0, got {}", problem.ridge));
}

void validate(const Design& design, const Vector& y) {
  if (y.size() != design.rows()) throw mismatch("y", design.rows(), y.size());
  if (!std::isfinite(y.squaredNorm()))
    throw InvalidArgument("y: want finite numbers whose squares can be added");
  if (const double largest = y.size() > 0 ? y.lpNorm<Eigen::Infinity>() : 0;
      largest > 0 && largest < rounding::kSmallest)
    throw InvalidArgument("y: want numbers above 1e-140 in size, or 0: the squares of smaller ones are lost");
  if (const auto [least, most] = design.stored_rounding_norms();
      least >= rounding::kSmallest && std::isfinite(most))
    return;  // as in most data; no column has to be looked at
  const Vector& magnitudes = design.rounding_norms();
  for (Index j = 0; j < design.cols(); ++j) {
    const double scale = design.scale(j), magnitude = magnitudes[j] * scale;
    if (magnitudes[j] == 0 && std::isinf(scale)) continue;  // nothing is left of it
    if (!std::isfinite(magnitude))
      throw InvalidArgument("design: column " + std::to_string(j) +
                            ": want finite numbers whose squares can be added");
    if (magnitude < rounding::kSmallest && !design.is_zero(j))
      throw InvalidArgument(
          "design: column " + std::to_string(j) +
          ": want numbers above 1e-140 in size, or 0: the squares of smaller ones are lost");
  }
}

Iterate make_iterate(const Problem& problem, Vector beta, const Work& work) {
  Iterate x{std::move(beta), {}};
  problem.design.multiply(x.beta, x.eta, work);
  return x;
}

// With r'y = r'r + r'Xb the gap needs no difference of large numbers:
//   gap = P(b) - D(s r) = (1 - s)^2 ||r||^2 / 2 + J(b) - s b'X'r.
Gap duality_gap(double rr, double ry, double norm, double product, double bound, bool nonnegative) {
  double best = rr > 0 ? ry / rr : 0;
  if (nonnegative) best = std::max(best, 0.0);  // J° of -X'r is another number
  const double scale = bound * std::abs(best) <= 1 ? best : std::copysign(1 / bound, best);
  return {scale, 0.5 * (1 - scale) * (1 - scale) * rr + (norm - scale * product)};
}

Vector correlation(const Problem& problem, const Iterate& x, const Work& work) {
  Vector result;
  problem.design.transpose_multiply(problem.y - x.eta, result, work);
  add_ridge(problem, x.beta, result);
  return result;
}

Settled settle(const Problem& problem, const Vector& correlation, IndexSet support) {
  Vector at_support = restrict_to(correlation, support);
  const double least = problem.penalty.head(at_support.size()).dual_norm(at_support);
  return {problem.penalty.dual_norm(correlation, least), std::move(support), std::move(at_support)};
}

Certificate certify(const Problem& problem, const Iterate& x) {
  return certify(problem, x, settle(problem, correlation(problem, x), nonzero_entries(x.beta)));
}

// `rounding` estimates the errors of the gap's terms; of r itself, which Xb enters with eps |b|'|X|; of the
// way to the coefficients that are reported, which r is orthogonal to, so that only its square counts; and of
// X'r, which may make theta infeasible: e_j ~ eps m_j (||r|| + f) / sqrt(n), with m_j the design's rounding
// norms and f^2 = sum_k (b_k m_k)^2; and by ||x_j|| sum_k |b'_k - b_k| ||x_k||, with b' as it is reported.
// J°(e) <= max_j e_j p / (w_1 + ... + w_p).
Certificate certify(const Problem& problem, const Iterate& x, Settled known) {
  Certificate c;
  c.support = std::move(known.support);
  const double dual_norm = known.dual_norm;
  const Vector r = problem.y - x.eta;
  const Vector nonzeros = restrict_to(x.beta, c.support);
  const auto dot = [](const Vector& a, const Vector& b) {
    return kernels::dot(a.data(), b.data(), a.size());
  };
  const double rr = dot(r, r) + problem.ridge * nonzeros.squaredNorm();
  const double ry = dot(r, problem.y);
  const double norm = problem.penalty.value(nonzeros);
  FittedError error = fitted_error(problem, c.support, nonzeros);
  double product = 0;
  for (Index k = 0; k < nonzeros.size(); ++k) {
    const Index j = c.support[static_cast<std::size_t>(k)];
    const double size = problem.design.rounding_norms()[j];
    const double scale = problem.design.scale(j);
    const double part = std::abs(nonzeros[k]) * size;
    const double off = std::fma(nonzeros[k] / scale, scale, -nonzeros[k]);
    product += nonzeros[k] * known.at_support[k];
    error.magnitude += part;
    error.ridge = std::max(error.ridge, problem.ridge * std::abs(nonzeros[k]));
    error.squares += part * part;
    error.reported += std::abs(off) * problem.design.norms()[j];
  }
  const Gap gap = duality_gap(rr, ry, norm, product, dual_norm, problem.penalty.nonnegative());
  c.scale = gap.scale;
  c.gap = gap.gap;
  c.residual_norm = std::sqrt(rr);
  c.primal = 0.5 * rr + norm;
  c.dual = c.scale * ry - 0.5 * c.scale * c.scale * rr;
  const double fitted = rounding::kGapTerm * error.magnitude + error.along_basis;
  const double of_primal =
      rounding::kGapTerm * (norm + c.residual_norm * error.magnitude) + 0.5 * fitted * fitted;
  const double slack = std::max(0.0, 1 - std::abs(c.scale) * dual_norm);
  const bool none_counts = problem.penalty.nonnegative() && dual_norm == 0;
  const double most = none_counts ? largest_product(problem, x) : 0;
  const double excess =
      std::max(0.0, std::abs(c.scale) * dual_norm_error(problem, c.residual_norm, error, most) - slack);
  c.rounding =
      of_primal + rounding::kGapTerm * std::abs(c.scale * product) + dual_loss(c.scale, excess, rr, ry);
  if (!std::isfinite(c.rounding) ||
      !std::isfinite(excess)) {  // theta may be anywhere, so that it proves nothing; 0 is feasible
    c.scale = c.dual = 0;
    c.gap = c.primal;
    c.rounding = of_primal;
  }
  return c;
}

Problem restrict_to(const Problem& problem, std::span<const Index> columns) {
  return {problem.design.select(columns),
          problem.y,
          problem.penalty.head(std::ssize(columns)),
          problem.ridge,
          nullptr,
          problem.projection};
}

void add_ridge(const Problem& problem, const Vector& beta, Vector& correlation) {
  if (problem.ridge > 0) correlation -= problem.ridge * beta;
}

Vector norms(const Problem& problem) {
  if (problem.ridge == 0) return problem.design.norms();
  return (problem.design.norms().array().square() + problem.ridge).sqrt();
}

Vector restrict_to(const Vector& v, std::span<const Index> columns) {
  return Vector::NullaryExpr(std::ssize(columns),
                             [&](Index k) { return v[columns[static_cast<std::size_t>(k)]]; });
}

Vector expand(Vector v, const Selection& columns, Index size) {
  if (v.size() == size) return v;
  Vector result = vector_to_write(size);
  result.setZero();
  for (Index k = 0; k < v.size(); ++k) result[columns[k]] = v[k];
  return result;
}

Vector dense(const SparseBeta& v) {
  Vector result = vector_to_write(v.size());
  result = v;
  return result;
}

SparseBeta sparse(const Vector& v, std::span<const Index> places, const Selection& columns, Index size) {
  SparseBeta result(size);
  result.reserve(std::ssize(places));
  for (const Index k : places) result.insertBack(columns[k]) = v[k];
  return result;
}

AtZero at_zero(const Problem& problem, const Work& work) {
  AtZero result{{}, problem.penalty, 0};
  problem.design.transpose_multiply(problem.y, result.correlation, work);
  result.dual_norm = problem.penalty.dual_norm(result.correlation);
  return result;
}

double alpha_max(const Problem& problem) { return at_zero(problem).dual_norm; }

}  // namespace tyto
