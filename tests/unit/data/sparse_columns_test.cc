#include "tyto/data/sparse_columns.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/files.h"

namespace tyto {
namespace {

template <class StorageIndex>
void expect_filled() {
  std::mt19937 random(3);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(20, 9);
  ColumnCounts counts;
  std::vector<std::array<Index, 2>> places;
  for (int k = 0; k < 200; ++k) {
    places.push_back({Index(random() % 20), Index(random() % 8)});
    counts.add(places.back()[1]);
  }
  ColumnFiller<StorageIndex> filler(20, counts.take(9));
  EXPECT_FALSE(filler.complete());
  double value = 0;
  for (const auto& [row, column] : places) {
    expected(row, column) += ++value;
    EXPECT_TRUE(filler.add(row, column, value));
  }
  EXPECT_TRUE(filler.complete());
  filler.sort_and_sum_duplicates();
  const Design x = ColumnFiller<StorageIndex>::design(std::move(filler));
  EXPECT_EQ(dense_copy(x), expected);
  EXPECT_EQ(x.stored_entries(), (expected.array() != 0).count());
}

TEST(SparseColumns, FillsWithBothIndexTypes) {
  expect_filled<std::int32_t>();
  expect_filled<std::int64_t>();
}

TEST(SparseColumns, RefusesWhatWasNotCounted) {
  ColumnFiller<std::int32_t> filler(3, {1, 0});
  EXPECT_FALSE(filler.add(0, 2, 1));
  EXPECT_FALSE(filler.add(3, 0, 1));
  EXPECT_TRUE(filler.add(0, 1, 1));  // noticed later
  EXPECT_FALSE(filler.complete());
}

TEST(SparseColumns, CountsFarColumns) {
  ColumnCounts counts;
  for (const Index column : {5, 3000000, 5, 3000000, 2999999}) counts.add(column);
  EXPECT_EQ(counts.cols(), 3000001);
  EXPECT_LT(counts.plausible_cols(), counts.cols());
  const std::vector<Index> taken = counts.take(3000001);
  EXPECT_EQ(taken[5], 2);
  EXPECT_EQ(taken[2999999], 1);
  EXPECT_EQ(taken[3000000], 2);
}

}  // namespace
}  // namespace tyto
