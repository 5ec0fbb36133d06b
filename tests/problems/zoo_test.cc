#include "tests/support/zoo.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/certified.h"

namespace tyto {
namespace {

constexpr std::array kStorages = {Storage::kDense, Storage::kFloat, Storage::kSparse};

struct Case {
  ZooProblem problem;
  std::string solver, rule;
  Storage storage;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.problem.name << " " << c.solver << " " << c.rule; }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ZooProblem& problem : zoo())
    for (const SolverRow& solver : solvers())
      for (const ScreeningRule& rule : screening_rules())
        for (const Storage storage : kStorages)
          cases.push_back({problem, std::string(solver.name), std::string(rule.name), storage});
  return cases;
}

class Zoo : public ::testing::TestWithParam<Case> {};

void expect_same_zeros_and_ties(const Vector& beta, const Vector& exact) {
  for (Index i = 0; i < beta.size(); ++i) {
    EXPECT_EQ(beta[i] == 0, exact[i] == 0) << "coefficient " << i << " is " << beta[i];
    for (Index j = 0; j < i; ++j)
      EXPECT_EQ(std::abs(beta[i]) == std::abs(beta[j]), std::abs(exact[i]) == std::abs(exact[j]))
          << "coefficients " << i << " and " << j << " are " << beta[i] << " and " << beta[j];
  }
}

TEST_P(Zoo, IsSolvedAndCertified) {
  const Case& c = GetParam();
  const Problem problem{stored(c.problem.x, c.storage), c.problem.y, SortedL1(c.problem.weights)};
  FitOptions options;
  options.tolerance = 1e-12, options.solver = c.solver, options.screening = c.rule;
  const Fit result = fit(problem, options);
  expect_certified(problem, result, 1e-9);
  EXPECT_LE((result.solution.beta - c.problem.solution).norm(), 1e-5 * (1 + c.problem.solution.norm()))
      << result.solution.beta.transpose();
  expect_same_zeros_and_ties(result.solution.beta, c.problem.solution);
}

// What a certificate says of the exact answer has nothing to do with who found it.
TEST(ZooAnswers, HaveNoGapFromAnyStorage) {
  for (const ZooProblem& zoo_problem : zoo())
    for (const Storage storage : kStorages) {
      SCOPED_TRACE(zoo_problem.name + " " + name(storage));
      const Problem problem{stored(zoo_problem.x, storage), zoo_problem.y, SortedL1(zoo_problem.weights)};
      const Certificate certificate = certify(problem, make_iterate(problem, zoo_problem.solution));
      EXPECT_LE(std::abs(certificate.gap), certificate.rounding);
      expect_certificates_agree(problem, zoo_problem.solution);
    }
}

INSTANTIATE_TEST_SUITE_P(Every, Zoo, ::testing::ValuesIn(all_cases()), [](const auto& shown) {
  const Case& c = shown.param;
  return c.problem.name + "_" + c.solver + "_" + c.rule + "_" + name(c.storage);
});

}  // namespace
}  // namespace tyto
