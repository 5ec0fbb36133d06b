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
FittedError fitted_error(const Problem& problem, const LossPoint& at, std::span<const Index> support,
                         const Vector& nonzeros) {
  const double left = at.fitted_magnitude;
  if (!problem.projection) return {left};
  const Projection& projection = *problem.projection;
  const Projection::Coefficients others =
      projection.coefficients(problem.design, support, nonzeros, at.coordinates);
  return {std::max(left, projection.response_norm()) + others.magnitude, others.error, 0, 0,
          others.magnitude};
}

// How far J°(X'r) may be off: by the error of a product with r, by that of r itself, and by that of the
// coefficients that are reported, which moves all rows of r at once. Only what is left of that after
// projection counts: the intercept makes up for the rest. An error of a fitted value moves r by `curvature`
// times as much, at most. `most` <= 0: the largest x_j'r, where only positive ones count and none is.
double dual_norm_error(const Problem& problem, double of_residual, const FittedError& error, double curvature,
                       double most) {
  const Design& design = problem.design;
  const Index p = design.cols();
  const double column = design.largest_rounding_norm();
  const double length = design.is_scaled() ? std::sqrt(design.total_weight()) : column;
  const double of_fitted = curvature * rounding::kFittedRow * std::sqrt(error.squares);
  const Index rows = design.rows() / design.classes();  // that a column has entries in
  const double of_sums = (of_residual + of_fitted) / std::sqrt(static_cast<double>(rows));
  const double of_products = rounding::kGapTerm * (column * of_sums + error.ridge + length * error.projected);
  const double most_off = of_products + length * curvature * error.reported;
  return std::max(0.0, most_off + most) * static_cast<double>(p) / problem.penalty.weight_sum(p);
}

// Adds what the terms of X b contribute.
void add_coefficients(const Problem& problem, std::span<const Index> support, const Vector& nonzeros,
                      FittedError& error) {
  for (Index k = 0; k < nonzeros.size(); ++k) {
    const Index j = support[static_cast<std::size_t>(k)];
    const double size = problem.design.rounding_norms()[j];
    const double scale = problem.design.scale(j);
    const double part = std::abs(nonzeros[k]) * size;
    const double off = std::fma(nonzeros[k] / scale, scale, -nonzeros[k]);
    error.magnitude += part;
    error.ridge = std::max(error.ridge, problem.ridge * std::abs(nonzeros[k]));
    error.squares += part * part;
    error.reported += std::abs(off) * problem.design.norms()[j];
  }
}

// 1 where it is 0 in all rows: it jumps there (huber, squared-hinge).
double largest_curvature(const LossPoint& at) {
  const double largest = at.curvature.size() > 0 ? at.curvature.maxCoeff() : 1;
  return largest > 0 ? largest : 1;
}

// The largest x_j'r, of columns that are not 0, or 0 if that is smaller.
double largest_product(const Problem& problem, const Vector& products) {
  double result = -std::numeric_limits<double>::infinity();
  for (Index j = 0; j < products.size(); ++j)
    if (problem.design.rounding_norms()[j] > 0) result = std::max(result, products[j]);
  return std::min(result, 0.0);
}

// Of the response before the intercept and the unpenalised columns were projected out.
double response_squares(const Problem& problem) {
  const double left = problem.loss->response().squaredNorm();
  return problem.projection ? left + problem.projection->response_squares(problem.design) : left;
}

}  // namespace

