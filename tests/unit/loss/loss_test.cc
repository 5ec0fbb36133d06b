#include "tyto/loss/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/loss_problems.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

std::vector<std::string> other_losses() {
  std::vector<std::string> names = loss_names();
  std::erase(names, "gaussian");
  std::erase(names, "multinomial");  // has several linear predictors: multinomial_test.cc
  return names;
}

LossData random_data(Random& random, const std::string& loss, Index rows, Index free) {
  LossData data{random_response(random, loss, rows)};
  data.roots = random_vector(random, rows).cwiseAbs().array() + 0.1;
  data.offset = random_vector(random, rows);
  if (free > 0) {
    data.basis.resize(rows, free);
    data.basis.col(0) = data.roots;
    if (free > 1) {
      data.basis.col(1) = data.roots.cwiseProduct(random_vector(random, rows));
      data.basis.col(1) -=
          data.basis.col(0) * (data.basis.col(0).dot(data.basis.col(1)) / data.basis.col(0).squaredNorm());
    }
  }
  return data;
}

TEST(Loss, ResidualAndCurvatureAreTheDerivativesOfTheValue) {
  Random random(1);
  for (const std::string& name : other_losses())
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(name);
      const auto loss = find_loss(name).make(random_data(random, name, 9, 0));
      const Vector fitted = 0.5 * random_vector(random, 9);
      const LossPoint at = loss->at(fitted);
      for (Index i = 0; i < 9; ++i) {
        const double step = 1e-5;
        Vector up = fitted;
        Vector down = fitted;
        up[i] += step;
        down[i] -= step;
        const LossPoint above = loss->at(up);
        const LossPoint below = loss->at(down);
        EXPECT_NEAR(at.residual[i], (below.value - above.value) / (2 * step), 1e-5 * (1 + at.value));
        const double second = (below.residual[i] - above.residual[i]) / (2 * step);
        const bool kink = name == "huber" || name == "squared-hinge";
        if (loss->mixes_rows()) {
          EXPECT_GE(at.curvature[i], second - 1e-4);
        } else if (!kink) {
          EXPECT_NEAR(at.curvature[i], second, 1e-4 * (1 + std::abs(second)));
        }
      }
      EXPECT_GE(at.value, 0);
    }
}

TEST(Loss, TheCoordinatesMinimiseTheLoss) {
  Random random(2);
  for (const std::string& name : other_losses())
    for (const Index free : {1, 2})
      for (int round = 0; round < 20; ++round) {
        SCOPED_TRACE(name);
        const LossData data = random_data(random, name, 12, free);
        const auto loss = find_loss(name).make(data);
        const Vector fitted = random_vector(random, 12);
        const LossPoint at = loss->at(fitted);
        EXPECT_LE((data.basis.transpose() * at.residual).norm(), 1e-13 * (1 + at.residual_magnitude));
        LossData without = data;
        without.basis.resize(0, 0);
        const auto fixed = find_loss(name).make(without);
        const Vector along = data.basis * at.coordinates;
        EXPECT_NEAR(fixed->at(fitted + along).value, at.value, 1e-12 * (1 + at.value));
        for (int other = 0; other < 5; ++other) {
          const Vector moved = along + data.basis * (0.1 * random_vector(random, free));
          EXPECT_GE(fixed->at(fitted + moved).value, at.value * (1 - 1e-12));
        }
        // From another guess, the same point.
        const LossPoint again = loss->at(fitted, at.coordinates + 5 * random_vector(random, free));
        EXPECT_NEAR(again.value, at.value, 1e-12 * (1 + at.value));
      }
}

TEST(Loss, ARowOfWeightTwoIsARowThatStandsTwice) {
  Random random(3);
  for (const std::string& name : other_losses()) {
    SCOPED_TRACE(name);
    LossData once{random_response(random, name, 7)};
    once.roots = Vector::Ones(7);
    once.roots[3] = std::sqrt(2.0);
    once.basis = once.roots;
    LossData twice{Vector(8)};
    twice.response << once.response, once.response[3];
    twice.basis = Vector::Ones(8);
    const Vector eta = random_vector(random, 7);
    Vector longer(8);
    longer << eta, eta[3];
    const LossPoint a = find_loss(name).make(once)->at(eta.cwiseProduct(once.roots));
    const LossPoint b = find_loss(name).make(twice)->at(longer);
    EXPECT_NEAR(a.value, b.value, 1e-13 * (1 + b.value));
    EXPECT_NEAR(a.eta[0], b.eta[0], 1e-12 * (1 + std::abs(b.eta[0])));
  }
}

TEST(Loss, FarFromZeroNothingOverflows) {
  for (const char* name : {"binomial", "poisson"}) {
    LossData data{(Vector(4) << 0, 1, 1, 0).finished()};
    const auto loss = find_loss(name).make(data);
    const Vector far = (Vector(4) << -600, 600, -40, 300).finished();
    const LossPoint at = loss->at(name == std::string("poisson") ? Vector(far / 10) : far);
    EXPECT_TRUE(at.residual.allFinite()) << name;
    EXPECT_TRUE(std::isfinite(at.value)) << name;
    EXPECT_NE(at.residual[2], 0) << name;
  }
  // 1 - mu at eta = 40 is not 0.
  const LossPoint sure =
      find_loss("binomial").make({(Vector(2) << 1, 0).finished()})->at(Vector::Constant(2, 40));
  EXPECT_NEAR(sure.residual[0], std::exp(-40.0), 1e-30);
}

TEST(Loss, ResponsesThatHaveNoMinimumAreRefused) {
  const auto refused = [](const char* name, const Vector& y) {
    LossData data{y};
    data.basis = Vector::Ones(y.size());
    EXPECT_THROW(find_loss(name).make(data), InvalidArgument) << name << " " << y.transpose();
  };
  refused("binomial", Vector::Ones(4));
  refused("binomial", Vector::Zero(4));
  refused("binomial", Vector::Constant(4, 2));
  refused("poisson", Vector::Zero(4));
  refused("poisson", Vector::Constant(4, -1));
  refused("squared-hinge", Vector::Ones(4));
  refused("huber", Vector::Constant(4, std::nan("")));
  EXPECT_THROW(find_loss("quantile"), InvalidArgument);
}

// An unpenalised column that separates the classes has no best coefficient.
TEST(Loss, SeparationByUnpenalisedColumnsIsNamed) {
  LossData data{(Vector(6) << 0, 0, 0, 1, 1, 1).finished()};
  data.basis.resize(6, 2);
  data.basis.col(0).setOnes();
  data.basis.col(1) << -3, -2, -1, 1, 2, 3;
  try {
    find_loss("binomial").make(data);
    FAIL() << "a separable response was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("no minimum"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tyto
