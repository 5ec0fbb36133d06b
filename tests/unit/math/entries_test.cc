#include "tyto/math/entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/random.h"

namespace tyto {
namespace {

TEST(Entries, AboveAThresholdInOrder) {
  Random random(1);
  for (const Index n : {0, 1, 7, 64, 2047, 2048, 2049, 5000}) {
    const Vector v = random_vector(random, n);
    for (const double threshold : {0.0, 0.5, 2.0, 100.0}) {
      IndexSet want;
      for (Index i = 0; i < n; ++i)
        if (std::abs(v[i]) >= threshold) want.push_back(i);
      EXPECT_EQ(entries_above(v, threshold), want) << n << " " << threshold;
    }
  }
}

TEST(Entries, NonzerosAreAllThatAreNotZero) {
  Vector v = Vector::Zero(3000);
  v[0] = 5e-324, v[100] = -0.0, v[2048] = -1, v[2999] = 1e300;
  EXPECT_EQ(nonzero_entries(v), (IndexSet{0, 2048, 2999}));
}

// Few of many and many of few; magnitudes that tie; fewer than are asked for that are not 0, or numbers.
TEST(Entries, TheLargestInOrder) {
  Random random(5);
  for (const Index n : {0, 1, 15, 16, 100, 5000, 40000})
    for (const Index count : {0, 1, 3, 40, 700, 4999, 50000}) {
      SCOPED_TRACE(testing::Message() << count << " of " << n);
      Vector v = random_vector(random, n);
      if (random.chance(0.3)) v = (4 * v).array().round();
      if (random.chance(0.2)) v = (v.array().abs() > 2).select(v, 0.0);
      IndexSet want(static_cast<std::size_t>(n));
      std::iota(want.begin(), want.end(), Index{0});
      std::ranges::stable_sort(want, std::greater<>(), [&](Index i) { return std::abs(v[i]); });
      want.resize(static_cast<std::size_t>(std::min(n, count)));
      std::ranges::sort(want);
      EXPECT_EQ(largest_entries(v, count), want);
    }
  Vector odd = Vector::Constant(5000, std::numeric_limits<double>::quiet_NaN());
  odd[17] = 1, odd[4000] = -2, odd[4999] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(largest_entries(odd, 2), (IndexSet{4000, 4999}));
  EXPECT_EQ(largest_entries(odd, 3), (IndexSet{17, 4000, 4999}));
}

TEST(Entries, BlockMaxima) {
  Random random(6);
  for (Index n = 0; n < 200; n += 7)
    for (const Index block : {1, 5, 16, 64}) {
      const Vector v = random_vector(random, n);
      Vector out((n + block - 1) / block);
      kernels::block_maxima(v.data(), n, block, out.data());
      for (Index b = 0; b < out.size(); ++b)
        EXPECT_EQ(out[b], v.segment(b * block, std::min(block, n - b * block)).lpNorm<Eigen::Infinity>());
    }
}

TEST(Entries, SortDescending) {
  Random random(2);
  for (const Index n : {0, 1, 2, 255, 256, 257, 3000}) {
    const Vector v = random_vector(random, n);
    std::vector<double> got(v.data(), v.data() + n), want = got;
    sort_descending(got);
    std::sort(want.begin(), want.end(), std::greater<>());
    EXPECT_EQ(got, want) << n;
  }
}

TEST(Entries, GrowAddsTheWayTimesTheNormToTheMagnitude) {
  Random random(3);
  for (Index n = 0; n < 40; ++n) {
    const Vector v = random_vector(random, n), norm = random_vector(random, n).cwiseAbs();
    const Vector since = Vector::Constant(n, 2) - random_vector(random, n).cwiseAbs();
    Vector out(n);
    kernels::grow(v.data(), since.data(), norm.data(), 2, 0.75, out.data(), n);
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(std::abs(out[i]), 0.75 * (std::abs(v[i]) + (2 - since[i]) * norm[i]),
                  1e-15 * std::abs(out[i]));
      EXPECT_EQ(std::signbit(out[i]), std::signbit(v[i]));
    }
  }
}

TEST(Entries, BoundsAreAMagnitudeAndWhatItMayBeOffBy) {
  Random random(4);
  for (Index n = 0; n < 40; ++n) {
    const Vector v = random_vector(random, n), norm = random_vector(random, n).cwiseAbs(),
                 size = random_vector(random, n).cwiseAbs();
    Vector out(n);
    kernels::bounds({v.data(), -3}, {norm.data(), 0.5}, {size.data(), 1e-3}, out.data(), n);
    for (Index i = 0; i < n; ++i)
      EXPECT_NEAR(out[i], 3 * std::abs(v[i]) + 0.5 * norm[i] + 1e-3 * size[i], 1e-15 * out[i]) << i;
  }
}

}  // namespace
}  // namespace tyto