void validate(const Problem& problem) {
  validate(problem.design, problem.loss->response());
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

LossPoint loss_at(const Problem& problem, const Iterate& x) { return problem.loss->at(x.eta, x.coordinates); }

Vector correlation(const Problem& problem, const Iterate& x, const Work& work) {
  return correlation(problem, x, loss_at(problem, x), work);
}

Vector correlation(const Problem& problem, const Iterate& x, const LossPoint& at, const Work& work) {
  Vector result;
  problem.design.transpose_multiply(at.residual, result, work);
  add_ridge(problem, x.beta, result);
  return result;
}

DualNormAt evaluate_dual_norm(const Problem& problem, const Vector& correlation, IndexSet support) {
  Vector at_support = restrict_to(correlation, support);
  const double least = problem.penalty.head(at_support.size()).dual_norm(at_support);
  return {problem.penalty.dual_norm(correlation, least), std::move(support), std::move(at_support)};
}

Certificate certify(const Problem& problem, const Iterate& x) {
  const LossPoint at = loss_at(problem, x);
  return certify(problem, x, at,
                 evaluate_dual_norm(problem, correlation(problem, x, at), nonzero_entries(x.beta)));
}

namespace {

GapTerms gap_terms(const Problem& problem, const Vector& nonzeros, const DualNormAt& known) {
  GapTerms terms{problem.penalty.value(nonzeros), 0, problem.ridge * nonzeros.squaredNorm(), known.dual_norm,
                 problem.penalty.nonnegative()};
  for (Index k = 0; k < nonzeros.size(); ++k) terms.product += nonzeros[k] * known.at_support[k];
  return terms;
}

Certificate judged(const Problem& problem, const LossPoint& at, const GapTerms& terms) {
  const DualPoint dual = problem.loss->best_dual(at, terms);
  const double squares = at.response_product
                             ? 2 * at.value
                             : kernels::dot(at.residual.data(), at.residual.data(), at.residual.size());
  Certificate c;
  c.scale = dual.scale;
  c.gap = dual.gap;
  c.dual = dual.dual;
  c.loss = at.value;
  c.residual_norm = std::sqrt(squares + terms.ridge_square);
  c.residual_magnitude = std::max(c.residual_norm, at.residual_magnitude);
  c.primal = at.value + 0.5 * terms.ridge_square + terms.norm;
  return c;
}

}  // namespace

Certificate certify_roughly(const Problem& problem, const Iterate& x, const LossPoint& at, DualNormAt known) {
  Certificate c = judged(problem, at, gap_terms(problem, restrict_to(x.beta, known.support), known));
  c.support = std::move(known.support);
  return c;
}

// `rounding` estimates the errors of the gap's terms; of r itself, which Xb enters with eps |b|'|X|; of the
// way to the coefficients that are reported, which r is orthogonal to, so that only its square counts; and of
// X'r, which may make theta infeasible: e_j ~ eps m_j (||r|| + f) / sqrt(n), with m_j the design's rounding
// norms and f^2 = sum_k (b_k m_k)^2; and by ||x_j|| sum_k |b'_k - b_k| ||x_k||, with b' as it is reported.
// J°(e) <= max_j e_j p / (w_1 + ... + w_p).
Certificate certify(const Problem& problem, const Iterate& x, const LossPoint& at, DualNormAt known) {
  const Loss& loss = *problem.loss;
  const Vector nonzeros = restrict_to(x.beta, known.support);
  const GapTerms terms = gap_terms(problem, nonzeros, known);
  Certificate c = judged(problem, at, terms);
  c.support = std::move(known.support);
  FittedError error = fitted_error(problem, at, c.support, nonzeros);
  add_coefficients(problem, c.support, nonzeros, error);
  const double fitted = rounding::kGapTerm * error.magnitude + error.along_basis;
  const double curvature = largest_curvature(at);
  const double of_primal =
      rounding::kGapTerm * (terms.norm + c.residual_norm * error.magnitude + at.value_magnitude) +
      0.5 * curvature * fitted * fitted;
  if (c.primal == 0) c.negligible = rounding::kNegligible * response_squares(problem);
  const double slack = std::max(0.0, 1 - std::abs(c.scale) * known.dual_norm);
  const bool none_counts = terms.nonnegative && known.dual_norm == 0;
  double most = 0;
  if (none_counts)
    most = known.largest_product ? *known.largest_product
                                 : largest_product(problem, correlation(problem, x, at));
  const double off = dual_norm_error(problem, c.residual_magnitude, error, curvature, most);
  const double excess = std::max(0.0, std::abs(c.scale) * off - slack);
  c.rounding = of_primal + rounding::kGapTerm * std::abs(c.scale * terms.product) +
               loss.dual_fall(at, terms, c.scale, excess);
  if (!std::isfinite(c.rounding) || !std::isfinite(excess)) {
    // Theta may be anywhere, so that it proves nothing; 0 is feasible.
    c.scale = 0;
    c.dual = 0;
    c.gap = c.primal;
    c.rounding = of_primal;
  }
  const double of_difference = rounding::of_gap(problem.design.rows()) * (c.primal + std::abs(c.dual));
  c.curvature = loss.curvature_bound(at, c.scale, std::max(c.gap, 0.0) + 2 * c.rounding + of_difference);
  return c;
}

Problem restrict_to(const Problem& problem, std::span<const Index> columns) {
  Problem result{problem.design.select(columns),
                 problem.loss,
                 problem.penalty.head(std::ssize(columns)),
                 problem.ridge,
                 nullptr,
                 problem.projection};
  if (problem.column_norms->known())
    result.column_norms = std::make_shared<Lazy<Vector>>(restrict_to(ball_norms(problem), columns));
  return result;
}

// Columns as they are stored, over their scale: a dual point is orthogonal to what is projected out of them.
const Vector& ball_norms(const Problem& problem) {
  const Loss& loss = *problem.loss;
  if (!loss.has_column_norms()) return problem.design.norms();
  return problem.column_norms->get([&] {
    Vector result(problem.design.cols());
    std::vector<Index> rows;
    std::vector<double> values;
    for (Index j = 0; j < result.size(); ++j) {
      rows.clear();
      values.clear();
      problem.design.for_each_entry(j, [&](Index row, double value) {
        rows.push_back(row);
        values.push_back(value);
      });
      result[j] = rounding::kColumnNorm * loss.column_norm(rows, values) / problem.design.scale(j);
    }
    return result;
  });
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
  AtZero result{problem.loss->at(Vector::Zero(problem.design.rows())).residual, {}, problem.penalty, 0};
  problem.design.transpose_multiply(result.residual, result.correlation, work);
  result.dual_norm = problem.penalty.dual_norm(result.correlation);
  return result;
}

double alpha_max(const Problem& problem) { return at_zero(problem).dual_norm; }

}  // namespace tyto
