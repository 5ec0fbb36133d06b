// J°(X'r), and what else a certificate needs, from bounds that drift.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"
#include "tyto/problem/gradient_bounds/drift.h"

namespace tyto {
namespace {

// The first of the columns with the largest |x_j'r| (or x_j'r, where only positive parts count); the first of
// all where there is no maximum, since some are not numbers.
Index hardest(const SortedL1& penalty, const Vector& v) {
  Vector room;
  const Vector& counted = penalty.counted(v, room);
  const IndexSet largest =
      entries_above(counted, kernels::magnitudes(counted.data(), counted.size()).largest);
  return largest.empty() ? 0 : largest.front();
}

}  // namespace

const Vector& DriftBounds::values(const Problem& problem, const Vector& beta, const Selection& columns) {
  if (bounds_) return *bounds_;
  if (all_exact_ && columns.size() == design_.cols() && problem.ridge == 0)
    return source_ == Source::kAtZero ? at_zero_->correlation : value_;
  leave_zero();
  bounds_ = bounds(columns);
  add_ridge(problem, beta, *bounds_);
  return *bounds_;
}

void DriftBounds::read_places(const IndexSet& places, const Selection& columns) {
  if (std::ssize(places) > most_read())
    read_all();
  else
    read(columns.at(places));
}

std::optional<Contenders> DriftBounds::contenders_near_zero(const SortedL1& penalty, double level) const {
  const double slack = rounding::kLongestColumn * factor_ * drift_ * design_.largest_rounding_norm();
  const Vector& v = at_zero_->correlation;
  const Index most = share_of(tuning_.near_zero_share, design_.cols());
  return tyto::contenders({penalty, level, most, tuning_.narrowing}, {v, factor_, slack},
                          [&](Index j) { return bound(j, v[j], 0); });
}

// Whether a sample says that most of all columns would have to be read: then they are not ranked first. A
// sample of the columns with a sample of the weights is a small problem of the same kind. Columns may repeat
// with a period: so the place within each stretch changes from one to the next.
bool DriftBounds::most_matter(const SortedL1& penalty, const Selection& columns, double level) const {
  constexpr Index kScramble = 2654435761;
  const Index sample = tuning_.sample, stretch = columns.size() / sample;
  if (stretch < tuning_.sample_stretch || columns.size() <= most_read()) return false;
  const Vector weights = Vector::NullaryExpr(sample, [&](Index k) { return penalty.weight(k * stretch); });
  const Vector some = Vector::NullaryExpr(sample, [&](Index k) {
    return penalty.pull(value(columns[k * stretch + (k * kScramble >> 16) % stretch]));
  });
  const double cut = paying_cut(some, SortedL1(weights), level);
  return above_share(kernels::count_above(some.data(), sample, cut), tuning_.sample_share, sample);
}

// Reads those of the contenders that J° depends on. Of short columns all are read.
void DriftBounds::read_contenders(const SortedL1& penalty, const Contenders& of, double level,
                                  const Selection& columns) {
  read_places(short_columns_ ? of.columns : decisive(penalty, of, level), columns);
}

// J° where it is at least `level`, from all columns that may raise it.
double DriftBounds::dual_norm_of(const SortedL1& penalty, const Contenders& of, double level) const {
  const Vector left = narrowed(penalty, of, level, tuning_.narrowing).bounds;
  return std::max(level, penalty.head(left.size()).dual_norm(left));
}

// The contenders come from X'y alone. Nothing, if they are many, or all columns have been read.
std::optional<double> DriftBounds::dual_norm_near_zero(const SortedL1& penalty, const Selection& columns,
                                                       double level) {
  std::optional<Contenders> wide = contenders_near_zero(penalty, tuning_.wide_level * level);
  if (!wide) return std::nullopt;
  read_contenders(penalty, narrowed(penalty, *wide, level, tuning_.narrowing), level, columns);
  if (all_exact_) return std::nullopt;
  auto next = read_.begin();
  for (Index k = 0; k < wide->bounds.size(); ++k) {
    const Index j = wide->columns[static_cast<std::size_t>(k)];
    while (next != read_.end() && next->column < j) ++next;
    if (next != read_.end() && next->column == j) wide->bounds[k] = next->value;
  }
  contenders_ = std::move(*wide);
  return dual_norm_of(penalty, contenders_, level);
}

// J° where it is at least `level`: all columns that may raise it are read.
double DriftBounds::dual_norm(const Problem& problem, const Vector& beta, const Selection& columns,
                              double level) {
  const SortedL1& penalty = problem.penalty;
  if (source_ == Source::kAtZero && !all_exact_)
    if (const auto found = dual_norm_near_zero(penalty, columns, level)) return *found;
  if (!all_exact_ && most_matter(penalty, columns, level)) read_all();
  if (all_exact_) return penalty.dual_norm(values(problem, beta, columns), level);
  // Of short columns all contenders are read, so there may not be too many; of others mostly few are.
  const Index most = short_columns_ ? most_read() : columns.size();
  std::optional<Contenders> large =
      tyto::contenders(penalty, values(problem, beta, columns), level, most, tuning_);
  std::optional<Vector> bounds = std::exchange(bounds_, std::nullopt);
  if (large)
    read_contenders(penalty, *large, level, columns);
  else
    read_all();
  if (all_exact_) return penalty.dual_norm(values(problem, beta, columns), level);
  for (Index k = 0; k < large->bounds.size(); ++k) {
    const Index j = large->columns[static_cast<std::size_t>(k)];
    (*bounds)[j] = value(columns[j]) - problem.ridge * beta[j];
    large->bounds[k] = penalty.pull((*bounds)[j]);
  }
  bounds_ = std::move(bounds);
  return dual_norm_of(penalty, *large, level);
}

// J° of the support bounds J° from below; where it is empty, that of one column does. Where weights tie,
// rounding may put the support itself below its own level; it counts all the same.
double DriftBounds::level(const Problem& problem, const Vector& beta, const Vector& at_support,
                          const Selection& columns) {
  const SortedL1& penalty = problem.penalty;
  if (at_support.size() > 0) return penalty.head(at_support.size()).dual_norm(at_support);
  const Index one = hardest(penalty, values(problem, beta, columns));
  read_places({one}, columns);
  return penalty.head(1).dual_norm(Vector::Constant(1, value(columns[one])));
}

DualNormAt DriftBounds::evaluate_dual_norm(const Problem& problem, const Vector& beta, IndexSet support,
                                           const Selection& columns) {
  DualNormAt result{0, std::move(support), {}};
  contenders_ = {};
  bounds_.reset();
  if (source_ == Source::kNothing) read_all();
  if (columns.empty()) return result;
  const bool whole = columns.size() == design_.cols();
  if (!whole || problem.ridge > 0) leave_zero();
  read_places(result.support, columns);
  result.at_support.resize(std::ssize(result.support));
  std::ranges::transform(result.support, result.at_support.begin(),
                         [&](Index k) { return value(columns[k]) - problem.ridge * beta[k]; });
  const std::optional<double> known = whole ? dual_norm_.recall(problem) : std::nullopt;
  if (known) {  // the same r as the last time
    result.dual_norm = *known;
    return result;
  }
  const double at_least = level(problem, beta, result.at_support, columns);
  result.dual_norm = dual_norm(problem, beta, columns, at_least);
  if (whole) dual_norm_.remember(problem.penalty, result.dual_norm);
  return result;
}

}  // namespace tyto
