#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tyto {

// What to fit and how, in the words and with the defaults of the command line (docs/cli.md).
struct OwlOptions {
  std::string loss = "gaussian";
  // The penalty: alpha * sum_i w_i |b|_(i).
  std::string weights = "oscar";  // the shape w: oscar, lasso, linf, linear, bh, gaussian
  Eigen::VectorXd weight_values =
      {};            // the shape itself, one number a column (and class); empty: by its name
  double q = 0.1;    // of bh and gaussian
  double slope = 1;  // of oscar
  double strength = 0.1;
  std::string relative_to = "alpha-max";  // the unit of the strength: alpha-max, correlation, absolute
  // The problem.
  bool intercept = true;
  bool standardize = true;
  Eigen::VectorXd observation_weights = {};    // how often each row counts; empty: once
  Eigen::VectorXd events = {};                 // of the loss cox: 1 where y is the time of an event, else 0
  std::vector<Eigen::Index> unpenalized = {};  // columns that the penalty leaves alone
  double ridge = 0;
  bool nonnegative = false;
  std::optional<double> gamma = {};  // relaxes: 0 least squares on the clusters, 1 the fit itself
  // The solver.
  std::string solver = "auto";
  std::string screening = "safe";
  double tolerance = 1e-6;  // of the duality gap, relative to the objective
  Eigen::Index max_epochs = 1'000'000;
  double max_seconds = std::numeric_limits<double>::infinity();
  int threads = 1;  // the result has the same bits for any number
};

// A grid of strengths.
struct OwlPathOptions {
  Eigen::Index steps = 100;          // from alpha-max down, evenly spaced in their logarithms
  std::optional<double> ratio = {};  // the last as a fraction of the first; by default by the data's shape
  std::optional<Eigen::Index> max_nonzeros = {};  // stop after a model with so many
};

// Cross-validation along the grid.
struct OwlCvOptions {
  OwlPathOptions path = {};
  Eigen::Index folds = 10;
  Eigen::Index repeats = 1;
  unsigned long long seed = 1;
  std::string error = "mse";  // mse, mae, r2; deviance and others where the loss has them
};

}  // namespace tyto
