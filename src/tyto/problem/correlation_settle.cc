// What a certificate needs to know of X'r.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"
#include "tyto/problem/correlation.h"

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

// Drops the columns whose bound is below level times w_m, m the number that is left, as long as a round drops
// many. `before`: how many there were before the last round.
Contenders narrowed(const SortedL1& penalty, Contenders of, double level, Index before, double narrowing) {
  Index left = std::ssize(of.columns);
  of.level = level;
  of.least = level * penalty.weight(std::min(before, penalty.size()) - 1);
  while (left > 0 && static_cast<double>(left) < narrowing * static_cast<double>(before)) {
    before = left;
    left = 0;
    of.least = level * penalty.weight(before - 1);
    for (Index k = 0; k < before; ++k) {
      of.columns[static_cast<std::size_t>(left)] = of.columns[static_cast<std::size_t>(k)];
      of.bounds[left] = of.bounds[k];
      left += std::abs(of.bounds[k]) >= of.least ? 1 : 0;
    }
  }
  of.columns.resize(static_cast<std::size_t>(left));
  of.bounds.conservativeResize(left);
  return of;
}

Contenders narrowed(const SortedL1& penalty, Contenders of, double level, double narrowing) {
  const Index left = std::ssize(of.columns);
  if (left == 0) return of;
  return narrowed(penalty, std::move(of), level, 2 * left, narrowing);
}

// Contenders are wanted at a level, if they are no more than `most`.
struct Search {
  const SortedL1& penalty;
  double level;
  Index most;
  double narrowing;
};
// No bound is above factor |v_j| + slack.
struct Estimate {
  const Vector& v;
  double factor, slack;
};

// The contenders where bound(j) >= |x_j'r|. Nothing, if by the estimate alone they would be more than `most`.
template <class Bound>
std::optional<Contenders> contenders_of(const Search& search, const Estimate& estimate, Bound bound) {
  Contenders result{{}, {}, 0, search.level};
  const Vector& v = estimate.v;
  if (v.size() == 0) return result;
  const auto threshold = [&](Index left) {
    return (search.level * search.penalty.weight(left - 1) - estimate.slack) / estimate.factor;
  };
  const auto [left, before] = count_down(v, threshold);
  if (left > search.most) return std::nullopt;
  result.columns = entries_above(v, threshold(before));
  result.bounds.resize(std::ssize(result.columns));
  std::ranges::transform(result.columns, result.bounds.begin(), bound);
  return narrowed(search.penalty, std::move(result), search.level, before, search.narrowing);
}

}  // namespace

std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most,
                                     const Tuning::Reading& tuning) {
  Vector room;
  const Vector& counted = penalty.counted(v, room);
  return contenders_of({penalty, level, most, tuning.narrowing}, {counted, 1, 0},
                       [&](Index j) { return counted[j]; });
}

IndexSet decisive(const SortedL1& penalty, const Contenders& of, double level) {
  const double cut = paying_cut(of.bounds, penalty.head(of.bounds.size()), level);
  IndexSet result;
  for (Index k = 0; k < of.bounds.size(); ++k)
    if (penalty.pull(of.bounds[k]) >= cut) result.push_back(of.columns[static_cast<std::size_t>(k)]);
  return result;
}

const Vector& Correlation::values(const Problem& problem, const Vector& beta, const Selection& columns) {
  if (bounded_) return bounds_;
  if (fresh_ && columns.size() == design_.cols() && problem.ridge == 0)
    return at_zero_ ? at_zero_->correlation : value_;
  leave_zero();
  bounds_ = bounds(columns);
  add_ridge(problem, beta, bounds_);
  bounded_ = true;
  return bounds_;
}

void Correlation::read_places(const IndexSet& places, const Selection& columns) {
  if (std::ssize(places) > most_read())
    read_all();
  else
    read(columns.at(places));
}

std::optional<Contenders> Correlation::contenders_near_zero(const SortedL1& penalty, double level) const {
  const double slack = rounding::kLongestColumn * factor_ * drift_ * design_.largest_rounding_norm();
  const Vector& v = at_zero_->correlation;
  const Index most = share_of(tuning_.near_zero_share, design_.cols());
  return contenders_of({penalty, level, most, tuning_.narrowing}, {v, factor_, slack},
                       [&](Index j) { return bound(j, v[j], 0); });
}

