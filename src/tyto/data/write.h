#pragma once

#include <string>

#include "tyto/data/dataset.h"

namespace tyto {

// Text that read() turns into the same numbers, bit by bit: the shortest decimals that do so.
std::string to_csv(const Dataset& data);     // the response last; a header where the data set has names
std::string to_libsvm(const Dataset& data);  // non-zero entries only; label 0 where there is no response

}  // namespace tyto
