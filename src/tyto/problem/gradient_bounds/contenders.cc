#include "tyto/problem/gradient_bounds/contenders.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/math/entries.h"

namespace tyto {
namespace {

// `before`: how many there were before the last round.
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

}  // namespace

Contenders narrowed(const SortedL1& penalty, Contenders of, double level, double narrowing) {
  const Index left = std::ssize(of.columns);
  if (left == 0) return of;
  return narrowed(penalty, std::move(of), level, 2 * left, narrowing);
}

std::optional<Contenders> contenders(const ContenderSearch& search, const RoughBounds& rough,
                                     const std::function<double(Index)>& bound) {
  Contenders result{{}, {}, 0, search.level};
  if (rough.v.size() == 0) return result;
  const auto threshold = [&](Index left) {
    return (search.level * search.penalty.weight(left - 1) - rough.slack) / rough.factor;
  };
  const auto [left, before] = count_down(rough.v, threshold);
  if (left > search.most) return std::nullopt;
  result.columns = entries_above(rough.v, threshold(before));
  result.bounds.resize(std::ssize(result.columns));
  std::ranges::transform(result.columns, result.bounds.begin(), bound);
  return narrowed(search.penalty, std::move(result), search.level, before, search.narrowing);
}

std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most,
                                     const Tuning::Reading& tuning) {
  Vector room;
  const Vector& counted = penalty.counted(v, room);
  return contenders({penalty, level, most, tuning.narrowing}, {counted, 1, 0},
                    [&](Index j) { return counted[j]; });
}

IndexSet decisive(const SortedL1& penalty, const Contenders& of, double level) {
  const double cut = paying_cut(of.bounds, penalty.head(of.bounds.size()), level);
  IndexSet result;
  for (Index k = 0; k < of.bounds.size(); ++k)
    if (penalty.pull(of.bounds[k]) >= cut) result.push_back(of.columns[static_cast<std::size_t>(k)]);
  return result;
}

}  // namespace tyto
