#include "tyto/math/entries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

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
    kernels::grow(v.data(), since.data(), norm.data(), 2, out.data(), n);
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(std::abs(out[i]), std::abs(v[i]) + (2 - since[i]) * norm[i], 1e-15 * std::abs(out[i]));
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
