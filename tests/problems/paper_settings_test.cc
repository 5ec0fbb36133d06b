// The seed paper's settings on its two public microarray sets: raw data, no intercept, oscar weights in units
// of the largest correlation.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/certified.h"
#include "tests/support/real_data.h"
#include "tyto/data/dataset.h"
#include "tyto/select/regression.h"

namespace tyto {
namespace {

struct Setting {
  const char* set;
  double strength;
  Index most_epochs;  // of apgd without screening, to 1e-6: an honest baseline needs no more
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.set << " at " << setting.strength; }

class PaperSettings : public ::testing::TestWithParam<Setting> {};

Problem problem_of(const char* set, double strength, RelativeTo unit, const char* weights) {
  const Dataset data = read({(data_folder() / set / "data.svm.xz").string()});
  RegressionOptions options;
  options.weights = weights, options.strength = strength, options.relative_to = unit;
  options.intercept = options.standardize = false;
  return make_regression(data.design, data.response, options).problem;
}

double column_work(const Fit& fit) {
  double work = 0;
  for (const TracePoint& at : fit.trace) work += static_cast<double>(at.active);
  return work;
}

IndexSet support(const Vector& beta) {
  IndexSet columns;
  for (Index j = 0; j < beta.size(); ++j)
    if (beta[j] != 0) columns.push_back(j);
  return columns;
}

TEST_P(PaperSettings, ApgdWithoutScreeningIsAnHonestBaseline) {
  TYTO_SKIP_WITHOUT_DATA(GetParam().set);
  const Problem problem = problem_of(GetParam().set, GetParam().strength, RelativeTo::kCorrelation, "oscar");
  const Fit result = fit(problem, {.tolerance = 1e-6, .solver = "apgd", .screening = "none"});
  expect_certified(problem, result, 1e-6);
  EXPECT_LE(result.epochs, GetParam().most_epochs);
}

TEST_P(PaperSettings, EverySafeRunHasOneSupportAndOneObjective) {
  TYTO_SKIP_WITHOUT_DATA(GetParam().set);
  const Problem problem = problem_of(GetParam().set, GetParam().strength, RelativeTo::kCorrelation, "oscar");
  std::vector<Fit> fits;
  for (const char* rule : {"none", "seed", "safe"}) {
    fits.push_back(fit(problem, {.tolerance = 1e-10, .solver = "apgd", .screening = rule}));
    expect_certified(problem, fits.back(), 1e-10);
    EXPECT_EQ(support(fits.back().solution.beta), support(fits.front().solution.beta)) << rule;
  }
  const Fit stochastic = fit(problem, {.tolerance = 1e-6, .solver = "spgd", .screening = "seed"});
  expect_certified(problem, stochastic, 1e-6);
  EXPECT_NEAR(stochastic.certificate.primal, fits.front().certificate.primal,
              1e-6 * fits.front().certificate.primal);
}

INSTANTIATE_TEST_SUITE_P(Seed, PaperSettings,
                         ::testing::Values(Setting{"colon-cancer", 1 * std::exp(-3), 1800},
                                           Setting{"colon-cancer", 2 * std::exp(-3), 1100},
                                           Setting{"colon-cancer", 3 * std::exp(-3), 950},
                                           Setting{"duke", 1 * std::exp(-2), 2900},
                                           Setting{"duke", 2 * std::exp(-2), 1400},
                                           Setting{"duke", 3 * std::exp(-2), 1050}));

TEST(FallingWeights, TheCumulativeRuleNeedsAtMostHalfTheColumnWorkOfTheSeeds) {
  TYTO_SKIP_WITHOUT_DATA("colon-cancer");
  const Problem problem = problem_of("colon-cancer", 0.3, RelativeTo::kAlphaMax, "linear");
  const Fit seed = fit(problem, {.tolerance = 1e-8, .solver = "apgd", .screening = "seed"});
  const Fit safe = fit(problem, {.tolerance = 1e-8, .solver = "apgd", .screening = "safe"});
  expect_certified(problem, seed, 1e-8);
  expect_certified(problem, safe, 1e-8);
  EXPECT_LE(column_work(safe), 0.5 * column_work(seed));
}

}  // namespace
}  // namespace tyto
