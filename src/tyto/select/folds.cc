#include "tyto/select/folds.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "tyto/base/error.h"

namespace tyto {

namespace {

// Numbers from 0 to n - 1 in random order; std::shuffle differs from library to library, this does not.
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 bits(seed);
  for (std::size_t left = n; left > 1; --left) std::swap(order[left - 1], order[bits() % left]);
  return order;
}

void check_count(Index n, Index k) {
  if (k < 2 || k > n)
    throw InvalidArgument(fmt::format("folds: want a number from 2 to {}, the number of rows, got {}", n, k));
}

}  // namespace

Folds stratified_folds(const Vector& labels, Index k, std::uint64_t seed) {
  check_count(labels.size(), k);
  std::vector<std::size_t> order = shuffled(static_cast<std::size_t>(labels.size()), seed);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return labels[static_cast<Index>(row)]; });
  Folds folds(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    folds[order[place]] = static_cast<Index>(place) % k;
  return folds;
}

Folds random_folds(Index n, Index k, std::uint64_t seed) {
  check_count(n, k);
  Folds folds;
  for (const std::size_t place : shuffled(static_cast<std::size_t>(n), seed))
    folds.push_back(static_cast<Index>(place) % k);
  return folds;
}

Folds renumbered(const std::vector<Index>& labels) {
  std::vector<Index> known = labels;
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  Folds folds;
  for (const Index label : labels) folds.push_back(std::ranges::lower_bound(known, label) - known.begin());
  return folds;
}

Index count_folds(const Folds& folds, Index n) {
  if (std::ssize(folds) != n)
    throw InvalidArgument(fmt::format("folds: want {} numbers, one for each row, got {}", n, folds.size()));
  std::vector<Index> rows(folds.size());
  for (const Index fold : folds) {
    if (fold < 0 || fold >= n) throw InvalidArgument(fmt::format("folds: want numbers from 0, got {}", fold));
    ++rows[static_cast<std::size_t>(fold)];
  }
  const auto end = std::ranges::find(rows, 0);
  if (std::any_of(end, rows.end(), [](Index count) { return count > 0; }))
    throw InvalidArgument(
        fmt::format("folds: want rows in every fold, got none in fold {}", end - rows.begin()));
  if (end - rows.begin() < 2) throw InvalidArgument("folds: want at least 2 folds, got one");
  return end - rows.begin();
}

Split split(const Folds& folds, Index fold) {
  Split result;
  for (std::size_t row = 0; row < folds.size(); ++row)
    (folds[row] == fold ? result.held_out : result.training).push_back(static_cast<Index>(row));
  return result;
}

}  // namespace tyto
