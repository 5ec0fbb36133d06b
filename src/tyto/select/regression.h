#pragma once

#include <string>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/math/weights.h"
#include "tyto/problem/problem.h"

namespace tyto {

// What the multiplier of the weights is counted in.
enum class RelativeTo {
  kAlphaMax,     // the smallest multiplier whose solution is 0
  kCorrelation,  // max_j |x_j'y|: the seed paper's p_i
  kAbsolute,
};
std::string_view name(RelativeTo unit);
RelativeTo parse_relative_to(std::string_view name);
std::vector<std::string> relative_to_names();

// What to fit, in the words of a user.
struct RegressionOptions {
  std::string weights = "oscar";  // a row of the weight table; any other name goes with `weight_values`
  Vector weight_values = {};      // the shape itself, if not empty: p numbers
  double q = 0.1, slope = 1;      // parameters of the shape: see WeightContext
  double strength = 0.1;
  RelativeTo relative_to = RelativeTo::kAlphaMax;
  bool intercept = true, standardize = true;
  Vector observation_weights = {};  // how often each row counts, if not empty; a row of weight 0 is not there
  IndexSet unpenalized = {};        // columns that the penalty leaves alone
  double ridge = 0;          // adds ridge/2 ||b||^2 on the scale of the problem, unpenalised columns apart
  bool nonnegative = false;  // coefficients are >= 0, unpenalised ones apart
};

// A fit on the data's own scale.
struct DataScale {
  SparseBeta coefficients;  // of all columns
  double intercept;
};

// The problem that is solved, and the way back to the data's own scale.
struct Regression {
  Problem problem;   // weighted, standardised and centred as asked, weights times alpha
  SortedL1 shape;    // the weights before they are multiplied
  double alpha = 0;  // the multiplier
  double alpha_max = 0;
  Index columns = 0;         // of the data
  Selection penalized = {};  // those of them that are columns of the problem
  // The intercept and the unpenalised columns are projected out of the problem, which has the way back.
  bool has_intercept = false;
  IndexSet free = {};  // unpenalised columns that do not depend on those before

  Regression at(double multiplier) const;  // the same with another alpha
  DataScale on_data_scale(
      const SparseBeta& beta) const;  // unpenalised columns have an entry, also if it is 0
  DataScale on_data_scale(const Vector& beta) const { return on_data_scale(SparseBeta(beta.sparseView())); }
  Vector coefficients(const Vector& beta) const { return on_data_scale(beta).coefficients; }
  double intercept(const Vector& beta) const { return on_data_scale(beta).intercept; }
};

// Throws InvalidArgument for options or data that cannot be fitted.
Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options,
                           const Work& work = Work());

}  // namespace tyto
