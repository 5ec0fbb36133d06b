// What a certificate needs to know of X'r.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"
#include "tyto/problem/correlation.h"

namespace tyto {
namespace {

// The first of the columns that pull hardest. Where no pull is a number, because somebody changed the data,
// any column will do.
Index hardest(const SortedL1& penalty, const Vector& v) {
  Vector room;
  const Vector& pulls = penalty.counted(v, room);
  const IndexSet found = entries_above(pulls, kernels::magnitudes(pulls.data(), pulls.size()).largest);
  return found.empty() ? 0 : found.front();
}

// Drops what is below the price of the last of those that are left, as long as there is much of it; so it was
// when there were that many before.
Contenders narrowed(const SortedL1& penalty, Contenders of, double level, Index before) {
  Index left = std::ssize(of.columns);
  of.level = level, of.least = level * penalty.weight(std::min(before, penalty.size()) - 1);
  while (left > 0 && 10 * left < 9 * before) {
    before = left, left = 0;
    of.least = level * penalty.weight(before - 1);
    for (Index k = 0; k < before; ++k) {
      const auto from = static_cast<std::size_t>(k), to = static_cast<std::size_t>(left);
      of.columns[to] = of.columns[from], of.bounds[left] = of.bounds[k];
      left += std::abs(of.bounds[k]) >= of.least ? 1 : 0;
    }
  }
  of.columns.resize(static_cast<std::size_t>(left)), of.bounds.conservativeResize(left);
  return of;
}

Contenders narrowed(const SortedL1& penalty, Contenders of, double level) {
  const Index left = std::ssize(of.columns);
  if (left == 0) return of;
  return narrowed(penalty, std::move(of), level, 2 * left);
}

// Contenders where bound(j) >= |x_j'r|, and is above |v_j| times a factor by no more than `slack`. None, if
// by v alone they would be more than `most`.
template <class Bound>
std::optional<Contenders> contenders_of(const SortedL1& penalty, const Vector& v, double factor, double slack,
                                        double level, Index most, Bound bound) {
  Contenders result{{}, {}, 0, level};
  if (v.size() == 0) return result;
  const auto threshold = [&](Index left) { return (level * penalty.weight(left - 1) - slack) / factor; };
  const auto [left, before] = count_down(v, threshold);
  if (left > most) return std::nullopt;
  result.columns = entries_above(v, threshold(before));
  result.bounds.resize(std::ssize(result.columns));
  std::ranges::transform(result.columns, result.bounds.begin(), bound);
  return narrowed(penalty, std::move(result), level, before);
}

}  // namespace

std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most) {
  Vector room;
  const Vector& pulls = penalty.counted(v, room);
  return contenders_of(penalty, pulls, 1, 0, level, most, [&](Index j) { return pulls[j]; });
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
  spread();
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

// No column is longer than the largest magnitude, but for rounding.
std::optional<Contenders> Correlation::contenders_near_zero(const SortedL1& penalty, double level) const {
  const double slack = (1 + 1e-6) * factor_ * way_now_ * design_.largest_magnitude();
  const Vector& v = at_zero_->correlation;
  return contenders_of(penalty, v, factor_, slack, level, design_.cols() / 16,
                       [&](Index j) { return bound(j, v[j], 0); });
}

// Bounds of contenders where columns have been read since.
void Correlation::update(const SortedL1& penalty, Contenders& of) const {
  auto next = since_.begin();
  for (Index k = 0; k < of.bounds.size(); ++k) {
    const Index j = of.columns[static_cast<std::size_t>(k)];
    while (next != since_.end() && next->column < j) ++next;
    if (!at_zero_)
      of.bounds[k] = penalty.pull(bounds_[j]);
    else if (next != since_.end() && next->column == j)
      of.bounds[k] = next->value;
  }
}

// Whether a sample says that most of all columns would have to be read: then they are not ranked first. A
// sample of the weights, too, makes a sample of the problem. Columns are taken at a place within each stretch
// that changes from one to the next, as their order may have a period.
bool Correlation::most_matter(const SortedL1& penalty, const Selection& columns, double level) const {
  constexpr Index kSample = 1024, kStretch = 8, kScramble = 2654435761;
  const Index stretch = columns.size() / kSample;
  if (stretch < kStretch || columns.size() <= most_read()) return false;
  const Vector weights = Vector::NullaryExpr(kSample, [&](Index k) { return penalty.weight(k * stretch); });
  const Vector some = Vector::NullaryExpr(kSample, [&](Index k) {
    return penalty.pull(value(columns[k * stretch + (k * kScramble >> 16) % stretch]));
  });
  const double cut = paying_cut(some, SortedL1(weights), level);
  return 5 * kernels::count_above(some.data(), kSample, cut) > 4 * kSample;
}

// J° where it is at least `level`: all columns that may raise it are read.
double Correlation::dual_norm(const Problem& problem, const Vector& beta, const Selection& columns,
                              double level) {
  constexpr double kWide = 0.99;  // so that a ball around the answer adds no other columns
  const SortedL1& penalty = problem.penalty;
  const auto of_all = [&] { return penalty.dual_norm(values(problem, beta, columns), level); };
  if (fresh_) return of_all();
  std::optional<Contenders> wide, large;
  if (at_zero_) wide = contenders_near_zero(penalty, kWide * level);
  if (wide)
    large = narrowed(penalty, *wide, level);
  else if (!most_matter(penalty, columns, level))
    // Short ones are all read, if they are; of others mostly few.
    large = tyto::contenders(penalty, values(problem, beta, columns), level,
                             short_columns_ ? most_read() : columns.size());
  if (large)
    read_places(short_columns_ ? large->columns : decisive(penalty, *large, level), columns);
  else
    read_all();
  if (fresh_) return of_all();
  if (!wide) {
    for (const Index k : large->columns) bounds_[k] = value(columns[k]) - problem.ridge * beta[k];
    bounded_ = true;
  }
  Contenders& read = wide ? *wide : *large;
  update(penalty, read);
  const Vector left = narrowed(penalty, read, level).bounds;
  if (wide) contenders_ = std::move(*wide);
  return std::max(level, penalty.head(left.size()).dual_norm(left));
}

Settled Correlation::settle(const Problem& problem, const Vector& beta, IndexSet support,
                            const Selection& columns) {
  Settled result{0, std::move(support), {}};
  contenders_ = {}, bounded_ = false;
  if (!complete_) read_all();
  if (columns.empty()) return result;
  const bool whole = columns.size() == design_.cols();
  if (!whole || problem.ridge > 0) spread();
  read_places(result.support, columns);
  result.at_support.resize(std::ssize(result.support));
  std::ranges::transform(result.support, result.at_support.begin(),
                         [&](Index k) { return value(columns[k]) - problem.ridge * beta[k]; });
  const SortedL1& penalty = problem.penalty;
  if (whole && settled_way_ == way_now_ &&
      problem.ridge == 0) {  // the same r: J° is known up to the multiplier
    if (const auto ratio = settled_penalty_->multiple_of(penalty)) {
      result.dual_norm = *ratio * settled_norm_;
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
  if (whole) settled_way_ = way_now_, settled_norm_ = result.dual_norm, settled_penalty_ = penalty;
  return result;
}

}  // namespace tyto
