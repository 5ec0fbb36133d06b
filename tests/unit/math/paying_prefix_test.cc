#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {
namespace {

using naive::Real;

// S(k) for k = 0 .. m.
std::vector<Real> surpluses(std::vector<double> u, const SortedL1& norm, double s) {
  std::sort(u.begin(), u.end(), std::greater<>());
  std::vector<Real> surplus{0};
  for (std::size_t i = 0; i < u.size(); ++i)
    surplus.push_back(surplus.back() + u[i] - static_cast<Real>(s) * norm.weight(static_cast<Index>(i)));
  return surplus;
}

Index last_maximum(const std::vector<Real>& surplus) {
  const auto last = std::max_element(surplus.rbegin(), surplus.rend());
  return static_cast<Index>(surplus.rend() - last) - 1;
}

void expect_prefix(const std::vector<double>& u, const PayingPrefix& prefix,
                   const std::vector<double>& given) {
  std::vector<double> sorted = given;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<double> first(u.begin(), u.begin() + prefix.count);
  std::sort(first.begin(), first.end(), std::greater<>());
  Real sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i], sorted[i]) << "the largest come first";
    sum += first[i];
  }
  EXPECT_NEAR(prefix.sum, static_cast<double>(sum), 1e-13 * (1 + std::abs(static_cast<double>(sum))));
}

TEST(PayingPrefix, IsTheLastMaximumOfTheSurplus) {
  for (const Index size : {0, 1, 2, 3, 5, 31, 32, 33, 34, 63, 64, 65, 66, 100, 129, 1000, 5000}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << "size " << size << " seed " << seed);
      Random random(seed);
      // Multiples of 1/64, so that both sums are exact and ties are real.
      Vector w = (64 * random_weights(random, size)).array().ceil() / 64;
      if (size > 0) w[0] = std::max(w[0], 1.0 / 64), w = w.cwiseMin(w[0]);
      std::vector<double> u(static_cast<std::size_t>(size));
      for (double& entry : u) entry = std::abs(std::round(64 * random.normal()) / 64);
      const SortedL1 norm(w);
      const double s = static_cast<double>(random.between(1, 12)) / 8;
      const std::vector<double> given = u;
      const PayingPrefix prefix = paying_prefix(u, norm, s, 0);
      EXPECT_EQ(prefix.count, last_maximum(surpluses(given, norm, s)));
      expect_prefix(u, prefix, given);
    }
  }
}

TEST(PayingPrefix, SlackNeverShortensThePrefix) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index size = random.between(1, 200);
    const SortedL1 norm(random_weights(random, size));
    std::vector<double> u(static_cast<std::size_t>(size));
    for (double& entry : u) entry = std::abs(random.normal());
    const std::vector<double> given = u;
    const std::vector<Real> surplus = surpluses(given, norm, 1);
    const double slack = 1e-12 * norm.weight_sum(size);
    const PayingPrefix prefix = paying_prefix(u, norm, 1, slack);
    EXPECT_GE(prefix.count, last_maximum(surplus));
    const Real most = *std::max_element(surplus.begin(), surplus.end());
    EXPECT_GE(static_cast<double>(surplus[static_cast<std::size_t>(prefix.count)] - most), -2 * slack);
  }
}

TEST(PayingPrefix, LastRankWithinTheSlackWins) {
  const SortedL1 norm(Vector::Constant(3, 1.0));
  std::vector<double> u{1.5, 0.9, 0.2};  // S = 0, 0.5, 0.4, -0.4
  EXPECT_EQ(paying_prefix(u, norm, 1, 0).count, 1);
  EXPECT_EQ(paying_prefix(u, norm, 1, 0.2).count, 2);
  EXPECT_EQ(paying_prefix(u, norm, 1, 1).count, 3);
  EXPECT_EQ(paying_prefix(u, norm, 10, 0).count, 0);
}

}  // namespace
}  // namespace tyto
