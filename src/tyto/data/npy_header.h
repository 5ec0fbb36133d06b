#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tyto/data/source.h"

namespace tyto {

// What the header of an .npy file says (format versions 1 to 3). A 1-D array is a matrix of one column.
struct NpyHeader {
  std::string type;  // such as "<f8"
  bool fortran_order = false;
  Index rows = 0, cols = 0;
  std::size_t size = 0;  // of the header: where the data begins
};

enum class NpyShape { kMatrix, kAny };  // kAny: a single number too, as a matrix of one

NpyHeader read_npy_header(Stream& stream, const std::string& name,
                          NpyShape shape = NpyShape::kMatrix);  // throws DataError

// A type of real numbers, as they stand in the file.
struct NpyType {
  std::string_view name;  // without the byte order
  Index size;
  void (*convert)(const char* bytes, Index count, double* out);

  bool is_whole() const { return name[0] == 'i' || name[0] == 'u'; }
  bool is_float() const { return name[0] == 'f'; }
};
const NpyType& npy_type(const NpyHeader& header, const std::string& name);  // throws DataError

}  // namespace tyto
