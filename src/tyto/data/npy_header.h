#pragma once

#include <cstddef>
#include <string>

#include "tyto/data/source.h"

namespace tyto {

// What the header of an .npy file says (format versions 1 to 3). A 1-D array is a matrix of one column.
struct NpyHeader {
  std::string type;  // such as "<f8"
  bool fortran_order = false;
  Index rows = 0, cols = 0;
  std::size_t size = 0;  // of the header: where the data begins
};

NpyHeader read_npy_header(Stream& stream, const std::string& name);  // throws DataError

}  // namespace tyto
