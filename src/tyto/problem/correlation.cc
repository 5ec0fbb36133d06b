#include "tyto/problem/correlation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tyto/math/entries.h"
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

// The first of the columns that pull hardest.
Index hardest(const SortedL1& penalty, const Vector& v) {
  Vector room;
  const Vector& pulls = penalty.counted(v, room);
  return entries_above(pulls, kernels::magnitudes(pulls.data(), pulls.size()).largest).front();
}

}  // namespace

Contenders contenders(const SortedL1& penalty, const Vector& v, double level) {
  Vector room;
  const Vector& pulls = penalty.counted(v, room);
  if (v.size() == 0) return {{}, 0};
  const auto threshold = [&](Index left) { return level * penalty.weight(left - 1); };
  auto [left, before] = count_down(pulls, threshold);  // faster until few are left
  double least = threshold(before);
  IndexSet columns = entries_above(pulls, least);
  while (left > 0 && 10 * left < 9 * before) {
    before = left, least = threshold(left);
    std::erase_if(columns, [&](Index j) { return std::abs(pulls[j]) < least; });
    left = std::ssize(columns);
  }
  return {std::move(columns), least};
}

IndexSet decisive(const SortedL1& penalty, const Vector& v, const Contenders& of, double level) {
  const double cut = paying_cut(restrict_to(v, of.columns), penalty.head(std::ssize(of.columns)), level);
  IndexSet result;
  std::ranges::copy_if(of.columns, std::back_inserter(result),
                       [&](Index k) { return penalty.pull(v[k]) >= cut; });
  return result;
}

Correlation::Correlation(const Design& design, bool nonnegative)
    : design_(design),
      nonnegative_(nonnegative),
      short_columns_(short_columns(design)),
      tiny_columns_(design.is_sparse() && entries_at_most(design, kTiny)) {}

void Correlation::move_to(const Vector& r) {
  if (residual_.size() > 0 && residual_ != r) {
    const double step = kMargin * ((r - residual_).norm() + 1e-14 * r.norm());
    way_now_ = std::nextafter(way_now_ + step, std::numeric_limits<double>::infinity());
    fresh_ = false;
  }
  residual_ = r;
}

void Correlation::adopt(const Vector& r, const Vector& values, std::span<const Index> read, double distance) {
  move_to(r);
  value_ = values;
  way_.setConstant(value_.size(), way_now_);
  if (distance > 0) way_now_ = std::nextafter(way_now_ + distance, std::numeric_limits<double>::infinity());
  for (const Index j : read) way_[j] = way_now_;
  complete_ = true, fresh_ = !(distance > 0);
}

void Correlation::adopt(const Vector& y, const AtZero& at_zero) {
  adopt(y, at_zero.correlation, {}, 0);
  settled_way_ = way_now_, settled_norm_ = at_zero.dual_norm, settled_penalty_ = at_zero.penalty;
}

void Correlation::read_all() {
  design_.transpose_multiply(residual_, value_);
  way_.setConstant(value_.size(), way_now_);
  complete_ = fresh_ = true;
}

void Correlation::read(std::span<const Index> columns) {
  if (way_.size() == 0) value_.setZero(design_.cols()), way_.setConstant(design_.cols(), -1);
  std::vector<Index> stale;
  stale.reserve(columns.size());
  for (const Index j : columns)
    if (!exact(j)) stale.push_back(j);
  Vector values(std::ssize(stale));
  design_.transpose_multiply(stale, residual_, values.data());
  for (Index k = 0; k < values.size(); ++k) {
    const Index j = stale[static_cast<std::size_t>(k)];
    value_[j] = values[k], way_[j] = way_now_;
  }
}

Vector Correlation::values(const Selection& columns) const {
  const Index count = columns.size();
  if (fresh_ && count == value_.size()) return value_;
  Vector v(count);
  if (count == value_.size() && nonnegative_) {
    v = value_.array() + (way_now_ - way_.array()) * design_.norms().array();
  } else if (count == value_.size()) {  // all, in order
    kernels::grow(value_.data(), way_.data(), design_.norms().data(), way_now_, v.data(), count);
  } else {
    for (Index k = 0; k < count; ++k) v[k] = value(columns[k]);
  }
  return v;
}

Settled Correlation::settle(const Problem& problem, const Vector& beta, const Selection& columns) {
  if (!complete_) read_all();
  Settled result{values(columns), 0, nonzero_entries(beta)};
  if (columns.empty()) return result;
  Vector& v = result.correlation;
  const auto read_places = [&](const IndexSet& places) {  // true if all are read, which is sooner done
    if (4 * std::ssize(places) > 3 * value_.size()) {
      read_all();
      v = values(columns);
      add_ridge(problem, beta, v);
      return true;
    }
    read(columns.at(places));
    for (const Index k : places) v[k] = value_[columns[k]] - problem.ridge * beta[k];
    return false;
  };
  const auto dual_norm = [&](const IndexSet& places) {
    return problem.penalty.head(std::ssize(places)).dual_norm(restrict_to(v, places));
  };
  bool all_read = read_places(result.support);
  const bool whole = columns.size() == value_.size();
  if (whole && settled_way_ == way_now_ &&
      problem.ridge == 0) {  // the same r: J° is known up to the multiplier
    if (const auto ratio = settled_penalty_->multiple_of(problem.penalty)) {
      result.dual_norm = *ratio * settled_norm_;
      return result;
    }
  }
  // J° of the support bounds J° from below; where it is empty, that of one column does.
  IndexSet one;
  if (result.support.empty()) read_places(one = {hardest(problem.penalty, v)});
  const double level = dual_norm(one.empty() ? result.support : one);
  Contenders large{{}, 0};
  if (!all_read) {
    large = contenders(problem.penalty, v, level);
    all_read = read_places(short_columns_ ? large.columns : decisive(problem.penalty, v, large, level));
    if (!all_read)
      std::erase_if(large.columns, [&](Index k) { return problem.penalty.pull(v[k]) < large.least; });
  }
  // Where weights tie, rounding may put the support itself below its own level; it counts all the same.
  result.dual_norm = std::max(level, all_read ? problem.penalty.dual_norm(v) : dual_norm(large.columns));
  if (whole) settled_way_ = way_now_, settled_norm_ = result.dual_norm, settled_penalty_ = problem.penalty;
  return result;
}

}  // namespace tyto
