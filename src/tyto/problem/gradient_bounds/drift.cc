#include "tyto/problem/gradient_bounds/drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

bool mean_entries_at_most(const Design& design, Index entries) {
  return design.stored_entries() <= entries * design.cols();
}

bool short_columns(const Design& design, const Tuning::Reading& tuning) {
  return mean_entries_at_most(design, tuning.short_column) ||
         (mean_entries_at_most(design, tuning.short_column_in_cache) && in_cache(design, tuning));
}

}  // namespace

DriftBounds::DriftBounds(const Problem& problem, const Work& work, const Tuning::Reading& tuning)
    : design_(problem.design),
      work_(&work),
      tuning_(tuning),
      nonnegative_(problem.penalty.nonnegative()),
      short_columns_(short_columns(problem.design, tuning)) {
  if (!problem.at_zero) return;
  residual_ = problem.at_zero->residual;
  at_zero_ = problem.at_zero;
  source_ = Source::kAtZero;
  all_exact_ = true;
  dual_norm_.remember(at_zero_->penalty, at_zero_->dual_norm);
  if (nonnegative_) leave_zero();
}

bool DriftBounds::pays(const Design& design, const Tuning::Reading& tuning) {
  return !(design.is_sparse() && mean_entries_at_most(design, tuning.tiny_column));
}

void DriftBounds::move_to(const Vector& r) {
  if (residual_.size() > 0 && residual_ != r) {
    if (!read_.empty()) leave_zero();
    const double rr = residual_.squaredNorm();
    const double along =
        rr > 0 ? std::clamp(r.dot(residual_) / rr, tuning_.least_factor, tuning_.most_factor) : 1;
    if (factor_ * along < 1 / rounding::kLargestFactor || factor_ * along > rounding::kLargestFactor) {
      leave_zero();
      value_ *= factor_;
      read_at_ *= factor_;
      rescale();
    }
    factor_ *= along;
    drift_by(rounding::kDistance *
             ((r - along * residual_).norm() + rounding::kDistanceOfLengths * (r.norm() + residual_.norm())));
    if (!std::isfinite(factor_) || !std::isfinite(drift_)) forget();
  }
  residual_ = r;
}

// Rounded up, so that differences of drifts are not too small.
void DriftBounds::drift_by(double distance) {
  const double sum = rounding::kSumOfDistances * (drift_ + distance / factor_);
  drift_ = std::nextafter(sum, std::numeric_limits<double>::infinity());
  all_exact_ = false;
  bounds_.reset();
  dual_norm_.forget();
}

void DriftBounds::rescale() {
  drift_ *= factor_;
  factor_ = 1;
}

// Numbers that overflow leave nothing to bound by.
void DriftBounds::forget() {
  source_ = Source::kNothing;
  at_zero_.reset();
  read_.clear();
  value_.resize(0);
  read_at_.resize(0);
  drift_ = 0;
  factor_ = 1;
}

void DriftBounds::adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance) {
  move_to(r);
  source_ = Source::kByColumn;
  at_zero_.reset();
  read_.clear();
  rescale();
  value_ = values;
  read_at_.setConstant(value_.size(), drift_);
  if (distance > 0) drift_by(distance);
  for (const Index j : read) read_at_[j] = drift_;
  all_exact_ = !(distance > 0);
  bounds_.reset();
}

void DriftBounds::leave_zero() {
  if (source_ != Source::kAtZero) return;
  source_ = Source::kByColumn;
  value_ = at_zero_->correlation;
  read_at_.setZero(value_.size());
  for (const auto& [column, value] : read_) {
    value_[column] = value / factor_;
    read_at_[column] = drift_;
  }
  at_zero_.reset();
  read_.clear();
}

bool DriftBounds::exact(Index column) const {
  if (source_ != Source::kAtZero) return read_at_[column] == drift_;
  return all_exact_ || std::ranges::binary_search(read_, column, {}, &Read::column);
}

double DriftBounds::value(Index column) const {
  if (source_ != Source::kAtZero) return bound(column, value_[column], read_at_[column]);
  const auto found = std::ranges::lower_bound(read_, column, {}, &Read::column);
  if (found != read_.end() && found->column == column) return found->value;
  return bound(column, at_zero_->correlation[column], 0);
}

void DriftBounds::read_all() {
  source_ = Source::kByColumn;
  at_zero_.reset();
  read_.clear();
  rescale();
  design_.transpose_multiply(residual_, value_, *work_);
  read_at_.setConstant(value_.size(), drift_);
  all_exact_ = true;
  bounds_.reset();
}

void DriftBounds::read(std::span<const Index> columns) {
  if (source_ == Source::kNothing) return read_all();
  std::vector<Index> stale;
  stale.reserve(columns.size());
  for (const Index j : columns)
    if (!exact(j)) stale.push_back(j);
  Vector values(std::ssize(stale));
  design_.transpose_multiply(stale, residual_, values.data(), *work_);
  bounds_.reset();
  if (source_ == Source::kAtZero) return note(stale, values);
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = stale[static_cast<std::size_t>(k)];
    value_[j] = values[k] / factor_;
    read_at_[j] = drift_;
  }
}

void DriftBounds::note(std::span<const Index> columns, const Vector& values) {
  std::vector<Read> all;
  all.reserve(read_.size() + columns.size());
  auto next = read_.begin();
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    while (next != read_.end() && next->column < j) all.push_back(*next++);
    all.push_back({j, values[k]});
  }
  all.insert(all.end(), next, read_.end());
  read_.swap(all);
}

Vector DriftBounds::bounds(const Selection& columns) const {
  const Index count = columns.size();
  Vector v(count);
  if (count == value_.size() && nonnegative_) {
    v = factor_ * (value_.array() + (drift_ - read_at_.array()) * design_.norms().array());
  } else if (count == value_.size()) {  // all, in order
    kernels::grow(value_.data(), read_at_.data(), design_.norms().data(), drift_, factor_, v.data(), count);
  } else {
    for (Index k = 0; k < count; ++k) v[k] = value(columns[k]);
  }
  return v;
}

}  // namespace tyto
