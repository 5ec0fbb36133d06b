#pragma once

#include <string>

#include "tests/support/random.h"
#include "tyto/select/regression.h"

namespace tyto {

// A response that the loss is defined for; of labels, all are there.
Vector random_response(Random& random, const std::string& loss, Index rows);

// A small regression with this loss: columns that are correlated, equal, binary or badly scaled; row weights,
// an offset, an intercept, an unpenalised column, a ridge and signs, each at times.
Regression random_regression(Random& random, const std::string& loss);

}  // namespace tyto
