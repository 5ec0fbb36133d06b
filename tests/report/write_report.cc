// Writes reports that no command makes yet, or that would take long to fit: write_report KIND FILE.
#include <fmt/core.h>

#include <cmath>
#include <random>

#include "cli/report/report.h"
#include "tyto/data/atomic_file.h"
#include "tyto/data/simulate.h"

namespace tyto::cli {
namespace {

const std::vector<std::string> kFiles{"simulated.csv"};

// A path with made-up errors of five folds: high at both ends, each fold off by its own amount.
std::string cross_validated() {
  const Dataset data = simulate({.rows = 80, .cols = 60, .groups = 3, .group_size = 4}).data;
  const RegressionOptions options{.weights = "bh"};
  const Regression regression = make_regression(data.design, data.response, options);
  const Path path = fit_path(regression, {.steps = 30});
  const std::vector<Model> models = make_models(data, options, regression, path, {});
  ReportedErrors errors{.measure = "mean squared error"};
  constexpr int kFolds = 5;
  errors.folds.resize(kFolds);
  for (std::size_t k = 0; k < path.steps.size(); ++k) {
    const double away = static_cast<double>(k) - 18;
    double sum = 0, squares = 0;
    for (int fold = 0; fold < kFolds; ++fold) {
      const double error = 10 + away * away / 40 + (fold - 2) * (1 + 0.02 * away);
      errors.folds[static_cast<std::size_t>(fold)].push_back(error);
      sum += error, squares += error * error;
    }
    const double mean = sum / kFolds;
    errors.mean.push_back(mean);
    errors.standard_error.push_back(std::sqrt((squares / kFolds - mean * mean) / (kFolds - 1)));
    if (mean < errors.mean[errors.best]) errors.best = k;
  }
  const double limit = errors.mean[errors.best] + errors.standard_error[errors.best];
  while (errors.mean[errors.within_one_standard_error] > limit) ++errors.within_one_standard_error;
  return to_html({kFiles, data, regression, models, path, &errors});
}

// 100 strengths by 62,061 features, every one of them in every model but the first, and nothing alike in any
// two.
std::string wide() {
  constexpr Index kColumns = 62061, kSteps = 100;
  Dataset data = simulate({.rows = 60, .cols = kColumns}).data;
  for (std::size_t j = 0; j < data.names.size(); ++j)
    data.names[j] = fmt::format("gene {:06} of the assay", j);
  const RegressionOptions options;
  const Regression regression = make_regression(data.design, data.response, options);
  Path path = fit_path(regression, {.steps = kSteps, .max_nonzeros = 1});
  std::mt19937_64 random(1);
  Vector beta(kColumns), shuffled(kColumns);
  for (double& value : beta) value = std::normal_distribution<>(0, 1e-3)(random);
  // A report takes the coefficients from the path, and of the models what they say of themselves.
  const std::vector<Model> models(kSteps, make_models(data, options, regression, path, {}).front());
  PathStep step = path.steps.back();
  path.stopped_by = PathStop::kNone;
  path.steps.resize(1);
  for (Index k = 1; k < kSteps; ++k) {
    step.alpha = path.alphas[static_cast<std::size_t>(k)];
    for (Index j = 0; j < kColumns; ++j) shuffled[j] = beta[(j * 7919 + k * 104729) % kColumns];
    step.beta = shuffled.sparseView(1, 0);
    step.clusters = kColumns;
    path.steps.push_back(step);
  }
  return to_html({kFiles, data, regression, models, path});
}

}  // namespace
}  // namespace tyto::cli

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  if (kind != "cv" && kind != "wide") {
    fmt::print(stderr, "write_report: want cv or wide, and a file\n");
    return 2;
  }
  tyto::write_atomically(argv[2], kind == "cv" ? tyto::cli::cross_validated() : tyto::cli::wide());
}
