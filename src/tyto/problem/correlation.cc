#include "tyto/problem/correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/math/kernels.h"

namespace tyto {
namespace {

// Ways are a little longer than they need be, so that rounding of them, of norms and of products is covered.
constexpr double kMargin = 1 + 2e-10;

bool entries_at_most(const Design& design, Index a_column) {
  return design.stored_entries() <= a_column * design.cols();
}
// A column with so few entries is read sooner than it is ranked among its like; and one of more, where X
// stays in the cache. One of still fewer is read sooner than its bound.
constexpr Index kTiny = 8, kShort = 48, kShortInCache = 128;
bool short_columns(const Design& design) {
  return entries_at_most(design, kShort) || (entries_at_most(design, kShortInCache) && in_cache(design));
}

}  // namespace

Correlation::Correlation(const Design& design, bool nonnegative, const Work& work)
    : design_(design),
      work_(&work),
      nonnegative_(nonnegative),
      short_columns_(short_columns(design)),
      tiny_columns_(design.is_sparse() && entries_at_most(design, kTiny)) {}

void Correlation::move_to(const Vector& r) {
  if (residual_.size() > 0 && residual_ != r) {
    if (!since_.empty()) spread();
    constexpr double kLeast = 0.25, kMost = 4, kFar = 1e10;
    const double rr = residual_.squaredNorm();
    const double along = rr > 0 ? std::clamp(r.dot(residual_) / rr, kLeast, kMost) : 1;
    if (factor_ * along < 1 / kFar || factor_ * along > kFar) {
      spread();
      value_ *= factor_, way_ *= factor_;
      start_over();
    }
    factor_ *= along;
    go(kMargin * ((r - along * residual_).norm() + 1e-14 * (r.norm() + residual_.norm())));
    fresh_ = bounded_ = false;
    if (!std::isfinite(factor_) || !std::isfinite(way_now_)) forget();
  }
  residual_ = r;
}

void Correlation::go(double distance) {
  const double far = (1 + 1e-15) * (way_now_ + distance / factor_);  // so that differences are not too small
  way_now_ = std::nextafter(far, std::numeric_limits<double>::infinity());
}

void Correlation::start_over() { way_now_ *= factor_, settled_way_ *= factor_, factor_ = 1; }

// Numbers that overflow leave nothing to bound by.
void Correlation::forget() {
  at_zero_.reset(), since_.clear();
  value_.resize(0), way_.resize(0);
  way_now_ = 0, factor_ = 1, settled_way_ = -1;
  complete_ = false;
}

void Correlation::adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance) {
  move_to(r);
  at_zero_.reset(), since_.clear();
  start_over();
  value_ = values;
  way_.setConstant(value_.size(), way_now_);
  if (distance > 0) go(distance);
  for (const Index j : read) way_[j] = way_now_;
  complete_ = true, fresh_ = !(distance > 0), bounded_ = false;
}

void Correlation::adopt(const Vector& y, std::shared_ptr<const AtZero> at_zero) {
  residual_ = y, way_now_ = 0, factor_ = 1;
  settled_way_ = 0, settled_norm_ = at_zero->dual_norm, settled_penalty_ = at_zero->penalty;
  at_zero_ = std::move(at_zero);
  complete_ = fresh_ = true, bounded_ = false;
  if (nonnegative_) spread();
}

void Correlation::spread() {
  if (!at_zero_) return;
  value_ = at_zero_->correlation;
  way_.setZero(value_.size());
  for (const auto& [column, value] : since_) value_[column] = value / factor_, way_[column] = way_now_;
  at_zero_.reset(), since_.clear();
}

bool Correlation::exact(Index column) const {
  if (!at_zero_) return way_[column] == way_now_;
  return fresh_ || std::ranges::binary_search(since_, column, {}, &Read::column);
}

double Correlation::value(Index column) const {
  if (!at_zero_) return bound(column, value_[column], way_[column]);
  const auto read = std::ranges::lower_bound(since_, column, {}, &Read::column);
  if (read != since_.end() && read->column == column) return read->value;
  return bound(column, at_zero_->correlation[column], 0);
}

void Correlation::read_all() {
  at_zero_.reset(), since_.clear();
  start_over();
  design_.transpose_multiply(residual_, value_, *work_);
  way_.setConstant(value_.size(), way_now_);
  complete_ = fresh_ = true, bounded_ = false;
}

void Correlation::read(std::span<const Index> columns) {
  if (!at_zero_ && way_.size() == 0) value_.setZero(design_.cols()), way_.setConstant(design_.cols(), -1);
  std::vector<Index> stale;
  stale.reserve(columns.size());
  for (const Index j : columns)
    if (!exact(j)) stale.push_back(j);
  Vector values(std::ssize(stale));
  design_.transpose_multiply(stale, residual_, values.data(), *work_);
  bounded_ = false;
  if (at_zero_) return note(stale, values);
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = stale[static_cast<std::size_t>(k)];
    value_[j] = values[k] / factor_, way_[j] = way_now_;
  }
}

void Correlation::note(std::span<const Index> columns, const Vector& values) {
  std::vector<Read> all;
  all.reserve(since_.size() + columns.size());
  auto next = since_.begin();
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = columns[static_cast<std::size_t>(k)];
    while (next != since_.end() && next->column < j) all.push_back(*next++);
    all.push_back({j, values[k]});
  }
  all.insert(all.end(), next, since_.end());
  since_.swap(all);
}

Vector Correlation::bounds(const Selection& columns) const {
  const Index count = columns.size();
  Vector v(count);
  if (count == value_.size() && nonnegative_) {
    v = factor_ * (value_.array() + (way_now_ - way_.array()) * design_.norms().array());
  } else if (count == value_.size()) {  // all, in order
    kernels::grow(value_.data(), way_.data(), design_.norms().data(), way_now_, factor_, v.data(), count);
  } else {
    for (Index k = 0; k < count; ++k) v[k] = value(columns[k]);
  }
  return v;
}

}  // namespace tyto
