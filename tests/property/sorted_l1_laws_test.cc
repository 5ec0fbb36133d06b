#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/naive.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

constexpr std::uint64_t kSeeds = 300;

Vector prox(const SortedL1& norm, Vector v, double step) {
  norm.prox(v, step);
  return v;
}

// Calls f with every signed permutation of w: b'(that) over all of them has its maximum J(b).
template <class F>
void for_each_signed_permutation(const Vector& w, F f) {
  std::vector<Index> order(static_cast<std::size_t>(w.size()));
  std::iota(order.begin(), order.end(), Index{0});
  do {
    for (Index signs = 0; signs < Index{1} << w.size(); ++signs) {
      Vector signed_weights(w.size());
      for (Index i = 0; i < w.size(); ++i)
        signed_weights[order[static_cast<std::size_t>(i)]] = (signs >> i & 1) != 0 ? -w[i] : w[i];
      f(signed_weights, order);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

double objective(const SortedL1& norm, const Vector& b, const Vector& v, double step) {
  return 0.5 * (b - v).squaredNorm() + step * norm.value(b);
}

// The best b among all that are constant in magnitude on consecutive blocks of some signed order, the last of
// which may be 0: the minimiser is one of them.
double best_by_blocks(const SortedL1& norm, const Vector& v, double step) {
  const Index p = v.size();
  double best = objective(norm, Vector::Zero(p), v, step);
  for_each_signed_permutation(
      norm.weights(), [&](const Vector& signed_weights, const std::vector<Index>& order) {
        const Vector sign = signed_weights.unaryExpr([](double x) { return std::signbit(x) ? -1.0 : 1.0; });
        for (Index breaks = 0; breaks < Index{1} << p; ++breaks) {
          Vector b = Vector::Zero(p);
          for (Index begin = 0, i = 0; i < p; ++i) {
            if ((breaks >> i & 1) == 0) continue;  // a break after i ends a block; what follows the last is 0
            double mean = 0;
            for (Index k = begin; k <= i; ++k) {
              const Index j = order[static_cast<std::size_t>(k)];
              mean += (sign[j] * v[j] - step * norm.weight(k)) / static_cast<double>(i - begin + 1);
            }
            for (Index k = begin; k <= i; ++k)
              b[order[static_cast<std::size_t>(k)]] = sign[order[static_cast<std::size_t>(k)]] * mean;
            begin = i + 1;
          }
          best = std::min(best, objective(norm, b, v, step));
        }
      });
  return best;
}

TEST(SortedL1Laws, ValueIsTheMaximumOverSignedPermutations) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Vector w = random_weights(random, random.between(1, 5)), b = random_vector(random, w.size());
    double most = 0;
    for_each_signed_permutation(w, [&](const Vector& g, const auto&) { most = std::max(most, g.dot(b)); });
    EXPECT_NEAR(SortedL1(w).value(b), most, 1e-14 * (1 + most));
  }
}

TEST(SortedL1Laws, ProxIsTheBestOfAllPatterns) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 4);
    const SortedL1 norm(random_weights(random, p));
    const Vector v = 2 * random_vector(random, p);
    const double step = random.uniform(0.1, 1.5), best = best_by_blocks(norm, v, step);
    EXPECT_NEAR(objective(norm, prox(norm, v, step), v, step), best, 1e-13 * (1 + best));
  }
}

// v - prox(v) is in the dual ball and attains the norm at prox(v): these two say that prox(v) is optimal.
TEST(SortedL1Laws, ProxIsOptimal) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 200);
    const SortedL1 norm(random_weights(random, p));
    const Vector v = 3 * random_vector(random, p);
    const double step = random.uniform(0.01, 3);
    const Vector b = prox(norm, v, step), rest = (v - b) / step;
    EXPECT_LE(norm.dual_norm(rest), 1 + 1e-12 * static_cast<double>(p) / step);
    EXPECT_NEAR(rest.dot(b), norm.value(b), 1e-12 * (1 + norm.value(b)) / step);
  }
}

// Moreau: v = prox(v) + the projection of v on the dual ball; the two are orthogonal to the norm's order.
TEST(SortedL1Laws, ProxIsZeroExactlyInsideTheDualBall) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 60);
    const SortedL1 norm(random_weights(random, p));
    const Vector v = random_vector(random, p);
    const double edge = norm.dual_norm(v);
    EXPECT_EQ(prox(norm, v, edge * (1 + 1e-12)), Vector::Zero(p));
    EXPECT_GT(prox(norm, v, edge * (1 - 1e-9)).norm(), 0);
  }
}

TEST(SortedL1Laws, FenchelYoung) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 80);
    const SortedL1 norm(random_weights(random, p));
    const Vector b = random_vector(random, p), g = random_vector(random, p);
    EXPECT_LE(std::abs(b.dot(g)), norm.value(b) * norm.dual_norm(g) * (1 + 1e-13));
  }
}

// max g'b over J(b) <= 1 is attained at the k largest entries with equal magnitude.
TEST(SortedL1Laws, DualNormIsTheSupportFunction) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 30);
    const SortedL1 norm(random_weights(random, p));
    const Vector g = random_vector(random, p);
    std::vector<Index> order(static_cast<std::size_t>(p));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::sort(order, [&](Index i, Index j) { return std::abs(g[i]) > std::abs(g[j]); });
    Vector b = Vector::Zero(p);
    double most = 0;
    for (const Index j : order) {
      b[j] = g[j] < 0 ? -1 : 1;
      most = std::max(most, b.dot(g) / norm.value(b));
    }
    EXPECT_NEAR(norm.dual_norm(g), most, 1e-13 * most);
    const Vector other = random_vector(random, p);
    EXPECT_LE(other.dot(g) / norm.value(other), most * (1 + 1e-13));
  }
}

TEST(SortedL1Laws, ProxIsFirmlyNonexpansive) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 100);
    const SortedL1 norm(random_weights(random, p));
    const Vector u = random_vector(random, p), v = u + random.uniform(0, 2) * random_vector(random, p);
    const Vector moved = prox(norm, u, 0.5) - prox(norm, v, 0.5);
    EXPECT_LE(moved.squaredNorm(), moved.dot(u - v) + 1e-13 * (1 + u.squaredNorm()));
  }
}

TEST(SortedL1Laws, NormAxioms) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index p = random.between(1, 50);
    const SortedL1 norm(random_weights(random, p));
    const Vector a = random_vector(random, p), b = random_vector(random, p);
    EXPECT_LE(norm.value(a + b), norm.value(a) + norm.value(b) + 1e-12);
    EXPECT_LE(norm.dual_norm(a + b), (norm.dual_norm(a) + norm.dual_norm(b)) * (1 + 1e-13));
    EXPECT_NEAR(norm.value(-3 * a), 3 * norm.value(a), 1e-12 * (1 + norm.value(a)));
  }
}

}  // namespace
}  // namespace tyto
