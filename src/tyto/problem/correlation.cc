#include "tyto/problem/correlation.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace tyto {
namespace {

// Bounds are a little larger than they need be, so that rounding is covered.
constexpr double kMargin = 1 + 1e-10;

}  // namespace

Correlation::Correlation(const Design& design)
    : design_(design),
      norm_(kMargin * design.norms()),
      value_(Vector::Zero(design.cols())),
      way_(Vector::Constant(design.cols(), -1)) {}

void Correlation::move_to(const Vector& r) {
  if (residual_.size() > 0 && residual_ != r) {
    const double step = kMargin * (r - residual_).norm() + 1e-14 * r.norm();
    way_now_ = std::nextafter(way_now_ + step, std::numeric_limits<double>::infinity());
  }
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

Vector Correlation::values(std::span<const Index> columns) const {
  return Vector::NullaryExpr(std::ssize(columns),
                             [&](Index k) { return value(columns[static_cast<std::size_t>(k)]); });
}

void Correlation::settle(const Problem& problem, const Vector& beta, std::span<const Index> columns) {
  if (!complete_) {
    std::vector<Index> all(static_cast<std::size_t>(value_.size()));
    std::iota(all.begin(), all.end(), Index{0});
    read(all);
    complete_ = true;
    return;
  }
  const Index count = std::ssize(columns);
  const auto column = [&](Index k) { return columns[static_cast<std::size_t>(k)]; };
  std::vector<Index> wanted;
  for (Index k = 0; k < count; ++k)
    if (beta[k] != 0) wanted.push_back(column(k));
  read(wanted);
  // J° of what is exact bounds J° from below; columns behind the prefix that pays at that level cannot raise
  // it.
  Vector known(count), bounds(count);
  for (Index k = 0; k < count; ++k) {
    const Index j = column(k);
    bounds[k] = value(j);
    known[k] = exact(j) ? bounds[k] : 0;
  }
  const double cut = paying_cut(bounds, problem.penalty, problem.penalty.dual_norm(known));
  wanted.clear();
  for (Index k = 0; k < count; ++k)
    if (std::abs(bounds[k]) >= cut) wanted.push_back(column(k));
  read(wanted);
}

}  // namespace tyto
