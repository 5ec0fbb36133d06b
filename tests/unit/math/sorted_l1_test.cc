#include "tyto/math/sorted_l1.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

Vector vec(std::initializer_list<double> entries) {
  return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

// Around the lanes of a vector, the block of the gather and the switch from sorting to partitioning.
std::vector<Index> sizes() {
  std::vector<Index> result(71);
  std::iota(result.begin(), result.end(), Index{0});
  for (const Index size : {2047, 2048, 2049, 2050, 5000}) result.push_back(size);
  return result;
}

Vector prox(const SortedL1& norm, Vector v, double step) {
  norm.prox(v, step);
  return v;
}

void expect_near(const Vector& got, const naive::Reals& want, double tolerance) {
  ASSERT_EQ(got.size(), static_cast<Index>(want.size()));
  for (Index i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], static_cast<double>(want[static_cast<std::size_t>(i)]), tolerance) << i;
}

std::string message(const Vector& weights) {
  try {
    const SortedL1 norm(weights);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SortedL1, RefusesBadWeightsAndSaysWhich) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message(vec({2, 1, -1})), "weights: entry 3: want a finite number >= 0, got -1");
  EXPECT_EQ(message(vec({1, 2})), "weights: entry 2: want a non-increasing sequence, got a larger one");
  EXPECT_EQ(message(vec({0, 0})), "weights: want at least one that is not 0");
  EXPECT_NE(message(vec({std::nan("")})).find("entry 1: want a finite number"), std::string::npos);
  EXPECT_NE(message(vec({infinity})).find("entry 1: want a finite number"), std::string::npos);
  EXPECT_NE(message(vec({1, std::nan("")})).find("entry 2: want a finite number"), std::string::npos);
  EXPECT_EQ(message(vec({2, 1, 1, 0, 0})), "accepted");
  EXPECT_EQ(message(Vector()), "accepted");
}

TEST(SortedL1, EmptyNormIsZero) {
  const SortedL1 norm{Vector()};
  EXPECT_EQ(norm.size(), 0);
  EXPECT_EQ(norm.value(Vector()), 0);
  EXPECT_EQ(norm.dual_norm(Vector()), 0);
  EXPECT_EQ(prox(norm, Vector(), 1).size(), 0);
}

TEST(SortedL1, OneEntryIsTheAbsoluteValue) {
  const SortedL1 norm(vec({2}));
  EXPECT_EQ(norm.value(vec({-3})), 6);
  EXPECT_EQ(norm.dual_norm(vec({-3})), 1.5);
  EXPECT_EQ(prox(norm, vec({-3}), 1)[0], -1);
  EXPECT_EQ(prox(norm, vec({-3}), 1.5)[0], 0);
  EXPECT_EQ(prox(norm, vec({1}), 1)[0], 0);
}

TEST(SortedL1, ValueByHand) {
  EXPECT_EQ(SortedL1(vec({3, 2, 1})).value(vec({-1, 0, 4})), 14);
  EXPECT_EQ(SortedL1(vec({3, 2, 1})).value(vec({0, 0, 0})), 0);
}

TEST(SortedL1, ProxPoolsAndClipsExactly) {
  const SortedL1 norm(vec({2, 1, 1, 1}));
  EXPECT_EQ(prox(norm, vec({4, -4, 3, 0.5}), 1), vec({2.5, -2.5, 2, 0}));
  EXPECT_EQ(prox(norm, vec({0, 0, 0, 0}), 1), vec({0, 0, 0, 0}));
  EXPECT_EQ(prox(norm, vec({4, -4, 3, 0.5}), 0), vec({4, -4, 3, 0.5}));
}

TEST(SortedL1, DualNormByHand) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(SortedL1(vec({3, 1})).dual_norm(vec({1.5, -1.5})), 0.75);
  EXPECT_EQ(SortedL1(vec({4, 0, 0})).dual_norm(vec({1, -2, 3})), 1.5);  // L-infinity: the L1 norm is dual
  EXPECT_EQ(SortedL1(vec({2, 2, 2})).dual_norm(vec({1, -3, 2})), 1.5);  // L1: the largest entry
  EXPECT_EQ(SortedL1(vec({1, 0})).dual_norm(vec({0, 0})), 0);
  EXPECT_EQ(SortedL1(vec({2, 1, 0})).dual_norm(vec({1, infinity, 2})), infinity);
}

