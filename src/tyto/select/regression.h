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
RelativeTo parse_relative_to(std::string_view name);
std::vector<std::string> relative_to_names();

// What to fit, in the words of a user.
struct RegressionOptions {
  std::string weights = "oscar";  // a row of the weight table; any other name goes with `weight_values`
  Vector weight_values = {};      // the shape itself, if not empty: p numbers
  double q = 0.1;
  double strength = 0.1;
  RelativeTo relative_to = RelativeTo::kAlphaMax;
  bool intercept = true, standardize = true;
};

// The problem that is solved, and the way back to the data's own scale.
struct Regression {
  Problem problem;   // standardised and centred as asked, weights times alpha
  SortedL1 shape;    // the weights before they are multiplied
  double alpha = 0;  // the multiplier
  double alpha_max = 0;
  double response_mean = 0;  // 0 without an intercept

  Regression at(double multiplier) const;         // the same with another alpha
  Vector coefficients(const Vector& beta) const;  // on the data's own scale
  double intercept(const Vector& beta) const;
};

// Throws InvalidArgument for options or data that cannot be fitted.
Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options);

}  // namespace tyto
