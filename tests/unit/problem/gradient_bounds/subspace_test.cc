#include "tyto/problem/gradient_bounds/subspace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.h"
#include "tyto/math/weights.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

// Enough entries that X is not simply read: solutions at neighbouring strengths, and their residuals.
struct Neighbours {
  Design design;
  Vector y;
  std::vector<SortedL1> penalties;
  Eigen::MatrixXd betas;
};

Neighbours make_neighbours(std::uint64_t seed, double ridge, bool nonnegative, bool center) {
  constexpr Index kRows = 2700, kColumns = 400, kStrengths = 12;
  Random random(seed);
  Eigen::MatrixXd x = random_matrix(random, kRows, kColumns);
  Neighbours result;
  result.y = x.leftCols(10).rowwise().sum() + 3 * random_vector(random, kRows);
  if (center) result.y.array() -= result.y.mean();
  result.design = Design::dense(std::move(x)).standardized(center, true);
  const SortedL1 shape(make_weights("bh", {kRows, kColumns, 0.1, 1}), nonnegative);
  Problem problem{result.design, result.y, shape, ridge};
  const double top = alpha_max(problem);
  result.betas.resize(kColumns, kStrengths);
  for (Index k = 0; k < kStrengths; ++k) {
    problem.penalty = shape.scaled(top * 0.5 * std::pow(0.99, static_cast<double>(k)));
    result.penalties.push_back(problem.penalty);
    result.betas.col(k) = fit(problem).solution.beta;
  }
  return result;
}

TEST(SubspaceBounds, ReadsWhatMattersAndBoundsTheRest) {
  for (const double ridge : {0.0, 50.0})
    for (const bool nonnegative : {false, true})
      for (const bool center : {false, true}) {
        SCOPED_TRACE(testing::Message() << ridge << " " << nonnegative << " " << center);
        const Neighbours at = make_neighbours(3, ridge, nonnegative, center);
        const Work work;
        const Problem first{at.design, at.y, at.penalties.front(), ridge};
        SubspaceBounds span(first, work);
        SubspaceBounds other(first, work);
        for (int again = 0; again < 3; ++again) {  // directions are read; have been read; come for nothing
          const Points points = span.points_at(at.penalties, at.betas);
          if (again == 2)
            for (const Index k : {0, 1, 11}) {
              Vector correlation;
              at.design.transpose_multiply(points.residuals.col(k), correlation);
              other.know(points.residuals.col(k), correlation);
            }
          const auto found = (again == 2 ? other : span).evaluate_dual_norm(points);
          EXPECT_LT(std::ssize(found.read), at.design.cols() / 4);
          std::vector<bool> read(static_cast<std::size_t>(at.design.cols()));
          for (const Index j : found.read) read[static_cast<std::size_t>(j)] = true;
          for (Index k = 0; k < at.betas.cols(); ++k) {
            const Problem problem{at.design, at.y, at.penalties[static_cast<std::size_t>(k)], ridge};
            const Iterate x = make_iterate(problem, at.betas.col(k));
            const Vector r = at.y - x.eta;
            EXPECT_LE((points.residuals.col(k) - r).norm(), 1e-12 * r.norm());
            const Vector want = correlation(problem, x);
            for (Index j = 0; j < at.design.cols(); ++j) {
              const double rounding = 1e-12 * at.design.norms()[j] * r.norm();
              if (read[static_cast<std::size_t>(j)]) {
                EXPECT_NEAR(found.bounds(j, k), want[j], rounding) << j;
              } else {
                EXPECT_GE(found.bounds(j, k), (nonnegative ? want[j] : std::abs(want[j])) - rounding) << j;
                EXPECT_LE(std::abs(found.values(j, k) - want[j]),
                          at.design.norms()[j] * found.distances[k] + rounding);
              }
            }
            const double norm = problem.penalty.dual_norm(want);
            EXPECT_NEAR(found.dual_norms[k], norm, 1e-12 * norm);
          }
        }
      }
}

