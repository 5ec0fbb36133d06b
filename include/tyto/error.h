#pragma once

#include <stdexcept>

namespace tyto {

// The caller's mistake, thrown before any work is done: "field: want X, got Y".
struct InvalidArgument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A file that cannot be used: "name:line: expected X, got Y".
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tyto
