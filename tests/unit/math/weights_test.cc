#include "tyto/math/weights.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tyto/base/error.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {
namespace {

void expect_sequence(const std::string& name, Index p, const std::function<double(double, double)>& formula) {
  const Vector w = make_weights(name, {10, p, 0.1});
  ASSERT_EQ(w.size(), p);
  for (Index i = 1; i <= p; ++i)
    EXPECT_DOUBLE_EQ(w[i - 1], formula(static_cast<double>(i), static_cast<double>(p))) << name << i;
}

TEST(Weights, FollowTheirFormulas) {
  for (const Index p : {1, 2, 7, 1000}) {
    expect_sequence("oscar", p, [](double i, double size) { return 1 + (size - i) / size; });
    expect_sequence("lasso", p, [](double, double) { return 1.0; });
    expect_sequence("linf", p, [](double i, double) { return i == 1 ? 1.0 : 0.0; });
    expect_sequence("linear", p, [](double i, double size) { return (size - i + 1) / size; });
  }
}

// Phi^-1(1 - q i / (2p)) against reference quantiles.
TEST(Weights, BhAreNormalQuantiles) {
  const auto first = [](double q, Index p) { return make_weights("bh", {10, p, q})[0]; };
  EXPECT_NEAR(first(0.05, 1), 1.959963984540054, 1e-12);
  EXPECT_NEAR(first(0.1, 1), 1.6448536269514722, 1e-12);
  EXPECT_NEAR(first(0.01, 1), 2.5758293035489004, 1e-12);
  EXPECT_NEAR(first(0.002, 1), 3.090232306167813, 1e-12);
  EXPECT_NEAR(first(0.2, 100'000), 4.753424308822899, 1e-12);  // 1e-6 above
  EXPECT_NEAR(first(0.5, 1), 0.6744897501960817, 1e-12);
  EXPECT_NEAR(make_weights("bh", {10, 4, 0.2})[1], 1.6448536269514722, 1e-12);
  EXPECT_NEAR(make_weights("bh", {10, 4, 0.2})[3], 1.2815515655446004, 1e-12);
}

TEST(Weights, BhInvertTheTailEverywhere) {
  for (const double q : {1e-8, 0.01, 0.5, 1.0}) {
    const Index p = 500;
    const Vector w = make_weights("bh", {10, p, q});
    for (Index i = 0; i < p; ++i) {
      const double tail = q * static_cast<double>(i + 1) / (2.0 * static_cast<double>(p));
      EXPECT_NEAR(0.5 * std::erfc(w[i] / std::numbers::sqrt2), tail, 1e-13 * tail) << q << " " << i;
    }
  }
  EXPECT_NEAR(make_weights("bh", {10, 3, 1.0})[2], 0, 1e-15);
}

// w_i = bh_i sqrt(1 + sum_{j < i} w_j^2 / (n - i)), constant from where it would rise or has no freedom.
Vector naive_gaussian(const WeightContext& context) {
  Vector w = make_weights("bh", context);
  for (Index i = 2; i <= context.p; ++i) {
    const auto freedom = static_cast<double>(context.n - i);
    const double corrected =
        w[i - 1] * std::sqrt(1 + w.head(i - 1).squaredNorm() / std::max(freedom, 1e-300));
    if (freedom <= 0 || corrected > w[i - 2]) {
      w.tail(context.p - i + 1).setConstant(w[i - 2]);
      break;
    }
    w[i - 1] = corrected;
  }
  return w;
}

TEST(Weights, GaussianCorrectBhForTheNoiseOfTheModel) {
  for (const Index n : {0, 1, 3, 4, 10, 100, 100'000})
    for (const Index p : {1, 2, 50, 200}) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " p " << p);
      const WeightContext context{n, p, 0.1};
      const Vector w = make_weights("gaussian", context), want = naive_gaussian(context);
      EXPECT_EQ(w[0], make_weights("bh", context)[0]);
      for (Index i = 0; i < p; ++i) EXPECT_NEAR(w[i], want[i], 1e-14 * want[i]) << i;
    }
}

TEST(Weights, GaussianAreHeldWhereTheyWouldRise) {
  const Vector w = make_weights("gaussian", {300, 100, 0.1});
  Index held = 1;
  while (held < 100 && w[held] < w[held - 1]) ++held;
  EXPECT_LT(held, 100);
  EXPECT_GT(held, 1);
  for (Index i = held; i < 100; ++i) EXPECT_EQ(w[i], w[held - 1]);
}

void expect_published(const Vector& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), std::ssize(want));
  for (Index i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[static_cast<std::size_t>(i)], 1e-6) << i;
}

// What the tests of libslope (tests/lambda_sequence.cpp) state for the same sequences. Its OSCAR weights are
// theta_1 + theta_2 (p - i): a slope of p theta_2 / theta_1, times theta_1.
TEST(Weights, AreThoseThatOthersPublish) {
  expect_published(make_weights("bh", {10, 4, 0.1}), {2.241402727, 1.959963984, 1.780464341, 1.644853626});
  expect_published(make_weights("bh", {10, 6, 0.5}),
                   {1.731664396, 1.382994127, 1.150349380, 0.967421566, 0.812217801, 0.674489750});
  expect_published(make_weights("gaussian", {10, 4, 0.3}), {1.780464, 1.700998, 1.657533, 1.628381});
  expect_published(make_weights("gaussian", {3, 4, 0.5}), {1.5341205, 1.5341205, 1.5341205, 1.5341205});
  expect_published(2 * make_weights("oscar", {10, 4, 0.3, 0.2}), {2.3, 2.2, 2.1, 2.0});
  expect_published(make_weights("lasso", {10, 4, 0.3}), {1, 1, 1, 1});
  expect_published(make_weights("linf", {10, 4, 0.3}), {1, 0, 0, 0});
  expect_published(make_weights("linear", {10, 4, 0.3}), {1, 0.75, 0.5, 0.25});
}

TEST(Weights, EverySequenceIsAValidNorm) {
  for (const std::string& name : weight_names())
    for (const Index p : {0, 1, 2, 3, 17, 300})
      for (const Index n : {0, 1, 5, 400})
        EXPECT_EQ(SortedL1(make_weights(name, {n, p, 0.3})).size(), p) << name;
}

std::string message(const std::string& name, double q) {
  try {
    make_weights(name, {10, 5, q});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Weights, RefuseUnknownNamesAndBadRates) {
  EXPECT_EQ(message("ridge", 0.1),
            "weights: unknown kind 'ridge'; known: oscar, lasso, linf, bh, gaussian, linear");
  for (const double q : {0.0, -0.1, 1.5, std::nan("")})
    EXPECT_EQ(message("bh", q), "q: want a number in (0, 1], got " + fmt::format("{}", q));
  EXPECT_EQ(message("bh", 1), "accepted");
  EXPECT_TRUE(is_weight_name("bh"));
  EXPECT_FALSE(is_weight_name("BH"));
  EXPECT_FALSE(is_weight_name(""));
}

}  // namespace
}  // namespace tyto
