// Law: threads that use one data set at once, as Python's do, get the bits that each would get alone. What
// they share is the data set, its design and what that measures when first asked; for the thread sanitizer.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"
#include "tyto/select/noise.h"

namespace tyto {
namespace {

using Numbers = std::vector<double>;
using Task = std::function<Numbers(const Dataset&)>;

Numbers numbers(const Vector& v) { return {v.begin(), v.end()}; }

Dataset simulated(bool sparse) {
  Random random(3);
  Eigen::MatrixXd x = random_float_exact(random, 60, 40, sparse ? 0.2 : 1.0);
  Vector y = x.leftCols(6) * Vector::LinSpaced(6, 1, 3) + random_vector(random, 60);
  for (Index j = 0; j < 3; ++j) x.col(j + 1) = x.col(0);  // a cluster
  return {sparse ? Design::sparse(Sparse32(x.sparseView())) : Design::dense(std::move(x)), std::move(y)};
}

RegressionOptions words(Index variant, Index rows) {
  RegressionOptions options;
  options.weights = variant % 2 == 0 ? "oscar" : "bh";
  options.strength = 0.1;
  options.standardize = variant % 3 != 0;
  if (variant == 2) options.unpenalized = {5}, options.ridge = 0.5;
  if (variant == 3) options.observation_weights = Vector::LinSpaced(rows, 0, 2);
  return options;
}

Numbers fitted(const Dataset& data, Index variant, const char* solver) {
  FitOptions options;
  options.solver = solver, options.tolerance = 1e-8, options.threads = 2;
  const RegressionOptions asked = words(variant, data.design.rows());
  const Regression regression = make_regression(data.design, data.response, asked, Work(2));
  const Fit fit = tyto::fit(regression.problem, options);
  const Model model = make_model(data, asked, regression, fit, options);
  Numbers result = numbers(predict(model, data));
  result.insert(result.end(), {model.primal, model.gap, fit.passes, regression.alpha_max});
  for (const Coefficient& c : model.coefficients) result.push_back(c.value);
  return result;
}

Numbers along_path(const Dataset& data, Index variant) {
  const RegressionOptions asked = words(variant, data.design.rows());
  const Regression regression = make_regression(data.design, data.response, asked);
  PathOptions grid;
  grid.steps = 12;
  Path path = fit_path(regression, grid);
  relax(regression, 0.5, path);
  Numbers result{path.passes};
  for (const Model& model : make_models(data, asked, regression, path, {})) {
    const Eigen::MatrixXd predictions = predict(model, data);
    for (const double value : predictions.reshaped()) result.push_back(value);
  }
  return result;
}

Numbers cross_validated(const Dataset& data, Index variant) {
  CvOptions cv;
  cv.folds = 3, cv.path.steps = 8, cv.gammas = {0, 1};
  FitOptions options;
  options.threads = 2;
  const CrossValidation found =
      cross_validate(data.design, data.response, words(variant, data.design.rows()), cv, options);
  Numbers result = found.chosen().error;
  result.insert(result.end(), {found.chosen().gamma, static_cast<double>(found.best), found.passes});
  return result;
}

Numbers with_estimated_noise(const Dataset& data) {
  const NoiseFit found =
      fit_estimating_noise(make_regression(data.design, data.response, words(1, data.design.rows())));
  return {found.noise.sigma, found.fit.certificate.primal};
}

std::vector<Task> tasks() {
  std::vector<Task> all;
  for (Index variant = 0; variant < 4; ++variant) {
    for (const char* solver : {"newton", "apgd", "spgd"})
      all.emplace_back([=](const Dataset& data) { return fitted(data, variant, solver); });
    all.emplace_back([=](const Dataset& data) { return along_path(data, variant); });
    all.emplace_back([=](const Dataset& data) { return cross_validated(data, variant); });
  }
  all.emplace_back(with_estimated_noise);
  all.emplace_back([](const Dataset& data) { return numbers(data.design.norms()); });
  return all;
}

class ConcurrentFits : public testing::TestWithParam<bool> {};

TEST_P(ConcurrentFits, GiveTheBitsOfSerialOnes) {
  constexpr std::size_t kThreads = 4;
  const std::vector<Task> all = tasks();
  std::vector<Numbers> want;
  const Dataset alone = simulated(GetParam());
  for (const Task& task : all) want.push_back(task(alone));

  const Dataset shared = simulated(GetParam());  // nothing of it has been measured yet
  std::vector<std::vector<Numbers>> got(kThreads, std::vector<Numbers>(all.size()));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t k = 0; k < all.size(); ++k) {  // each thread begins elsewhere, two of them together
        const std::size_t task = (k + t / 2 * all.size() / 2) % all.size();
        got[t][task] = all[task](shared);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& answers : got)
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(answers[k], want[k]) << "task " << k;
}

// One problem, whose correlations at 0 and lengths all fits share.
TEST_P(ConcurrentFits, OfOneRegression) {
  const Dataset data = simulated(GetParam());
  const Regression regression = make_regression(data.design, data.response, words(1, data.design.rows()));
  const Fit want = fit(regression.problem);
  std::vector<Fit> got(4);
  std::vector<std::thread> threads;
  for (Fit& one : got) threads.emplace_back([&] { one = fit(regression.problem); });
  for (std::thread& thread : threads) thread.join();
  for (const Fit& one : got) {
    EXPECT_EQ(numbers(one.solution.beta), numbers(want.solution.beta));
    EXPECT_EQ(one.passes, want.passes);
  }
}

// Each thread has a Work of its own, whose counts are those that it has alone.
TEST_P(ConcurrentFits, HaveTheirOwnCounters) {
  const Dataset data = simulated(GetParam());
  const auto read = [&](Index variant) {
    const Work work(2);
    const Regression regression =
        make_regression(data.design, data.response, words(variant, data.design.rows()), work);
    const Index made = work.entries_read();
    Vector eta, out;
    for (Index k = 0; k < 5 * (variant + 1); ++k) {
      regression.problem.design.multiply(Vector::Ones(regression.problem.design.cols()), eta, work);
      regression.problem.design.transpose_multiply(eta, out, work);
    }
    return std::pair(made, work.entries_read());
  };
  std::vector<std::pair<Index, Index>> want(4), got(4);
  for (Index k = 0; k < 4; ++k) want[static_cast<std::size_t>(k)] = read(k);
  EXPECT_GT(want[0].first, 0);
  EXPECT_LT(want[0].second, want[1].second);
  std::vector<std::thread> threads;
  for (Index k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int again = 0; again < 20; ++again) got[static_cast<std::size_t>(k)] = read(k);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, want);
}

INSTANTIATE_TEST_SUITE_P(Storages, ConcurrentFits, testing::Bool(),
                         [](const auto& row) { return row.param ? "sparse" : "dense"; });

}  // namespace
}  // namespace tyto
