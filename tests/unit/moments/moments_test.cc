#include "tyto/moments/moments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/moments/packing.h"

namespace tyto {
namespace {

Dataset table(std::uint64_t seed, Index n, Index p) {
  Random random(seed);
  Matrix x = random_matrix(random, n, p);
  x.col(0).array() += 1e6;
  return {Design::dense(x), random_vector(random, n)};
}

MomentSet moments(const Dataset& data, const RowPlace& place = {}, int threads = 1) {
  MomentSum sum;
  sum.add(data, place, threads);
  return sum.total();
}

// Co-moments by definition, in extended precision.
CoMoments naive(const Dataset& data) {
  using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Index n = data.design.rows();
  Extended a = packed_rows(data, 0, n).cast<long double>();
  Means weights = Means::Ones(n);
  if (data.row_weights.size() > 0) weights = data.row_weights.cast<long double>();
  CoMoments result;
  result.weight = static_cast<double>(weights.sum());
  result.mean = a.transpose() * weights / weights.sum();
  a.rowwise() -= result.mean.transpose();
  result.comoment = (a.transpose() * weights.asDiagonal() * a).cast<double>();
  result.rows = (weights.array() > 0).count();
  return result;
}

void expect_near(const CoMoments& a, const CoMoments& b, double tolerance) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_NEAR(a.weight, b.weight, tolerance * b.weight);
  for (Index j = 0; j < b.columns(); ++j) {
    const double deviation = std::sqrt(b.comoment(j, j) / b.weight);
    EXPECT_NEAR(static_cast<double>(a.mean[j] - b.mean[j]), 0, 100 * tolerance * deviation);
    for (Index i = 0; i < b.columns(); ++i)
      EXPECT_NEAR(a.comoment(i, j), b.comoment(i, j),
                  tolerance * std::sqrt(b.comoment(i, i) * b.comoment(j, j)));
  }
}

TEST(Moments, AreThoseOfTheDefinition) {
  for (const Index n : {1, 2, 100, 4095, 4096, 4097, 13000}) {
    SCOPED_TRACE(n);
    const Dataset data = table(1, n, 5);
    const MomentSet found = moments(data);
    if (n > 2) expect_near(found.total(), naive(data), 1e-13);
    EXPECT_EQ(found.fingerprint.rows, n);
    EXPECT_EQ((found.folds[0].comoment - found.folds[0].comoment.transpose()).norm(), 0);
  }
}

TEST(Moments, OfWeightedRows) {
  Dataset data = table(2, 9000, 4);
  Random random(2);
  data.row_weights = random_vector(random, 9000).cwiseAbs();
  data.row_weights.segment(100, 700).setZero();
  data.offset = random_vector(random, 9000);
  expect_near(moments(data).total(), naive(data), 1e-13);
}

TEST(Moments, PartsMergeToTheWhole) {
  const Dataset data = table(3, 20000, 4);
  Random random(3);
  for (int cut = 0; cut < 5; ++cut) {
    MomentSet merged;
    Index begin = 0;
    while (begin < 20000) {
      const Index length = std::min<Index>(20000 - begin, random.between(1, 6000));
      IndexSet rows(static_cast<std::size_t>(length));
      for (Index i = 0; i < length; ++i) rows[static_cast<std::size_t>(i)] = begin + i;
      merged.merge(moments({data.design.take_rows(rows), data.response.segment(begin, length)}));
      begin += length;
    }
    expect_near(merged.total(), naive(data), 1e-13);
    EXPECT_EQ(merged.fingerprint, moments(data).fingerprint);
  }
}

TEST(Moments, HaveTheSameBitsOnAnyNumberOfThreads) {
  const Dataset data = table(4, 30000, 6);
  const std::string one = pack(moments(data, {.folds = 3}));
  EXPECT_EQ(one, pack(moments(data, {.folds = 3}, 4)));
  EXPECT_NE(one, pack(moments(data, {.folds = 3, .seed = 2})));
}

TEST(Moments, FoldsAreAPartition) {
  const Dataset data = table(5, 10000, 3);
  const MomentSet set = moments(data, {.folds = 4});
  ASSERT_EQ(set.folds.size(), 4U);
  expect_near(set.total(), naive(data), 1e-13);
  for (const CoMoments& fold : set.folds) EXPECT_NEAR(static_cast<double>(fold.rows), 2500, 250);
  std::vector<Index> given(10000, 1);
  given[5] = 0;
  const MomentSet two = moments(data, {.folds = 2, .given = &given});
  EXPECT_EQ(two.folds[0].rows, 1);
  given[5] = 2;
  EXPECT_THROW(moments(data, {.folds = 2, .given = &given}), InvalidArgument);
}

TEST(Moments, ConstantColumnsAreExactlyThat) {
  Dataset data = table(6, 9001, 3);
  Matrix x = Matrix::Constant(9001, 3, 0.1);
  x.col(1).setConstant(1e17);
  x.col(2) = data.response;
  const MomentSet set = moments({Design::dense(x), data.response});
  EXPECT_EQ(set.folds[0].comoment.topLeftCorner(2, 2).norm(), 0);
  EXPECT_EQ(static_cast<double>(set.folds[0].mean[0]), 0.1);
}

TEST(Moments, EquivalentRowsHaveTheSameMoments) {
  for (const Index p : {3, 40}) {
    const Dataset data = table(7, 30, p);
    std::vector<Index> folds;
    const Dataset rows = equivalent_rows(moments(data, {.folds = 3}), true, folds);
    EXPECT_EQ(rows.rows(), 30);
    EXPECT_LE(rows.design.rows(), 3 * std::min<Index>(p + 2, 30));
    ASSERT_EQ(std::ssize(folds), rows.design.rows());
    CoMoments expected = naive(data);
    CoMoments got = naive(rows);
    got.rows = 30;
    for (Index j = 0; j < p; ++j) got.mean[j] += rows.origin->columns[j];
    got.mean[p] += rows.origin->response;
    expect_near(got, expected, 1e-12);
  }
}

TEST(Moments, BadNumbersAreNamed) {
  Dataset data = table(8, 10, 3);
  data.response[4] = std::nan("");
  const auto message = [](const Dataset& bad) -> std::string {
    try {
      moments(bad);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(data), "response: want finite numbers whose squares can be added, got others");
  Matrix x = Matrix::Ones(10, 3);
  x(3, 2) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message({Design::dense(x), Vector::Ones(10), {"a", "b", "c"}}),
            "column 'c': want finite numbers whose squares can be added, got others");
  EXPECT_EQ(message({Design::dense(Matrix(Matrix::Ones(10, 3))), Vector()}),
            "response: want 10 numbers, got 0");
}

TEST(Packing, KeepsEveryBitAndFindsDamage) {
  Dataset data = table(9, 500, 4);
  data.names = {"a", "b", "\xc3\xa9", ""};
  data.response_name = "y";
  const MomentSet set = moments(data, {.folds = 2});
  const std::string bytes = pack(set);
  const MomentSet back = unpack_moments(bytes, "m");
  EXPECT_EQ(pack(back), bytes);
  EXPECT_EQ(back.names, set.names);
  EXPECT_EQ(back.folds[1].mean, set.folds[1].mean);
  EXPECT_TRUE(is_packed_moments(bytes));
  Random random(9);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = bytes;
    if (trial % 2 == 0)
      bad.resize(static_cast<std::size_t>(random.below(std::ssize(bad))));
    else
      bad[static_cast<std::size_t>(random.below(std::ssize(bad)))] ^= static_cast<char>(1 << random.below(8));
    EXPECT_THROW(unpack_moments(bad, "m"), DataError);
  }
  EXPECT_THROW(unpack_sums(bytes, "m"), DataError);
}

TEST(Packing, OthersAreRefusedToMerge) {
  MomentSet set = moments(table(10, 50, 3));
  EXPECT_THROW(set.merge(moments(table(10, 50, 4))), InvalidArgument);
  EXPECT_THROW(set.merge(moments(table(10, 50, 3), {.folds = 2})), InvalidArgument);
  Dataset named = table(10, 50, 3);
  named.names = {"a", "b", "c"};
  EXPECT_THROW(set.merge(moments(named)), InvalidArgument);
}

}  // namespace
}  // namespace tyto