// Takes the values of columns that have been read since into the bounds of contenders.
void Correlation::update(const SortedL1& penalty, Contenders& of) const {
  auto next = read_.begin();
  for (Index k = 0; k < of.bounds.size(); ++k) {
    const Index j = of.columns[static_cast<std::size_t>(k)];
    while (next != read_.end() && next->column < j) ++next;
    if (!at_zero_)
      of.bounds[k] = penalty.pull(bounds_[j]);
    else if (next != read_.end() && next->column == j)
      of.bounds[k] = next->value;
  }
}

// Whether a sample says that most of all columns would have to be read: then they are not ranked first. A
// sample of the columns with a sample of the weights is a small problem of the same kind. Columns may repeat
// with a period: so the place within each stretch changes from one to the next.
bool Correlation::most_matter(const SortedL1& penalty, const Selection& columns, double level) const {
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

// J° where it is at least `level`: all columns that may raise it are read.
double Correlation::dual_norm(const Problem& problem, const Vector& beta, const Selection& columns,
                              double level) {
  const SortedL1& penalty = problem.penalty;
  const auto of_all = [&] { return penalty.dual_norm(values(problem, beta, columns), level); };
  if (fresh_) return of_all();
  std::optional<Contenders> wide, large;
  if (at_zero_) wide = contenders_near_zero(penalty, tuning_.wide_level * level);
  if (wide)
    large = narrowed(penalty, *wide, level, tuning_.narrowing);
  else if (!most_matter(penalty, columns, level))
    // Of short columns all contenders are read, so there may not be too many; of others mostly few are.
    large = tyto::contenders(penalty, values(problem, beta, columns), level,
                             short_columns_ ? most_read() : columns.size(), tuning_);
  if (large)
    read_places(short_columns_ ? large->columns : decisive(penalty, *large, level), columns);
  else
    read_all();
  if (fresh_) return of_all();
  if (!wide) {
    for (const Index k : large->columns) bounds_[k] = value(columns[k]) - problem.ridge * beta[k];
    bounded_ = true;
  }
  Contenders& known = wide ? *wide : *large;
  update(penalty, known);
  const Vector left = narrowed(penalty, known, level, tuning_.narrowing).bounds;
  if (wide) contenders_ = std::move(*wide);
  return std::max(level, penalty.head(left.size()).dual_norm(left));
}

Settled Correlation::settle(const Problem& problem, const Vector& beta, IndexSet support,
                            const Selection& columns) {
  Settled result{0, std::move(support), {}};
  contenders_ = {};
  bounded_ = false;
  if (!complete_) read_all();
  if (columns.empty()) return result;
  const bool whole = columns.size() == design_.cols();
  if (!whole || problem.ridge > 0) leave_zero();
  read_places(result.support, columns);
  result.at_support.resize(std::ssize(result.support));
  std::ranges::transform(result.support, result.at_support.begin(),
                         [&](Index k) { return value(columns[k]) - problem.ridge * beta[k]; });
  const SortedL1& penalty = problem.penalty;
  if (whole && settled_at_ == drift_ && problem.ridge == 0) {  // the same r: J° of a multiple is known
    if (const auto known = penalty.dual_norm_from(*settled_penalty_, settled_norm_)) {
      result.dual_norm = *known;
      return result;
    }
  }
  // J° of the support bounds J° from below; where it is empty, that of one column does. Where weights tie,
  // rounding may put the support itself below its own level; it counts all the same.
  Vector some = result.at_support;
  if (result.support.empty()) {
    const Index one = hardest(penalty, values(problem, beta, columns));
    read_places({one}, columns);
    some = Vector::Constant(1, value(columns[one]));
  }
  result.dual_norm = dual_norm(problem, beta, columns, penalty.head(some.size()).dual_norm(some));
  if (whole) {
    settled_at_ = drift_;
    settled_norm_ = result.dual_norm;
    settled_penalty_ = penalty;
  }
  return result;
}

}  // namespace tyto
