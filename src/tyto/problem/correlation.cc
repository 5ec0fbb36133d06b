#include "tyto/problem/correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"

namespace tyto {
namespace {

// Bounds are a little larger than they need be, so that rounding is covered.
constexpr double kMargin = 1 + 1e-10;

// A column with so few rows is read sooner than it is ranked among its like; and one of more rows, where X
// stays in the cache.
constexpr Index kShort = 48, kShortInCache = 128, kEntriesInCache = 1 << 20;
bool short_columns(const Design& design) {
  return design.rows() <= kShort ||
         (design.rows() <= kShortInCache && design.stored_entries() <= kEntriesInCache);
}

}  // namespace

Correlation::Correlation(const Design& design, bool nonnegative)
    : design_(design),
      norm_(kMargin * design.norms()),
      value_(Vector::Zero(design.cols())),
      way_(Vector::Constant(design.cols(), -1)),
      nonnegative_(nonnegative),
      short_columns_(short_columns(design)) {}

void Correlation::move_to(const Vector& r) {
  if (residual_.size() > 0 && residual_ != r) {
    const double step = kMargin * (r - residual_).norm() + 1e-14 * r.norm();
    way_now_ = std::nextafter(way_now_ + step, std::numeric_limits<double>::infinity());
  }
  residual_ = r;
}

void Correlation::adopt(const Vector& r, const Vector& values) {
  move_to(r);
  value_ = values;
  way_.setConstant(way_now_);
  complete_ = true;
}

void Correlation::read(std::span<const Index> columns) {
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

Vector Correlation::values(std::span<const Index> columns) const {
  const Index count = std::ssize(columns);
  Vector v(count);
  if (count == value_.size() && nonnegative_) {
    v = value_.array() + (way_now_ - way_.array()) * norm_.array();
  } else if (count == value_.size()) {  // all, in order
    kernels::grow(value_.data(), way_.data(), norm_.data(), way_now_, v.data(), count);
  } else {
    for (Index k = 0; k < count; ++k) v[k] = value(columns[static_cast<std::size_t>(k)]);
  }
  return v;
}

Eigen::Array<bool, Eigen::Dynamic, 1> Correlation::bounded(std::span<const Index> columns) const {
  Eigen::Array<bool, Eigen::Dynamic, 1> result(std::ssize(columns));
  bool* out = result.data();
  const double* way = way_.data();
  if (std::ssize(columns) == way_.size())  // a loop that the compiler vectorises
    for (Index k = 0; k < result.size(); ++k) out[k] = way[k] != way_now_;
  else
    for (Index k = 0; k < result.size(); ++k) out[k] = !exact(columns[static_cast<std::size_t>(k)]);
  return result;
}

Settled Correlation::settle(const Problem& problem, const Vector& beta, std::span<const Index> columns) {
  const auto column = [&](Index k) { return columns[static_cast<std::size_t>(k)]; };
  const auto numbers = [&](const IndexSet& places) {
    IndexSet result(places.size());
    std::ranges::transform(places, result.begin(), column);
    return result;
  };
  if (!complete_) {
    IndexSet all(static_cast<std::size_t>(value_.size()));
    std::iota(all.begin(), all.end(), Index{0});
    read(all);
    complete_ = true;
  }
  Settled result{values(columns), 0};
  if (columns.empty()) return result;
  Vector& v = result.correlation;
  const auto read_places = [&](const IndexSet& places) {
    read(numbers(places));
    for (const Index k : places) v[k] = value(column(k)) - problem.ridge * beta[k];
  };
  const auto dual_norm = [&](const IndexSet& places) {
    return problem.penalty.head(std::ssize(places)).dual_norm(restrict_to(v, places));
  };
  IndexSet support = nonzero_entries(beta);
  if (support.empty()) {
    support.resize(1);
    (nonnegative_ ? v : Vector(v.cwiseAbs())).maxCoeff(support.data());
  }
  read_places(support);
  const bool whole = std::ssize(columns) == value_.size();
  if (whole && settled_way_ == way_now_ &&
      problem.ridge == 0) {  // the same r: J° is known up to the multiplier
    if (const auto ratio = settled_penalty_->multiple_of(problem.penalty)) {
      result.dual_norm = *ratio * settled_norm_;
      return result;
    }
  }
  // J° of the support bounds J° from below. Of m columns that are left, those smaller than that times w_m
  // cannot raise it; and that raises w_m. Nor can what is behind the prefix that pays at that level.
  const double level = dual_norm(support);
  Vector room;
  double least = 0;
  const Vector& pulls = problem.penalty.counted(v, room);
  for (Index left = std::ssize(columns), before = 2 * left; left > 0 && 10 * left < 9 * before;) {
    before = left, least = level * problem.penalty.weight(left - 1);
    left = kernels::count_above(pulls.data(), pulls.size(), least);
  }
  const auto above = [&] { return entries_above(problem.penalty.counted(v, room), least); };
  IndexSet large = above();
  if (short_columns_) {
    read_places(large);
    large = above();
  } else {
    const double cut = paying_cut(restrict_to(v, large), problem.penalty.head(std::ssize(large)), level);
    IndexSet wanted = large;
    std::erase_if(wanted, [&](Index k) { return problem.penalty.pull(v[k]) < cut; });
    read_places(wanted);
  }
  // Where weights tie, rounding may put the support itself below its own level; it counts all the same.
  result.dual_norm = std::max(level, dual_norm(large));
  if (whole) settled_way_ = way_now_, settled_norm_ = result.dual_norm, settled_penalty_ = problem.penalty;
  return result;
}

}  // namespace tyto
