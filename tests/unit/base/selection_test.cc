#include "tyto/base/selection.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tyto {
namespace {

IndexSet listed(const Selection& columns) {
  IndexSet result;
  for (Index k = 0; k < columns.size(); ++k) result.push_back(columns[k]);
  return result;
}

IndexSet part(const Selection& columns, Index begin, Index count) {
  std::array<Index, 8> room;
  const std::span<const Index> found = columns.part(begin, count, room);
  return {found.begin(), found.end()};
}

TEST(Selection, TheFirstColumnsAreTheSameListedOrNot) {
  for (const Selection& columns : {Selection::first(5), Selection(IndexSet{0, 1, 2, 3, 4})}) {
    EXPECT_EQ(columns.size(), 5);
    EXPECT_EQ(listed(columns), (IndexSet{0, 1, 2, 3, 4}));
    EXPECT_EQ(columns.at(IndexSet{1, 4}), (IndexSet{1, 4}));
    EXPECT_EQ(part(columns, 1, 3), (IndexSet{1, 2, 3}));
    for (const Index column : {0, 4}) EXPECT_EQ(columns.find(column), column);
    for (const Index column : {-1, 5}) EXPECT_EQ(columns.find(column), -1);
  }
}

TEST(Selection, ListsSomeColumns) {
  const Selection columns = IndexSet{2, 5, 7, 9};
  EXPECT_EQ(listed(columns), (IndexSet{2, 5, 7, 9}));
  EXPECT_EQ(columns.at(IndexSet{1, 3}), (IndexSet{5, 9}));
  EXPECT_EQ(part(columns, 2, 2), (IndexSet{7, 9}));
  EXPECT_EQ(columns.find(7), 2);
  for (const Index column : {0, 6, 10}) EXPECT_EQ(columns.find(column), -1);
}

TEST(Selection, MayBeOfNothing) {
  for (const Selection& columns : {Selection(), Selection::first(0), Selection(IndexSet{})}) {
    EXPECT_TRUE(columns.empty());
    EXPECT_EQ(columns.find(0), -1);
    EXPECT_TRUE(part(columns, 0, 0).empty());
  }
}

TEST(AllBut, ListsTheOthers) {
  EXPECT_EQ(all_but(IndexSet{0, 2, 5}, 6), (IndexSet{1, 3, 4}));
  EXPECT_EQ(all_but(IndexSet{}, 2), (IndexSet{0, 1}));
  EXPECT_EQ(all_but(IndexSet{0, 1}, 2), IndexSet{});
}

}  // namespace
}  // namespace tyto
