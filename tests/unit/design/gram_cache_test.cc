#include "tyto/design/gram_cache.h"

#include <gtest/gtest.h>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/problem/problem.h"

namespace tyto {
namespace {

TEST(GramCache, HasTheProductsOfTheColumns) {
  Random random(5);
  const Eigen::MatrixXd x = random_float_exact(random, 60, 12, 0.5);
  for (const Design& raw : every_storage(x)) {
    const Design design = raw.standardized(true, true);
    const Eigen::MatrixXd values = entries_of(design);
    const Eigen::MatrixXd all = values.transpose() * values;
    const std::vector<Index> first{3, 0, 7};
    GramCache cache(12, first, all(first, first));
    const Work work;
    const auto check = [&](const std::vector<Index>& columns, Index fresh) {
      Eigen::MatrixXd got(std::ssize(columns), fresh);
      cache.gram(design, columns, got, work);
      const Eigen::MatrixXd want = all(columns, columns).rightCols(fresh);
      EXPECT_LE((got - want).cwiseAbs().maxCoeff(), 1e-12 * 60);
    };
    check({7, 3}, 1);
    EXPECT_EQ(work.entries_read(), 0) << "they are known";
    check({7, 3, 5, 11}, 2);
    check({1, 2, 11, 0, 3}, 3);
    check({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12);
    EXPECT_EQ(cache.columns().size(), 12);
    const Index read = work.entries_read();
    check({11, 10, 3}, 3);
    EXPECT_EQ(work.entries_read(), read) << "all are known by now";
    Eigen::MatrixXd other(2, 2);
    EXPECT_THROW(cache.gram(design.select(IndexSet{1, 2}), IndexSet{0, 1}, other), InvalidArgument);
  }
}

// A part of a problem has other columns: it must not have the products of the whole.
TEST(GramCache, DoesNotGoWithAPartOfAProblem) {
  Random random(1);
  Problem problem{Design::dense(random_matrix(random, 5, 3)), random_vector(random, 5),
                  SortedL1(Vector::Ones(3))};
  problem.gram_cache = std::make_shared<GramCache>(3);
  EXPECT_EQ(restrict_to(problem, IndexSet{0, 2}).gram_cache, nullptr);
}

}  // namespace
}  // namespace tyto
