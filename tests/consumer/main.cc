// What the program of docs/cpp.md leaves out: other matrices, temporaries, weights, paths and mistakes.
#include <tyto/tyto.h>

#include <cstdio>
#include <string>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

template <class Call>
std::string mistake(Call call) {
  try {
    call();
  } catch (const tyto::InvalidArgument& error) {
    return error.what();
  }
  return "";
}

struct Data {
  Eigen::MatrixXd x = Eigen::MatrixXd::NullaryExpr(
      30, 8, [](Eigen::Index i, Eigen::Index j) { return double((7 * i * i + 3 * i * j + j * j) % 11) - 5; });
  Eigen::VectorXd y = 2 * x.col(0) - x.col(3) + 0.1 * x.col(5);
};

void other_matrices(const Data& data) {
  const Eigen::VectorXd dense = tyto::fit(tyto::make_regression(data.x, data.y)).coefficients();
  const auto kept = tyto::make_regression(Eigen::MatrixXd(data.x), data.y);  // the temporary is gone by now
  expect(tyto::fit(kept).coefficients() == dense, "a temporary is kept");
  const Eigen::MatrixXf single = data.x.cast<float>();
  expect(tyto::fit(tyto::make_regression(single, data.y)).coefficients().isApprox(dense, 1e-4), "floats");
  const Eigen::SparseMatrix<double> sparse = data.x.sparseView();
  const tyto::OwlModel model = tyto::fit(tyto::make_regression(sparse, data.y));
  expect(model.coefficients().isApprox(dense, 1e-4), "a sparse matrix");
  Eigen::SparseMatrix<double> loose = sparse;
  loose.uncompress();
  expect(tyto::predict(model, loose) == tyto::predict(model, sparse), "a matrix that is not compressed");
}

void paths_and_weights(const Data& data) {
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(30);
  weights[4] = 3;
  const auto weighted = tyto::make_regression(
      data.x, data.y, {.weights = "bh", .observation_weights = weights, .unpenalized = {6, 2}});
  const tyto::OwlModel model = tyto::fit(weighted);
  expect(tyto::verify(model, data.x, data.y, weights).holds, "weights");
  const std::string without = mistake([&] { tyto::verify(model, data.x, data.y); });
  expect(without == "observation_weights: want those of the fit, got none", "weights are missed");
  // Times to an event: y as times, of which every third is censored.
  const Eigen::VectorXd times = data.y.array().exp();
  Eigen::VectorXd events = Eigen::VectorXd::Ones(times.size());
  for (Eigen::Index i = 0; i < events.size(); i += 3) events[i] = 0;
  const auto survival = tyto::make_regression(data.x, times, {.loss = "cox", .events = events});
  expect(tyto::verify(tyto::fit(survival), data.x, times, {}, events).holds, "a model of times is verified");
  const auto path = tyto::fit_path(tyto::make_regression(data.x, data.y, {.gamma = 0.5}), {.steps = 7});
  expect(path.size() == 7 && path.front().nonzeros().empty() && !path.back().nonzeros().empty(), "a path");
  const auto cv = tyto::cross_validate(weighted, {.path = {.steps = 5}, .folds = 3});
  expect(cv.converged && cv.models.size() == 5 && cv.errors.size() == 5 && cv.one_se <= cv.best, "folds");
}

void mistakes(const Data& data) {
  const auto made = [&](const tyto::OwlOptions& options) {
    return mistake([&] { tyto::make_regression(data.x, data.y, options); });
  };
  expect(made({.strength = -1}) == "strength: want a number > 0, got -1", "a strength below 0");
  expect(made({.solver = "x"}).starts_with("solver: unknown solver 'x'"), "a solver that is not there");
  expect(made({.relative_to = "x"}).starts_with("relative-to: want"), "a unit that is not there");
  const auto model = tyto::fit(tyto::make_regression(data.x, data.y));
  expect(!mistake([&] { tyto::predict(model, Eigen::MatrixXd(2, 3)); }).empty(), "too few columns");
}

}  // namespace

int main() {
  const Data data;
  other_matrices(data);
  paths_and_weights(data);
  mistakes(data);
  std::printf("%s %s\n", tyto::version(), failures == 0 ? "ok" : "failed");
  return failures;
}
