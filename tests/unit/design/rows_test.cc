#include "tyto/design/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"

namespace tyto {
namespace {

struct Case {
  Design design;
  Rows rows;
  Eigen::MatrixXd x;  // the matrix that the design stands for
};

Case make_case(Random& random, Index n, Index p, Storage storage, bool standardize) {
  Case c;
  c.design = stored(random_float_exact(random, n, p, 0.5), storage).standardized(standardize, standardize);
  c.rows = Rows(c.design);
  c.x.resize(n, p);
  const std::vector<naive::Reals> columns = naive::columns(c.design);
  for (Index j = 0; j < p; ++j)
    for (Index i = 0; i < n; ++i)
      c.x(i, j) = static_cast<double>(columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  return c;
}

template <class Check>
void for_every_case(Check check) {
  for (const Storage storage : {Storage::kDense, Storage::kFloat, Storage::kSparse})
    for (const bool standardize : {false, true})
      for (const auto& [n, p] : {std::pair<Index, Index>{1, 1}, {5, 3}, {3, 40}, {20, 17}}) {
        SCOPED_TRACE(::testing::Message()
                     << name(storage) << " " << n << " x " << p << " standardized " << standardize);
        Random random(static_cast<std::uint64_t>(n * 1000 + p));
        const Case c = make_case(random, n, p, storage, standardize);
        ASSERT_EQ(c.rows.count(), n);
        check(c, random);
      }
}

TEST(Rows, SquaredNormsAreThoseOfTheRows) {
  for_every_case([](const Case& c, Random&) {
    const Vector norms = c.rows.squared_norms();
    for (Index i = 0; i < c.x.rows(); ++i)
      EXPECT_NEAR(norms[i], c.x.row(i).squaredNorm(), 1e-12 * (1 + c.x.row(i).squaredNorm()));
  });
}

TEST(Rows, DotIsWithAVectorOnItsSupport) {
  for_every_case([](const Case& c, Random& random) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      const IndexSet support = random_columns(random, c.x.cols());
      Vector d = Vector::Zero(c.x.cols());
      for (const Index j : support) d[j] = random.normal();
      for (Index i = 0; i < c.x.rows(); ++i)
        EXPECT_NEAR(c.rows.dot(i, d, support), c.x.row(i).dot(d), 1e-12 * (1 + c.x.row(i).norm() * d.norm()));
    }
  });
}

TEST(Rows, AddIsACombinationOfRows) {
  for_every_case([](const Case& c, Random& random) {
    IndexSet rows;
    std::vector<double> factors;
    const Vector start = random_vector(random, c.x.cols());
    Vector want = start, got = start;
    for (int k = 0; k < 4; ++k) {
      rows.push_back(random.below(c.x.rows())), factors.push_back(random.normal());
      want += factors.back() * c.x.row(rows.back()).transpose();
    }
    c.rows.add(rows, factors, got);
    EXPECT_LE((got - want).norm(), 1e-12 * (1 + want.norm()));
    c.rows.add({}, {}, got);
    EXPECT_LE((got - want).norm(), 1e-12 * (1 + want.norm()));
  });
}

TEST(Rows, FollowTheSelectedColumns) {
  Random random(3);
  const Design design =
      stored(random_float_exact(random, 6, 8, 0.5), Storage::kSparse).standardized(true, true);
  const Design chosen = design.select(IndexSet{1, 6});
  const Rows rows(chosen);
  const IndexSet both{0, 1};
  Vector d(2);
  d << 2, -3;
  Vector eta;
  chosen.multiply(d, eta);
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(rows.dot(i, d, both), eta[i], 1e-12);
}

TEST(Rows, OfAnEmptyDesignAreNone) {
  EXPECT_EQ(Rows().count(), 0);
  EXPECT_EQ(Rows(Design()).count(), 0);
  EXPECT_EQ(Rows(Design()).squared_norms().size(), 0);
}

TEST(Rows, SomeRowsAreThoseOfAll) {
  for_every_case([](const Case& c, Random& random) {
    const IndexSet chosen = random_columns(random, c.x.rows());
    const Rows some(c.design, chosen);
    ASSERT_EQ(some.count(), std::ssize(chosen));
    IndexSet all;
    for (Index j = 0; j < c.x.cols(); ++j) all.push_back(j);
    const Vector d = random_vector(random, c.x.cols());
    for (std::size_t k = 0; k < chosen.size(); ++k)
      EXPECT_NEAR(some.dot(static_cast<Index>(k), d, all), c.x.row(chosen[k]).dot(d),
                  1e-12 * (1 + d.norm() * 10));
  });
}

TEST(Rows, ColumnsLeave) {
  for_every_case([](const Case& c, Random& random) {
    const IndexSet kept = random_columns(random, c.x.cols());
    Rows rows = c.rows;
    rows.keep_columns(kept);
    const Eigen::MatrixXd x = c.x(Eigen::all, kept);
    const Vector norms = rows.squared_norms();
    IndexSet all;
    for (Index j = 0; j < x.cols(); ++j) all.push_back(j);
    const Vector d = random_vector(random, x.cols());
    for (Index i = 0; i < x.rows(); ++i) {
      EXPECT_NEAR(norms[i], x.row(i).squaredNorm(), 1e-11 * (1 + c.x.row(i).squaredNorm()));
      EXPECT_NEAR(rows.dot(i, d, all), x.row(i).dot(d), 1e-11 * (1 + d.norm() * 10));
    }
  });
}

TEST(Rows, NormsOfTheRowsOfADesign) {
  for_every_case([](const Case& c, Random&) {
    const Vector norms = squared_row_norms(c.design);
    for (Index i = 0; i < c.x.rows(); ++i)
      EXPECT_NEAR(norms[i], c.x.row(i).squaredNorm(), 1e-11 * (1 + c.x.row(i).squaredNorm()));
  });
}

}  // namespace
}  // namespace tyto