TEST(SortedL1, AgreesWithTheDefinitionAtEverySize) {
  for (const Index size : sizes()) {
    SCOPED_TRACE(size);
    Random random(static_cast<std::uint64_t>(size));
    Vector w = random_weights(random, size);
    if (random.chance(0.3)) w.tail(size / 2).setZero();
    const SortedL1 norm(w);
    const Vector v = 3 * random_vector(random, size);
    const double step = random.uniform(0.1, 2), scale = 1e-13 * (1 + v.lpNorm<1>());
    EXPECT_NEAR(norm.value(v), static_cast<double>(naive::value(w, v)), scale * (size > 0 ? 1 + w[0] : 1));
    const double dual = static_cast<double>(naive::dual_norm(w, v));
    EXPECT_NEAR(norm.dual_norm(v), dual, 1e-14 * static_cast<double>(size + 8) * dual);
    for (const double part : {0.1, 0.9, 1.0})
      EXPECT_NEAR(norm.dual_norm(v, part * dual), dual, 1e-14 * static_cast<double>(size + 8) * dual);
    EXPECT_EQ(norm.dual_norm(v, 2 * dual), 2 * dual);
    expect_near(prox(norm, v, step), naive::prox(w, v, step), 1e-13 * (1 + std::sqrt(size)) * 10);
  }
}

TEST(SortedL1, AgreesWithTheDefinitionWithTiesInEverything) {
  for (const Index size : sizes()) {
    SCOPED_TRACE(size);
    Random random(static_cast<std::uint64_t>(size) + 1000);
    Vector w(size), v(size);
    for (Index i = 0; i < size; ++i) {
      const Index level = 1 + 3 * (size - i) / size;  // 4, 3, 2, 1 in blocks
      w[i] = static_cast<double>(level);
    }
    for (double& entry : v) entry = static_cast<double>(random.between(-5, 5));
    const SortedL1 norm(w);
    EXPECT_EQ(norm.value(v), static_cast<double>(naive::value(w, v)));  // integers: exact
    EXPECT_NEAR(norm.dual_norm(v), static_cast<double>(naive::dual_norm(w, v)), 1e-14 * 5);
    expect_near(prox(norm, v, 0.5), naive::prox(w, v, 0.5), 1e-13);
  }
}

TEST(SortedL1, ProxKeepsEqualMagnitudesEqual) {
  Random random(7);
  Vector v = random_vector(random, 300).array().round();
  const SortedL1 norm(Vector::LinSpaced(300, 1.0, 0.01));
  const Vector b = prox(norm, v, 0.3);
  for (Index i = 0; i < 300; ++i)
    for (Index j = 0; j < i; ++j)
      if (std::abs(v[i]) == std::abs(v[j])) {
        EXPECT_EQ(std::abs(b[i]), std::abs(b[j]));
      }
}

// Also where weights tie: means of equal numbers round. And the order in which ties are sorted does not show.
TEST(SortedL1, ProxKeepsTiesOfAnyNumberAndTheSameBits) {
  Random random(8);
  for (const Index size : {3, 40, 330, 2000})
    for (int round = 0; round < 60; ++round) {
      Vector v = random_vector(random, size), w = random_vector(random, size).cwiseAbs();
      for (Vector* vector : {&v, &w})  // few different numbers, none of them round
        for (double& entry : *vector) entry = std::copysign(1.1 + std::floor(3 * std::abs(entry)), entry) / 7;
      std::sort(w.begin(), w.end(), std::greater<>());
      const SortedL1 norm(w);
      const Vector b = prox(norm, v, 0.1);
      std::map<double, double> value;
      for (Index i = 0; i < size; ++i) {
        const auto [known, fresh] = value.emplace(std::abs(v[i]), std::abs(b[i]));
        EXPECT_EQ(known->second, std::abs(b[i]));
      }
      expect_near(b, naive::prox(w, v, 0.1), 1e-13);
      EXPECT_EQ(prox(norm, v, 0.1), b);
      EXPECT_EQ(prox(norm, v.reverse(), 0.1).reverse(), b);
    }
}

