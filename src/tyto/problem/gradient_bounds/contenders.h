#pragma once

#include <functional>
#include <optional>

#include "tyto/base/tuning.h"
#include "tyto/base/types.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {

// The columns that J°(X'r) may depend on where it is at least `level`: of m columns that are left, those with
// |x_j'r| below `least` = level times w_m cannot raise it; dropping them lowers m.
struct Contenders {
  IndexSet columns;
  Vector bounds;  // of X'r in these columns
  double least = 0, level = 0;
};
// From bounds v of X'r. Nothing, if the contenders are more than `most`.
std::optional<Contenders> contenders(const SortedL1& penalty, const Vector& v, double level, Index most,
                                     const Tuning::Reading& tuning = {});
// Those of them that have to be read to know J°: the prefix that pays at that level.
IndexSet decisive(const SortedL1& penalty, const Contenders& of, double level);
// Those of them that are left at a higher level: columns are dropped as long as a round leaves less than the
// share `narrowing` of them.
Contenders narrowed(const SortedL1& penalty, Contenders of, double level, double narrowing);

// Contenders are wanted at a level, if they are no more than `most`.
struct ContenderSearch {
  const SortedL1& penalty;
  double level;
  Index most;
  double narrowing;
};
// No |x_j'r| is above factor |v_j| + slack.
struct RoughBounds {
  const Vector& v;
  double factor, slack;
};
// The contenders by bound(j) >= |x_j'r|, which is made only for columns that the rough bounds leave. Nothing,
// if by the rough bounds alone they would be more than `most`.
std::optional<Contenders> contenders(const ContenderSearch& search, const RoughBounds& rough,
                                     const std::function<double(Index)>& bound);

}  // namespace tyto
