#include "tyto/problem/correlation.h"

#include <cmath>

namespace tyto {

Correlation::Correlation(const Design& design)
    : design_(design), value_(Vector::Zero(design.cols())), way_(Vector::Constant(design.cols(), -1)) {}

void Correlation::move_to(const Vector& r) {
  if (residual_.size() == 0) {
    residual_ = r;
    return;
  }
  const double step = (r - residual_).norm();
  // Bounds grow by a little more than the step, so that rounding is covered.
  if (step > 0) way_now_ += (1 + 1e-10) * step + 1e-14 * r.norm();
  residual_ = r;
}

void Correlation::read(std::span<const Index> columns) {
  std::vector<Index> stale;
  for (const Index j : columns)
    if (!exact(j)) stale.push_back(j);
  Vector values(std::ssize(stale));
  design_.transpose_multiply(stale, residual_, values.data());
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = stale[static_cast<std::size_t>(k)];
    value_[j] = values[k], way_[j] = way_now_;
  }
}

double Correlation::value(Index j) const {
  if (exact(j)) return value_[j];
  return std::abs(value_[j]) * (1 + 1e-15) + (way_now_ - way_[j]) * design_.norms()[j];
}

Vector Correlation::settle(const Problem& problem, const Vector& beta, std::span<const Index> columns) {
  const Index count = std::ssize(columns);
  const auto column = [&](Index k) { return columns[static_cast<std::size_t>(k)]; };
  std::vector<Index> wanted;
  for (Index k = 0; k < count; ++k)
    if (beta[k] != 0 || way_[column(k)] < 0) wanted.push_back(column(k));  // or never read
  read(wanted);
  // J° of what is exact bounds J° from below; columns behind the prefix that pays at that level cannot raise
  // it.
  Vector known = Vector::Zero(count), values(count);
  for (Index k = 0; k < count; ++k) {
    values[k] = value(column(k));
    if (exact(column(k))) known[k] = values[k];
  }
  const double level = problem.penalty.dual_norm(known);
  Vector bounds = values.cwiseAbs();
  const PayingPrefix prefix =
      paying_prefix({bounds.data(), static_cast<std::size_t>(count)}, problem.penalty, level, 0);
  if (prefix.count == 0) return values;
  const double cut = bounds.head(prefix.count).minCoeff();
  wanted.clear();
  for (Index k = 0; k < count; ++k)
    if (std::abs(values[k]) >= cut) wanted.push_back(column(k));
  read(wanted);
  for (Index k = 0; k < count; ++k) values[k] = value(column(k));
  return values;
}

}  // namespace tyto
