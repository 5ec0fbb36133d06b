#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "tests/support/loss_problems.h"
#include "tyto/base/error.h"
#include "tyto/select/estimate.h"
#include "tyto/select/model.h"
#include "tyto/solve/fit.h"
#include "tyto/verify/verify.h"

// Awkward data of every loss, as a user gives them: an answer that verify() accepts, or a message, or a
// status that says that the tolerance was not met; never a loop.
namespace tyto {
namespace {

// The first of them; TYTO_LOSS_SEED asks for others.
std::uint64_t first_seed() {
  const char* asked = std::getenv("TYTO_LOSS_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 7'100'000;
}
constexpr double kLong =
    200;  // seconds for problems that take milliseconds, on a machine that has much to do

// Data sets for each loss; TYTO_LOSS_PROBLEMS asks for more.
std::uint64_t problems() {
  const char* asked = std::getenv("TYTO_LOSS_PROBLEMS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 20;
}

// Near or full separation, one rare case, only zeros but for one, huge counts, a linear predictor that
// overflows exp, outliers.
void spoil_response(Random& random, const std::string& loss, const Eigen::MatrixXd& x, Vector& y) {
  const Index n = y.size();
  const Index column = random.below(x.cols());
  const bool labels = loss == "binomial" || loss == "squared-hinge" || loss == "multinomial";
  if (labels && random.chance(0.3)) y = (x.col(column).array() > x.col(column).mean()).cast<double>();
  if (labels && random.chance(0.2)) y.setZero();
  if (labels && random.chance(0.4)) y[random.below(n)] = loss == "multinomial" ? 2 : 1;
  if (labels && random.chance(0.1)) y = 2 * y.array() - 1;
  if (loss == "poisson" && random.chance(0.3)) y.setZero();
  if (loss == "poisson" && random.chance(0.3)) y[random.below(n)] = std::pow(10, random.uniform(0, 12));
  if (loss == "poisson" && random.chance(0.2)) y *= std::pow(10, random.uniform(-8, 8));
  if (loss == "huber" && random.chance(0.3)) y *= std::pow(10, random.uniform(-12, 12));
  if (loss == "huber" && random.chance(0.3)) y.setConstant(random.normal());
  if (loss == "huber" && random.chance(0.3)) y = x.col(column);
  if (loss == "cox" && random.chance(0.3)) y = x.col(column).array() - x.col(column).minCoeff();
  if (loss == "cox" && random.chance(0.1)) y.setConstant(3);
}

Dataset awkward_data(Random& random, const std::string& loss) {
  const Index n = random.between(2, 24);
  const Index p = random.chance(0.3) ? random.between(1, 3) : random.between(2, 40);
  Eigen::MatrixXd x = random_matrix(random, n, p);
  for (Index j = 0; j < p; ++j) {
    if (random.chance(0.15)) x.col(j) = x.col(random.below(p));
    if (random.chance(0.1)) x.col(j) = -x.col(random.below(p)) + 1e-7 * x.col(j);
    if (random.chance(0.1)) x.col(j) = (x.col(j).array() > 1).cast<double>();
    if (random.chance(0.1)) x.col(j) = x.col(j).array().sinh().pow(3);
    if (random.chance(0.1)) x.col(j) *= std::pow(10, random.uniform(-8, 8));
    if (random.chance(0.1)) x.col(j).array() += std::pow(10, random.uniform(0, 7));
    if (random.chance(0.05)) x.col(j).setConstant(random.normal());
  }
  Vector y(n);
  if (loss == "multinomial")
    y = Vector::NullaryExpr(n, [&](Index) { return static_cast<double>(random.below(4)); });
  else
    y = random_response(random, loss, std::max<Index>(n, 2));
  spoil_response(random, loss, x, y);
  Dataset data{
      random.chance(0.3)
          ? Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView()))
          : Design::dense(x),
      y};
  if (random.chance(0.3)) {
    data.row_weights = (random.uniform(0, 6) * random_vector(random, n)).array().exp();
    for (double& v : data.row_weights) v = random.chance(0.2) ? 0 : v;
    data.weights_name = "v";
  }
  if (random.chance(0.3) && loss != "multinomial") {
    data.offset = std::pow(10, random.uniform(-1, 2.5)) * random_vector(random, n);
    data.offset_name = "o";
  }
  if (loss == "cox") {
    const double share = random.uniform(0, 1.2);
    data.events = Vector::NullaryExpr(n, [&](Index) { return random.chance(share) ? 1 : 0; });
    data.event_name = "e";
  }
  return data;
}

EstimateOptions awkward_options(Random& random, const std::string& loss, Index p) {
  EstimateOptions options;
  RegressionOptions& r = options.regression;
  r.loss = loss;
  r.weights = random.chance(0.4)   ? "bh"
              : random.chance(0.5) ? "oscar"
              : random.chance(0.5) ? "lasso"
                                   : "linf";
  r.q = random.uniform(0.01, 0.9);
  r.strength = std::pow(10, random.uniform(-7, 0.1));
  r.huber_delta = std::pow(10, random.uniform(-3, 3));
  r.intercept = loss != "cox" && random.chance(0.75);
  r.standardize = random.chance(0.75);
  r.nonnegative = random.chance(0.2);
  if (random.chance(0.3)) r.ridge = std::pow(10, random.uniform(-6, 4));
  if (random.chance(0.2) && p > 1) r.unpenalized = {random.below(p)};
  options.fit.tolerance = std::pow(10, -random.uniform(4, 10));
  options.fit.max_seconds = kLong;
  options.fit.solver = random.chance(0.9) ? "auto" : "apgd";
  if (options.fit.solver == "apgd") options.fit.max_epochs = 3000;
  return options;
}

std::string in_words(const Verification& judged) {
  return fmt::format(
      "WRONG: {}: primal {:.6g}, stated {:.6g}; gap {:.3g}, stated {:.3g} + {:.3g}; tolerance {:.3g}",
      judged.reason, judged.primal, judged.claimed_primal, judged.gap, judged.claimed_gap,
      judged.claimed_rounding, judged.tolerance);
}

// What became of one data set, in a word; "WRONG: ..." where that is not allowed.
std::string outcome(std::uint64_t seed, const std::string& loss) {
  Random random(seed);
  const Dataset data = awkward_data(random, loss);
  EstimateOptions options = awkward_options(random, loss, data.design.cols());
  try {
    options = completed(options, data);
    const Estimate found = estimate(data, options);
    const Status status = found.fit().status;
    if (status == Status::kTimeLimit) return "WRONG: it does not end";
    Model model = found.models.front();
    model.weights_column = data.weights_name;  // as the command line has it
    model.offset_column = data.offset_name;
    model.event_column = data.event_name;
    const Verification judged = verify_text(to_json(model), "model", data).front();
    if (status == Status::kConverged && !judged.holds) return in_words(judged);
    if (status == Status::kConverged) return "converged";
    if (status == Status::kStalled && model.primal > 0 &&
        model.relative_gap + model.rounding / model.primal < options.fit.tolerance)
      return "WRONG: stalled below its tolerance";
    return std::string(name(status));
  } catch (const InvalidArgument& error) {
    return std::string(error.what()).size() > 20 ? "refused" : "WRONG: no message";
  }
}

class LossAnswers : public ::testing::TestWithParam<std::string> {};

TEST_P(LossAnswers, AreVerifiedOrExplained) {
  std::map<std::string, int> counts;
  for (std::uint64_t k = 0; k < problems(); ++k) {
    const std::string found = outcome(first_seed() + k, GetParam());
    EXPECT_FALSE(found.starts_with("WRONG")) << "seed " << first_seed() + k << ": " << found;
    ++counts[found.starts_with("WRONG") ? "wrong" : found];
  }
  for (const auto& [what, count] : counts) RecordProperty(what, count);
  EXPECT_GT(counts["converged"], static_cast<int>(problems() / 3));
  EXPECT_LE(counts["stalled"] + counts["epoch_limit"], static_cast<int>(problems() / 3));
}

// An error of a fitted value moves r by the curvature times as much, which is next to nothing in saturated
// rows: the rounding that is stated may not say that such a fit cannot be solved.
TEST(LossRounding, IsSmallWhereProbabilitiesAreSaturated) {
  Random random(3);
  const Index n = 50;
  const Eigen::MatrixXd x = 20 * random_matrix(random, n, 2);
  Vector y(n);
  for (Index i = 0; i < n; ++i) y[i] = i % 2 == 0 ? 1 : 0;
  RegressionOptions options{.loss = "binomial", .strength = 1e-4};
  options.observation_weights = y.unaryExpr([](double label) { return label == 1 ? 1e-4 : 1e3; });
  const Regression regression = make_regression(Design::dense(x), y, options);
  const Fit found = fit(regression.problem, {});
  EXPECT_EQ(found.status, Status::kConverged);
  EXPECT_LE(found.certificate.rounding, 1e-7 * found.certificate.primal);
}

INSTANTIATE_TEST_SUITE_P(Loss, LossAnswers, ::testing::ValuesIn(loss_names()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace tyto