// Points that have nothing to do with each other: directions do not help, and all is read that matters.
TEST(SubspaceBounds, IsRightWhereResidualsAreFarApart) {
  Random random(5);
  const Eigen::MatrixXd x = random_matrix(random, 2700, 400);
  const Design design = Design::dense(x);
  const SortedL1 shape(make_weights("oscar", {2700, 400, 0.1, 1}));
  Eigen::MatrixXd betas = Eigen::MatrixXd::Zero(400, 20);
  for (Index k = 0; k < 20; ++k) betas(random.below(400), k) = 100 * random.normal();
  const Vector y = random_vector(random, 2700);
  const std::vector<SortedL1> penalties(20, shape);
  const Work work;
  SubspaceBounds span({design, y, shape}, work);
  for (int batch = 0; batch < 12; ++batch) {  // more directions than it remembers
    betas.row(random.below(400)).array() += 30;
    const Points points = span.points_at(penalties, betas);
    const auto found = span.evaluate_dual_norm(points);
    for (Index k = 0; k < 20; ++k) {
      const Vector want = x.transpose() * (y - x * betas.col(k));
      EXPECT_NEAR(found.dual_norms[k], shape.dual_norm(want), 1e-11 * shape.dual_norm(want));
    }
  }
}

// What has been read along the way, and what came for nothing, is what a guess rests on.
TEST(SubspaceBounds, GuessesWellNearWhatItKnows) {
  const Neighbours at = make_neighbours(4, 0, false, true);
  const Work work;
  SubspaceBounds span({at.design, at.y, at.penalties.front()}, work);
  EXPECT_EQ(span.guess(at.betas.col(0)).size(), 0);
  const auto correlation = [&](const Vector& beta) {
    Vector eta, result;
    at.design.multiply(beta, eta);
    at.design.transpose_multiply(at.y - eta, result);
    return result;
  };
  const auto residual = [&](Index k) {
    Vector eta;
    at.design.multiply(at.betas.col(k), eta);
    return Vector(at.y - eta);
  };
  const Vector nothing = Vector::Zero(at.design.cols());
  span.know(at.y, correlation(nothing));
  EXPECT_LE((span.guess(nothing) - correlation(nothing)).norm(), 1e-12 * correlation(nothing).norm());
  for (const Index k : {0, 6}) span.know(residual(k), correlation(at.betas.col(k)));
  span.know(residual(6), correlation(at.betas.col(6)));  // nothing new: must not be made a direction of
  for (const Index k : {0, 6}) {
    const Vector want = correlation(at.betas.col(k));
    EXPECT_LE((span.guess(at.betas.col(k)) - want).norm(), 1e-10 * want.norm());
  }
  const Vector between = 0.3 * at.betas.col(0) + 0.7 * at.betas.col(6);
  EXPECT_LE((span.guess(between) - correlation(between)).norm(), 1e-10 * correlation(between).norm());
}

// The same on small data, with fewer directions than residuals want: older ones are dropped.
TEST(SubspaceBounds, IsRightWithFewDirections) {
  Random random(7);
  const Index n = 60, p = 30, count = 6;
  const Eigen::MatrixXd x = random_matrix(random, n, p);
  const Design design = Design::dense(x);
  const Work work;
  const Vector y = random_vector(random, n);
  const std::vector<SortedL1> penalties(static_cast<std::size_t>(count),
                                        SortedL1(make_weights("bh", {n, p, 0.1, 1})));
  Tuning tuning;
  tuning.reading.cache_entries = 0;
  tuning.subspace.residuals_per_pass = 0;  // directions are added while they save reading
  for (const Index directions : {1, 2, 5}) {
    tuning.subspace.directions = directions;
    SubspaceBounds span({design, y, penalties.front()}, work, tuning);
    Eigen::MatrixXd betas = Eigen::MatrixXd::Zero(p, count);
    for (int batch = 0; batch < 20; ++batch) {
      betas.row(random.below(p)).array() += random.normal();
      for (Index k = 0; k < count; ++k) betas(random.below(p), k) *= 0.99;
      const Points points = span.points_at(penalties, betas);
      const auto found = span.evaluate_dual_norm(points);
      for (Index k = 0; k < count; ++k) {
        const Vector want = x.transpose() * (y - x * betas.col(k));
        const double norm = penalties.front().dual_norm(want);
        EXPECT_NEAR(found.dual_norms[k], norm, 1e-11 * norm) << directions << " " << batch;
        for (Index j = 0; j < p; ++j)
          EXPECT_GE(found.bounds(j, k), std::min(want[j], std::abs(want[j])) - 1e-11 * norm);
      }
    }
  }
}

}  // namespace
}  // namespace tyto