// Published code gets this wrong where weights tie (skglm#178).
TEST(SortedL1, ProxWithEqualWeightsIsSoftThresholding) {
  for (const Index size : sizes()) {
    SCOPED_TRACE(size);
    Random random(static_cast<std::uint64_t>(size) + 2000);
    const Vector v = 2 * random_vector(random, size);
    const Vector b = prox(SortedL1(Vector::Ones(size)), v, 0.75);
    for (Index i = 0; i < size; ++i)
      EXPECT_DOUBLE_EQ(b[i], std::copysign(std::max(std::abs(v[i]) - 0.75, 0.0), b[i])) << v[i];
  }
}

TEST(SortedL1, ProxWithWeightsThatFallToZeroKeepsSmallEntries) {
  const SortedL1 norm(vec({4, 0, 0}));
  EXPECT_EQ(prox(norm, vec({5, 3, 1}), 1), vec({2, 2, 1}));
  EXPECT_EQ(prox(norm, vec({5, 3, 1e-300}), 1), vec({2, 2, 1e-300}));
}

TEST(SortedL1, HeadKeepsTheFirstWeights) {
  const SortedL1 norm(vec({3, 2, 1})), head = norm.head(2);
  EXPECT_EQ(head.size(), 2);
  EXPECT_EQ(head.weights(), vec({3, 2}));
  EXPECT_EQ(head.value(vec({1, -2})), 8);
  EXPECT_EQ(head.dual_norm(vec({1, 5})), 5.0 / 3);
  EXPECT_EQ(prox(head, vec({4, 3}), 1), vec({1, 1}));
  EXPECT_EQ(norm.head(0).size(), 0);
  EXPECT_EQ(norm.head(9).size(), 3);
  EXPECT_EQ(norm.head(2).head(1).weights(), vec({3}));
}

TEST(SortedL1, ScaledMultipliesTheHeadOnly) {
  const SortedL1 norm = SortedL1(vec({3, 2, 1})).head(2).scaled(2);
  EXPECT_EQ(norm.weights(), vec({6, 4}));
  EXPECT_EQ(norm.weight_sum(2), 10);
  EXPECT_THROW(norm.scaled(0), InvalidArgument);
  EXPECT_THROW(norm.scaled(-1), InvalidArgument);
  EXPECT_THROW(norm.scaled(std::nan("")), InvalidArgument);
}

TEST(SortedL1, KnowsWhatItIsAMultipleOf) {
  const SortedL1 norm(vec({3, 2, 1})), twice = norm.scaled(2);
  EXPECT_EQ(twice.multiple_of(norm), 2);
  EXPECT_EQ(norm.multiple_of(twice), 0.5);
  EXPECT_EQ(twice.scaled(3).multiple_of(twice), 3);
  EXPECT_EQ(norm.head(2).multiple_of(norm), std::nullopt);
  EXPECT_EQ(SortedL1(vec({3, 2, 1})).multiple_of(norm), std::nullopt);
  EXPECT_EQ(twice.dual_norm_from(norm, 3), 1.5);
  EXPECT_EQ(norm.dual_norm_from(twice, 0), 0);
  EXPECT_EQ(norm.head(2).dual_norm_from(norm, 3), std::nullopt);
  EXPECT_EQ(norm.dual_norm_from(norm.scaled(1e300), 1e-310), std::nullopt) << "digits were lost";
  EXPECT_EQ(norm.scaled(1e200).dual_norm_from(norm.scaled(1e-200), 1), std::nullopt) << "the ratio is 0";
}

TEST(SortedL1, WeightSumsDoNotDrift) {
  const SortedL1 norm(Vector::Constant(100'000, 0.1));
  EXPECT_DOUBLE_EQ(norm.weight_sum(100'000), 10'000);
  EXPECT_EQ(norm.weight_sum(0), 0);
}

TEST(SortedL1, ScalesWithTheUnits) {
  Random random(11);
  const Vector w = random_weights(random, 40), v = random_vector(random, 40);
  const SortedL1 norm(w);
  const Vector b = prox(norm, v, 0.5);
  for (const double unit : {0x1p-200, 0x1p-33, 0x1p33, 0x1p200}) {
    EXPECT_EQ(norm.value(unit * v), unit * norm.value(v));
    EXPECT_EQ(norm.dual_norm(unit * v), unit * norm.dual_norm(v));
    EXPECT_EQ(prox(norm, unit * v, 0.5 * unit), unit * b);
  }
}

}  // namespace
}  // namespace tyto
