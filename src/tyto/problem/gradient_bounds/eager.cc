#include "tyto/problem/gradient_bounds/eager.h"

#include <utility>

namespace tyto {

EagerBounds::EagerBounds(const Problem& problem, const Work& work)
    : work_(&work), design_columns_(problem.design.cols()) {
  if (!problem.at_zero) return;
  whole_.values = {problem.at_zero, &problem.at_zero->correlation};
  whole_.residual = problem.at_zero->residual;
  if (problem.ridge > 0) whole_.beta.setZero(design_columns_);
  whole_.columns = Selection::first(design_columns_);
  whole_.dual_norm.remember(problem.at_zero->penalty, problem.at_zero->dual_norm);
}

bool EagerBounds::holds(const Reading& reading, const Problem& problem, const Vector& beta,
                        const Selection& columns) const {
  return reading.values && reading.residual == residual_ && reading.columns == columns &&
         (problem.ridge == 0 || reading.beta == beta);
}

DualNormAt EagerBounds::evaluate_dual_norm(const Problem& problem, const Vector& beta, IndexSet support,
                                           const Selection& columns) {
  last_ = columns.size() == design_columns_ ? &whole_ : &part_;
  if (holds(*last_, problem, beta, columns)) {
    if (last_ == &whole_) part_ = {};  // a fit begins where the last one ended
    if (const auto known = last_->dual_norm.recall(problem)) {
      Vector at_support = restrict_to(*last_->values, support);
      return {*known, std::move(support), std::move(at_support)};
    }
  } else {
    if (last_ == &part_) whole_ = {};
    *last_ = {nullptr, residual_, problem.ridge > 0 ? beta : Vector(), columns};
    Vector values;
    problem.design.transpose_multiply(residual_, values, *work_);
    add_ridge(problem, beta, values);
    last_->values = std::make_shared<const Vector>(std::move(values));
  }
  DualNormAt result = tyto::evaluate_dual_norm(problem, *last_->values, std::move(support));
  last_->dual_norm.remember(problem.penalty, result.dual_norm);
  return result;
}

}  // namespace tyto
