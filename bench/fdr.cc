// False discovery rate and power of SLOPE with the noise level known and estimated, and of the lasso chosen
// by cross-validation, in the manner of Bogdan et al. (2015).
//
//   build/bench/tyto_fdr [replications] [threads] > results.csv
//
// Three designs, drawn anew in each replication, columns standardised: orthogonal (500 x 100; bh weights),
// gaussian (300 x 150; gaussian weights), and correlated (the same, neighbours correlating by 0.5). Noise of
// variance 1; k signals at random places, each sqrt(2 log p) standard errors large: where a single one is
// just about seen. bench/fdr.py runs it and draws the figure.
#include <fmt/core.h>

#include <Eigen/QR>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tyto/all.h"
#include "tyto/base/parallel.h"

namespace {

using tyto::Index;
using tyto::Vector;
using Matrix = Eigen::MatrixXd;
using Random = std::mt19937_64;

Matrix normal_matrix(Index n, Index p, Random& random) {
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(n, p, [&](Index, Index) { return normal(random); });
}

// Columns that are orthogonal to each other and to the constant.
Matrix orthogonal(Index n, Index p, Random& random) {
  Matrix x = normal_matrix(n, p + 1, random);
  x.col(0).setOnes();
  const Matrix q = x.householderQr().householderQ() * Matrix::Identity(n, p + 1);
  return q.rightCols(p) * std::sqrt(static_cast<double>(n));
}

Matrix correlated(Index n, Index p, Random& random) {
  constexpr double kRho = 0.5;
  Matrix x = normal_matrix(n, p, random);
  for (Index j = 1; j < p; ++j) x.col(j) = kRho * x.col(j - 1) + std::sqrt(1 - kRho * kRho) * x.col(j);
  return x;
}

struct Setting {
  std::string name;
  Matrix (*design)(Index, Index, Random&);
  Index n, p;
  std::string weights;
  std::vector<Index> signals;
};
const std::vector<Setting> kSettings{
    {"orthogonal", orthogonal, 500, 100, "bh", {0, 2, 5, 10, 20, 30}},
    {"gaussian", normal_matrix, 300, 150, "gaussian", {0, 2, 5, 10, 20, 30}},
    {"correlated", correlated, 300, 150, "gaussian", {0, 2, 5, 10, 20, 30}},
};
const std::vector<double> kRates{0.05, 0.1, 0.2};

// What one method found in one replication.
struct Found {
  std::string method;
  double q;
  double false_share, power;
  bool settled = true;
};

Found score(std::string method, double q, const Vector& beta, const std::vector<bool>& truth) {
  double right = 0, wrong = 0, all = 0;
  for (Index j = 0; j < beta.size(); ++j) {
    const bool signal = truth[static_cast<std::size_t>(j)];
    all += signal ? 1 : 0;
    if (beta[j] != 0) (signal ? right : wrong) += 1;
  }
  return {std::move(method), q, wrong / std::max(1.0, right + wrong), all > 0 ? right / all : 0};
}

std::vector<Found> replicate(const Setting& setting, Index signals, std::uint64_t seed) {
  Random random(seed);
  std::normal_distribution<double> normal;
  const tyto::Design raw = tyto::Design::dense(setting.design(setting.n, setting.p, random));
  const tyto::Design design = raw.standardized(true, true);
  // A coefficient of a standardised column is seen through noise of standard deviation 1 / sqrt(n).
  const double size =
      std::sqrt(2 * std::log(static_cast<double>(setting.p))) / std::sqrt(static_cast<double>(setting.n));
  std::vector<bool> truth(static_cast<std::size_t>(setting.p));
  for (Index k = 0; k < signals; ++k) truth[static_cast<std::size_t>(k)] = true;
  std::shuffle(truth.begin(), truth.end(), random);
  Vector y = Vector::NullaryExpr(setting.n, [&](Index) { return normal(random); });
  for (Index j = 0; j < setting.p; ++j)
    if (truth[static_cast<std::size_t>(j)]) design.axpy(j, size, y);

  std::vector<Found> all;
  tyto::RegressionOptions options;
  options.weights = setting.weights;
  for (const double q : kRates) {
    options.q = q;
    const tyto::Regression regression = tyto::make_regression(raw, y, options);
    const tyto::Fit known = tyto::fit(tyto::at_noise(regression, 1).problem);
    all.push_back(score("slope, sigma known", q, known.solution.beta, truth));
    const tyto::NoiseFit estimated = tyto::fit_estimating_noise(regression);
    all.push_back(score("slope, sigma estimated", q, estimated.fit.solution.beta, truth));
    all.back().settled = estimated.noise.status == tyto::NoiseStatus::kConverged;
  }
  options.weights = "lasso";
  tyto::CvOptions cv;
  cv.seed = seed;
  cv.folds = 5, cv.path.ratio = 0.05, cv.path.steps = 30;
  const tyto::CrossValidation chosen = tyto::cross_validate(raw, y, options, cv);
  const auto& steps = chosen.chosen().path.steps;
  all.push_back(score("lasso, cv", 0, steps[static_cast<std::size_t>(chosen.best)].beta, truth));
  all.push_back(score("lasso, cv one-se", 0, steps[static_cast<std::size_t>(chosen.one_se)].beta, truth));
  return all;
}

struct Mean {
  double sum = 0, squares = 0;
  void add(double x) { sum += x, squares += x * x; }
  double mean(double n) const { return sum / n; }
  double standard_error(double n) const {
    return std::sqrt(std::max(0.0, squares / n - mean(n) * mean(n)) / (n - 1));
  }
};

void run(const Setting& setting, Index signals, Index replications, int threads) {
  std::vector<std::vector<Found>> found(static_cast<std::size_t>(replications));
  tyto::parallel_for(replications, threads, [&](Index r) {
    found[static_cast<std::size_t>(r)] = replicate(setting, signals, static_cast<std::uint64_t>(1 + r));
  });
  const auto n = static_cast<double>(replications);
  for (std::size_t m = 0; m < found.front().size(); ++m) {
    Mean fdr, power;
    int unsettled = 0;
    for (const auto& one : found)
      fdr.add(one[m].false_share), power.add(one[m].power), unsettled += one[m].settled ? 0 : 1;
    fmt::print("{},{},{},{},\"{}\",{},{},{},{},{},{}\n", setting.name, setting.n, setting.p, signals,
               found.front()[m].method, found.front()[m].q, fdr.mean(n), fdr.standard_error(n), power.mean(n),
               power.standard_error(n), unsettled);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Index replications = argc > 1 ? std::atol(argv[1]) : 500;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  if (replications < 2 || threads < 1) {
    fmt::print(stderr, "usage: tyto_fdr [replications >= 2] [threads >= 1]\n");
    return 2;
  }
  fmt::print("design,n,p,signals,method,q,fdr,fdr_se,power,power_se,unsettled\n");
  for (const Setting& setting : kSettings)
    for (const Index signals : setting.signals) run(setting, signals, replications, threads);
}
