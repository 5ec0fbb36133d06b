#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tyto/base/json.h"
#include "tyto/data/dataset.h"
#include "tyto/verify/relaxed.h"

// What a model says of itself, read without the code that wrote it.
namespace tyto {

struct Claim {
  std::string loss = "gaussian";
  double huber_delta = 1.35;
  std::vector<double> classes;  // the labels of the response; of two, the second is that of probability mu
  std::vector<std::string> labels;  // the same where they are words
  Index n = 0, p = 0;
  bool intercept = true, standardize = true, nonnegative = false, weighted = false, shifted = false,
       converged = false;
  bool centered = true;  // the columns are: with an intercept, and where the loss is blind to a constant
  double ridge = 0;
  std::vector<double> constants = {0};  // intercepts: of each of several classes, else one
  double primal = 0, gap = 0, rounding = 0, tolerance = 0;
  std::vector<Index> unpenalized;
  std::vector<std::pair<Index, double>> coefficients;  // of increasing columns, and classes
  std::vector<Index> class_of;                         // of each coefficient, where there are several classes
  std::vector<std::string> names;
  std::vector<long double> weights;     // of the penalty, times alpha
  std::optional<RelaxedClaim> relaxed;  // then the coefficients above are the penalised ones

  Index predictors() const { return std::ssize(constants); }  // of a row
};

// The strengths that a document holds: what they share, and what is said of each.
struct Document {
  Json shared;
  std::vector<Json> fits;
};
// Throws DataError; `name` stands for the text in messages.
Document read_document(const std::string& text, const std::string& name);

// Checks that the model fits the data before anything of size p is made: a damaged model may claim any p.
// What is said of all strengths, none can deny. Throws DataError, or InvalidArgument for other data.
Claim read_claim(const Document& document, std::size_t fit, const std::string& name, const Dataset& data);

// Throws InvalidArgument that names the first number of the data that is infinite or NaN.
void check_finite(const Dataset& data);

}  // namespace tyto
