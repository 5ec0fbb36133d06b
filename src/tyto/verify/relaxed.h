#pragma once

#include <string>
#include <vector>

#include "tyto/base/json.h"
#include "tyto/data/dataset.h"

// What a model says of its relaxed fit, checked by plain loops in extended precision.
namespace tyto {

struct RelaxedClaim {
  double gamma = 1;
  double intercept = 0, penalized_intercept = 0, relaxed_intercept = 0;
  bool fits_intercept = true;
  std::vector<Index> columns, clusters;
  std::vector<double> coefficients, penalized, relaxed;  // on the data's own scale, one for each column
};
// Throws DataError, or the exceptions of the JSON library.
RelaxedClaim read_relaxed(const Json& model);

struct RelaxedFinding {
  double error = 0;    // the largest |z'r| / (||z|| ||y||) of the pattern's normal equations
  std::string reason;  // why the claim does not hold, in words; empty where it does
};

// What the problem makes of the data, as MATH.md, section 1 defines it.
struct RelaxedSetting {
  std::vector<long double> centers, scales;  // of all columns
  std::vector<long double> row_weights;
  std::vector<Index> unpenalized;
  long double ridge = 0;
};
RelaxedFinding check_relaxed(const RelaxedClaim& claim, const Dataset& data, const RelaxedSetting& setting);

}  // namespace tyto
