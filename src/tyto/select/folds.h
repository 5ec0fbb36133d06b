#pragma once

#include <cstdint>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

using Folds = std::vector<Index>;  // the fold of each row: 0, ..., K - 1

// K folds of n rows at random, their sizes differing by 1 at most; same seed, same folds. 2 <= K <= n.
Folds random_folds(Index n, Index k, std::uint64_t seed);

// The same with about as many rows of each label in every fold.
Folds stratified_folds(const Vector& labels, Index k, std::uint64_t seed);

// Folds that are given by any whole numbers: the smallest becomes 0, the next 1, and so on.
Folds renumbered(const std::vector<Index>& labels);

// K. Throws InvalidArgument unless there are n numbers, at least two folds, and none is empty.
Index count_folds(const Folds& folds, Index n);

struct Split {
  IndexSet training, held_out;  // rows
};
Split split(const Folds& folds, Index fold);

}  // namespace tyto
