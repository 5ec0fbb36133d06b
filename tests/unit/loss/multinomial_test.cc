#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "tests/support/loss_problems.h"
#include "tyto/base/error.h"
#include "tyto/loss/loss.h"

// The loss of several classes: rows of one class after the other.
namespace tyto {
namespace {

constexpr Index kRows = 9;
constexpr Index kClasses = 3;

LossData random_data(Random& random, Index free) {
  LossData data{Vector(kRows)};
  for (Index i = 0; i < kRows; ++i) data.response[i] = static_cast<double>(i % kClasses);
  data.roots = random_vector(random, kRows).cwiseAbs().array() + 0.1;
  data.basis.resize(kRows, free);
  if (free > 0) data.basis.col(0) = data.roots;
  if (free > 1) {
    data.basis.col(1) = data.roots.cwiseProduct(random_vector(random, kRows));
    data.basis.col(1) -=
        data.basis.col(0) * (data.basis.col(0).dot(data.basis.col(1)) / data.basis.col(0).squaredNorm());
  }
  data.classes = kClasses;
  return data;
}

std::shared_ptr<const Loss> make(LossData data) { return find_loss("multinomial").make(std::move(data)); }

TEST(Multinomial, ResidualAndRootAreTheDerivativesOfTheValue) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    const auto loss = make(random_data(random, 0));
    const Index n = loss->rows();
    ASSERT_EQ(n, kRows * kClasses);
    const Vector fitted = 0.5 * random_vector(random, n);
    const LossPoint at = loss->at(fitted);
    Eigen::MatrixXd root = Eigen::MatrixXd::Identity(n, n);
    loss->apply_root(at, root);
    EXPECT_LE((root.transpose() * loss->working_residual(at) - at.residual).norm(), 1e-12);
    const Eigen::MatrixXd curvature = root.transpose() * root;
    for (Index i = 0; i < n; ++i) {
      const double step = 1e-5;
      Vector up = fitted;
      Vector down = fitted;
      up[i] += step;
      down[i] -= step;
      const LossPoint above = loss->at(up);
      const LossPoint below = loss->at(down);
      EXPECT_NEAR(at.residual[i], (below.value - above.value) / (2 * step), 1e-5 * (1 + at.value));
      const Vector second = (below.residual - above.residual) / (2 * step);
      EXPECT_LE((second - curvature.col(i)).lpNorm<Eigen::Infinity>(), 1e-5) << i;
    }
  }
}

// Of each class, less the last: what all have in common changes nothing.
TEST(Multinomial, TheCoordinatesMinimiseTheLoss) {
  Random random(2);
  for (const Index free : {1, 2})
    for (int round = 0; round < 20; ++round) {
      const LossData data = random_data(random, free);
      const auto loss = make(data);
      LossData without = data;
      without.basis.resize(kRows, 0);
      const auto fixed = make(without);
      const Vector fitted = random_vector(random, loss->rows());
      const LossPoint at = loss->at(fitted);
      ASSERT_EQ(at.coordinates.size(), free * (kClasses - 1));
      for (Index c = 0; c < kClasses; ++c)  // also of the last
        EXPECT_LE((data.basis.transpose() * at.residual.segment(c * kRows, kRows)).norm(),
                  1e-13 * (1 + at.residual_magnitude));
      const Vector along = loss->basis() * at.coordinates;
      EXPECT_NEAR(fixed->at(fitted + along).value, at.value, 1e-12 * (1 + at.value));
      for (int other = 0; other < 5; ++other) {
        const Vector moved = along + loss->basis() * (0.1 * random_vector(random, at.coordinates.size()));
        EXPECT_GE(fixed->at(fitted + moved).value, at.value * (1 - 1e-12));
      }
      const LossPoint again =
          loss->at(fitted, at.coordinates + 5 * random_vector(random, at.coordinates.size()));
      EXPECT_NEAR(again.value, at.value, 1e-12 * (1 + at.value));
    }
}

TEST(Multinomial, FarFromZeroNothingOverflows) {
  LossData data{(Vector(3) << 0, 1, 2).finished()};
  data.classes = 3;
  const auto loss = make(data);
  Vector far(9);
  far << -600, 600, -40, 300, -600, 0, 40, 0, 0;  // rows of class 0, 1, 2
  const LossPoint at = loss->at(far);
  EXPECT_TRUE(at.residual.allFinite());
  EXPECT_TRUE(std::isfinite(at.value));
  EXPECT_NEAR(at.value, 900 + 1200 + std::log(2 + std::exp(-40.0)), 1e-9);
  const DualPoint dual = loss->best_dual(at, {1, 0.5, 0, 2, false});
  EXPECT_TRUE(std::isfinite(dual.gap));
  EXPECT_GE(dual.gap, 0);
  // 1 - mu at eta = 40 is not 0.
  Vector sure = Vector::Zero(9);
  sure[0] = 40;
  EXPECT_NEAR(loss->at(sure).residual[0], 2 * std::exp(-40.0), 1e-30);
}

TEST(Multinomial, ARowOfTwoClassesIsOneOfBinomial) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    const double eta = 10 * random.normal();
    LossData data{(Vector(2) << 0, 1).finished()};
    const auto binomial = find_loss("binomial").make(data);
    data.classes = 2;
    const auto loss = make(data);
    const double both[] = {0.5 - eta, 0.5};
    for (const double y : {0.0, 1.0}) {
      const double expected = binomial->row_value(y, std::span(&eta, 1));
      EXPECT_NEAR(loss->row_value(y, both), expected, 1e-13 * (1 + expected));
    }
  }
}

TEST(Multinomial, BadResponsesAreRefused) {
  const auto refusal = [](LossData data) {
    try {
      make(std::move(data));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  LossData data{(Vector(4) << 0, 1, 2, 2).finished()};
  data.classes = 4;
  EXPECT_NE(refusal(data).find("got none of class 3"), std::string::npos);
  data.classes = 3;
  EXPECT_EQ(refusal(data), "");
  data.offset = Vector::Zero(4);
  EXPECT_NE(refusal(data).find("offset: want none"), std::string::npos);
  data.offset = {};
  data.roots = (Vector(4) << 1, 0, 1, 1).finished();
  EXPECT_NE(refusal(data).find("got none of class 1"), std::string::npos);
  data.roots = {};
  data.response[0] = 0.5;
  EXPECT_NE(refusal(data).find("row 0: want a class"), std::string::npos);
  // An unpenalised column that separates the classes has no best coefficients.
  LossData separable{(Vector(6) << 0, 0, 1, 1, 2, 2).finished()};
  separable.classes = 3;
  separable.basis.resize(6, 2);
  separable.basis.col(0).setOnes();
  separable.basis.col(1) << -2, -2, 0, 0, 2, 2;
  EXPECT_NE(refusal(separable).find("no minimum"), std::string::npos);
}

}  // namespace
}  // namespace tyto
