#pragma once

#include <memory>
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
  Vector weight_values = {};      // the shape itself, if not empty: a number for each coefficient
  double q = 0.1, slope = 1;      // parameters of the shape: see WeightContext
  std::string loss = "gaussian";  // a row of the table of losses
  double huber_delta = 1.35;      // of that loss: where squares end, in units of the response
  double strength = 0.1;
  RelativeTo relative_to = RelativeTo::kAlphaMax;
  bool intercept = true, standardize = true;
  Vector observation_weights = {};  // how often each row counts, if not empty; a row of weight 0 is not there
  Vector offset = {};               // added to the linear predictor of each row, if not empty
  Vector events =
      {};  // of the loss cox: 1 where the response is the time of an event, 0 where it is censored
  IndexSet unpenalized = {};  // columns that the penalty leaves alone
  double ridge = 0;           // adds ridge/2 ||b||^2 on the scale of the problem, unpenalised columns apart
  bool nonnegative = false;   // coefficients are >= 0, unpenalised ones apart
  std::shared_ptr<const Origin> origin = nullptr;  // of the data: see Dataset
};

// A fit on the data's own scale.
struct DataScale {
  SparseBeta coefficients;  // of all columns; of several classes: those of a column side by side
  Vector intercepts;        // of each class; one where there are none

  double intercept() const { return intercepts[0]; }
};

// The problem that is solved, and the way back to the data's own scale.
struct Regression {
  Problem problem;   // weighted, standardised and centred as asked, weights times alpha
  SortedL1 shape;    // the weights before they are multiplied
  double alpha = 0;  // the multiplier
  double alpha_max = 0;
  Index columns = 0;         // of the data
  Selection penalized = {};  // those of them that are columns of the problem, once for each class
  Index predictors = 1;      // linear predictors of a row: one, or as many as there are several classes
  // The intercept and the unpenalised columns are projected out of the problem, which has the way back.
  bool has_intercept = false;
  bool centered = false;  // the columns are, also where a loss without an intercept is blind to their means
  IndexSet free = {};     // unpenalised columns that do not depend on those before
  std::vector<double> classes = {};                // the labels of the classes, where the response has them
  std::shared_ptr<const Origin> origin = nullptr;  // of the data: see Dataset

  Regression at(double multiplier) const;  // the same with another alpha
  // The coefficient of the data's scale that a column of the problem has.
  Index coefficient(Index column) const {
    return penalized[column / predictors] * predictors + column % predictors;
  }
  // Unpenalised columns have an entry, also if it is 0. `coordinates` of the loss (see Iterate) are found
  // anew where they are not given.
  DataScale on_data_scale(const SparseBeta& beta, Vector coordinates = {}) const;
  DataScale on_data_scale(const Vector& beta) const { return on_data_scale(SparseBeta(beta.sparseView())); }
  Vector coefficients(const Vector& beta) const { return on_data_scale(beta).coefficients; }
  double intercept(const Vector& beta) const { return on_data_scale(beta).intercept(); }
};

// The labels of the classes, the smallest first, where the loss takes them: they count as 0, 1, ... Empty for
// shares from 0 to 1, and for other losses. Throws InvalidArgument for more than two labels where the loss is
// for two.
std::vector<double> classes_of(const std::string& loss, const Vector& response);
Vector encoded(const Vector& response, const std::vector<double>& classes);  // labels as 0, 1, ...
// The loss that is meant for this response: two classes are binomial.
std::string loss_for(const std::string& loss, const Vector& response);

// Throws InvalidArgument for options or data that cannot be fitted.
Regression make_regression(const Design& raw, const Vector& response, const RegressionOptions& options,
                           const Work& work = Work());

}  // namespace tyto
