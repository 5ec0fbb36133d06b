#include "tests/support/certified.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "tests/support/naive.h"
#include "tyto/math/entries.h"

namespace tyto {

void expect_certificates_agree(const Problem& problem, const Vector& beta) {
  const Certificate c = certify(problem, make_iterate(problem, beta));
  const naive::Certificate exact = naive::certify(problem, beta);
  const double rounding = c.rounding + 1e-15 * (c.primal + std::abs(c.dual));
  EXPECT_NEAR(c.gap, static_cast<double>(exact.gap()), c.rounding);
  EXPECT_NEAR(c.primal, static_cast<double>(exact.primal), rounding);
  EXPECT_NEAR(c.dual, static_cast<double>(exact.dual), rounding);
  EXPECT_GE(exact.gap(), -1e-17L * (exact.primal + std::abs(exact.dual))) << "weak duality";
}

void expect_certificate_holds(const Problem& problem, const Vector& beta) {
  const Iterate x = make_iterate(problem, beta);
  const Certificate c = certify(problem, x);
  naive::Reals theta = naive::reals(problem.loss->response() - x.eta);
  if (problem.ridge > 0)
    for (const double b : beta)
      theta.push_back(-std::sqrt(static_cast<naive::Real>(problem.ridge)) * static_cast<naive::Real>(b));
  for (naive::Real& entry : theta) entry *= static_cast<naive::Real>(c.scale);
  const naive::Certificate exact = naive::certify(problem, beta, theta);
  EXPECT_LE(static_cast<double>(exact.gap()), c.gap + c.rounding) << "scale " << c.scale;
  EXPECT_NEAR(c.primal, static_cast<double>(exact.primal), c.rounding + 1e-15 * c.primal);
}

// Clusters are numbered by their magnitude, the largest first.
void expect_pattern(const Fit& fit) {
  std::set<double, std::greater<>> magnitudes;
  for (const double b : fit.solution.beta)
    if (b != 0) magnitudes.insert(std::abs(b));
  EXPECT_EQ(fit.clusters, std::ssize(magnitudes));
  const IndexSet& support = fit.certificate.support;
  ASSERT_EQ(fit.cluster.size(), support.size());
  for (std::size_t k = 0; k < support.size(); ++k)
    EXPECT_EQ(fit.cluster[k],
              std::distance(magnitudes.begin(), magnitudes.find(std::abs(fit.solution.beta[support[k]]))));
}

void expect_certified(const Problem& problem, const Fit& fit, double tolerance) {
  ASSERT_EQ(fit.solution.beta.size(), problem.design.cols());
  ASSERT_TRUE(fit.solution.beta.allFinite());
  EXPECT_EQ(fit.status, Status::kConverged) << name(fit.status);
  const Certificate c = certify(problem, make_iterate(problem, fit.solution.beta));
  EXPECT_GE(c.gap, -c.rounding) << "weak duality";
  EXPECT_LE(c.gap, tolerance * c.primal);
  EXPECT_NEAR(fit.certificate.primal, c.primal, c.rounding);
  EXPECT_NEAR(fit.certificate.gap, c.gap, c.rounding);
  EXPECT_EQ(fit.certificate.support, nonzero_entries(fit.solution.beta));
  const naive::Certificate exact = naive::certify(problem, fit.solution.beta);
  EXPECT_LE(static_cast<double>(exact.gap()), tolerance * static_cast<double>(exact.primal) + c.rounding);
  expect_certificate_holds(problem, fit.solution.beta);
  expect_pattern(fit);
}

}  // namespace tyto
