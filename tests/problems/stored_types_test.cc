// Law: what is computed from columns in a narrow type has the bits of the same numbers in double, whatever
// the solver, the rule, the weights of rows, the scale and the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/certified.h"
#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/columns/stored_type.h"
#include "tyto/problem/screening.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

struct Owner {
  std::vector<std::byte> data;
  std::vector<double> filling;
};

// Codes at random, so that a quarter is missing; column 1 is constant; column 2 is nearly so.
Design genotypes(Random& random, Index rows, Index cols) {
  const auto owner = std::make_shared<Owner>();
  const Index stride = column_bytes(StoredType::kGenotype, rows);
  for (Index k = 0; k < stride * cols; ++k)
    owner->data.push_back(static_cast<std::byte>(random.between(0, 255)));
  std::fill_n(owner->data.begin() + stride, 2 * stride, std::byte{0});
  owner->data[static_cast<std::size_t>(2 * stride)] = std::byte{0b00000100};  // one is missing
  for (Index j = 0; j < cols; ++j) owner->filling.push_back(j == 2 ? 2.001 : random.uniform(0.3, 1.7));
  return Design(
      stored_columns({StoredType::kGenotype, owner->data.data(), rows, cols, stride, owner->filling}, owner));
}

template <class Scalar>
Design numbers(Random& random, Index rows, Index cols) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const auto owner = std::make_shared<Matrix>(rows, cols);
  for (Scalar& entry : owner->reshaped()) entry = static_cast<Scalar>(random.between(0, 100));
  owner->col(1).setConstant(7);
  owner->col(2).setConstant(120);
  (*owner)(3, 2) = 119;
  return Design(dense_columns(DenseView<Scalar>{owner->data(), rows, cols}, owner));
}

struct Made {
  const char* name;
  Design (*make)(Random&, Index rows, Index cols);
};
constexpr Made kMade[] = {{"genotype", genotypes},
                          {"int8", numbers<std::int8_t>},
                          {"uint8", numbers<std::uint8_t>},
                          {"int16", numbers<std::int16_t>},
                          {"float", numbers<float>}};

class StoredTypes : public testing::TestWithParam<Made> {
 protected:
  // The same in its type and in double, and a response.
  void make(Index rows, Index cols) {
    Random random(static_cast<std::uint64_t>(rows));
    narrow_ = GetParam().make(random, rows, cols);
    wide_ = Design::dense(entries_of(narrow_));
    y_ = random_vector(random, rows);
    for (Index j = 3; j < std::min<Index>(cols, 9); ++j) narrow_.axpy(j, 0.3, y_);
    weights_ = random_vector(random, rows).cwiseAbs();
    weights_[0] = 0;
  }
  static void expect_same(const Problem& problem, const Fit& got, const Fit& want, double tolerance) {
    expect_certified(problem, got, tolerance);
    EXPECT_EQ(got.solution.beta, want.solution.beta);
    EXPECT_EQ(got.certificate.gap, want.certificate.gap);
  }

  Design narrow_, wide_;
  Vector y_, weights_;
};

TEST_P(StoredTypes, EverySolverAndRule) {
  constexpr double kTolerance = 1e-4;
  make(37, 60);
  for (const bool weighted : {true, false}) {
    RegressionOptions options{.weights = "bh", .strength = 0.4};
    if (weighted) options.observation_weights = weights_;
    const Regression narrow = make_regression(narrow_, y_, options);
    const Regression wide = make_regression(wide_, y_, options);
    for (const SolverRow& solver : solvers())
      for (const ScreeningRule& rule : screening_rules()) {
        SCOPED_TRACE(std::string(solver.name) + " " + std::string(rule.name));
        const FitOptions how{
            .tolerance = kTolerance, .solver = std::string(solver.name), .screening = std::string(rule.name)};
        expect_same(narrow.problem, fit(narrow.problem, how), fit(wide.problem, how), kTolerance);
      }
  }
}

TEST_P(StoredTypes, ColumnsAsTheyAre) {
  make(37, 60);
  for (const bool intercept : {true, false}) {
    const RegressionOptions options{
        .weights = "bh", .strength = 0.4, .intercept = intercept, .standardize = false};
    const Regression narrow = make_regression(narrow_, y_, options);
    const Regression wide = make_regression(wide_, y_, options);
    expect_same(narrow.problem, fit(narrow.problem), fit(wide.problem), 1e-6);
  }
}

TEST_P(StoredTypes, TallDataAndThreads) {
  make(20003, 31);
  const Regression narrow = make_regression(narrow_, y_, {.weights = "oscar", .strength = 0.3});
  const Regression wide = make_regression(wide_, y_, {.weights = "oscar", .strength = 0.3});
  const Fit want = fit(wide.problem);
  for (const int threads : {1, 2, 5})
    expect_same(narrow.problem, fit(narrow.problem, {.threads = threads}), want, 1e-6);
}

TEST_P(StoredTypes, Paths) {
  make(45, 90);
  const PathOptions rules{.steps = 12, .ratio = 0.2};
  const Path narrow = fit_path(make_regression(narrow_, y_, {.weights = "lasso"}), rules);
  const Path wide = fit_path(make_regression(wide_, y_, {.weights = "lasso"}), rules);
  ASSERT_TRUE(narrow.converged());
  ASSERT_EQ(narrow.steps.size(), wide.steps.size());
  for (std::size_t k = 0; k < wide.steps.size(); ++k)
    EXPECT_EQ(Vector(narrow.steps[k].beta), Vector(wide.steps[k].beta)) << k;
}

TEST_P(StoredTypes, SeveralClasses) {
  make(41, 15);
  Vector labels(41);
  const double mean = y_.mean();
  for (Index i = 0; i < 41; ++i) labels[i] = i % 5 == 0 ? 0 : y_[i] < mean ? 1 : 2;
  const RegressionOptions options{.weights = "bh", .loss = "multinomial", .strength = 0.3};
  const Regression narrow = make_regression(narrow_, labels, options),
                   wide = make_regression(wide_, labels, options);
  const Fit got = fit(narrow.problem), want = fit(wide.problem);
  EXPECT_EQ(got.status, Status::kConverged);
  EXPECT_GT(got.clusters, 0);
  EXPECT_EQ(got.solution.beta, want.solution.beta);
  const Certificate again = certify(narrow.problem, make_iterate(narrow.problem, got.solution.beta));
  EXPECT_LE(again.gap, 1e-6 * again.primal);
  EXPECT_EQ(got.certificate.gap, want.certificate.gap);
}

TEST_P(StoredTypes, SomeRowsAndColumns) {
  make(23, 12);
  const IndexSet rows{0, 1, 5, 6, 7, 11, 20, 22}, columns{7, 2, 2, 0, 11};
  EXPECT_EQ(entries_of(narrow_.take_rows(rows)), entries_of(wide_.take_rows(rows)));
  EXPECT_EQ(entries_of(narrow_.gather(columns)), entries_of(wide_.gather(columns)));
}

INSTANTIATE_TEST_SUITE_P(Types, StoredTypes, testing::ValuesIn(kMade),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tyto
