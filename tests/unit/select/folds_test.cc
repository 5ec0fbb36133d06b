#include "tyto/select/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tyto/base/error.h"

namespace tyto {
namespace {

std::vector<Index> sizes(const Folds& folds, Index k) {
  std::vector<Index> count(static_cast<std::size_t>(k));
  for (const Index fold : folds) ++count.at(static_cast<std::size_t>(fold));
  return count;
}

template <class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Folds, AreAPartitionOfNearlyEqualParts) {
  for (const auto& [n, k] : std::vector<std::pair<Index, Index>>{{2, 2}, {10, 3}, {10, 10}, {101, 10}}) {
    const Folds folds = random_folds(n, k, 7);
    ASSERT_EQ(std::ssize(folds), n);
    const auto count = sizes(folds, k);
    EXPECT_LE(std::ranges::max(count) - std::ranges::min(count), 1) << n << " " << k;
    EXPECT_EQ(count_folds(folds, n), k);
    std::set<Index> held_out;
    for (Index fold = 0; fold < k; ++fold) {
      const Split rows = split(folds, fold);
      EXPECT_EQ(std::ssize(rows.training) + std::ssize(rows.held_out), n);
      EXPECT_TRUE(std::ranges::is_sorted(rows.training) && std::ranges::is_sorted(rows.held_out));
      for (const Index row : rows.held_out) EXPECT_TRUE(held_out.insert(row).second);
      for (const Index row : rows.training)
        EXPECT_FALSE(std::ranges::binary_search(rows.held_out, row)) << row;
    }
    EXPECT_EQ(std::ssize(held_out), n);
  }
}

TEST(Folds, DependOnTheSeedAndOnNothingElse) {
  EXPECT_EQ(random_folds(40, 4, 1), random_folds(40, 4, 1));
  EXPECT_NE(random_folds(40, 4, 1), random_folds(40, 4, 2));
  Folds in_order(40);
  for (std::size_t row = 0; row < in_order.size(); ++row) in_order[row] = static_cast<Index>(row) % 4;
  EXPECT_NE(random_folds(40, 4, 1), in_order);
}

TEST(Folds, ThatAreGivenMayHaveAnyNumbers) {
  EXPECT_EQ(renumbered({7, -3, 7, 100}), (Folds{1, 0, 1, 2}));
  EXPECT_EQ(renumbered({5, 5}), (Folds{0, 0}));
}

TEST(Folds, AreRefusedWhereTheyAreNone) {
  EXPECT_EQ(message([] { random_folds(5, 1, 1); }),
            "folds: want a number from 2 to 5, the number of rows, got 1");
  EXPECT_EQ(message([] { random_folds(5, 6, 1); }),
            "folds: want a number from 2 to 5, the number of rows, got 6");
  EXPECT_EQ(message([] { count_folds({0, 1}, 3); }), "folds: want 3 numbers, one for each row, got 2");
  EXPECT_EQ(message([] { count_folds({0, 0, 0}, 3); }), "folds: want at least 2 folds, got one");
  EXPECT_EQ(message([] { count_folds({0, 2, 0}, 3); }), "folds: want rows in every fold, got none in fold 1");
  EXPECT_EQ(message([] { count_folds({0, -1, 1}, 3); }), "folds: want numbers from 0, got -1");
  EXPECT_EQ(message([] { count_folds({0, 3, 1}, 3); }), "folds: want numbers from 0, got 3");
}

}  // namespace
}  // namespace tyto
