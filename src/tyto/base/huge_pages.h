#pragma once

#include <cstddef>

#include "tyto/base/types.h"

namespace tyto {

// Asks the system to back memory that was not touched yet by large pages: what is filled in no order of its
// addresses misses the translation buffers less (reading a sparse file takes about a seventh less time), and
// so do passes over many long columns; and what is long is there after fewer faults. Does nothing elsewhere.
void prefer_huge_pages(void* memory, std::size_t bytes);
template <class Dense>  // a vector or a matrix
void prefer_huge_pages(Eigen::PlainObjectBase<Dense>& x) {
  prefer_huge_pages(x.data(), sizeof(*x.data()) * static_cast<std::size_t>(x.size()));
}
// Vectors in such memory; entries are not set. One that has the size already stays as it is.
inline void resize_to_write(Vector& v, Index size) {
  if (v.size() == size) return;
  v.resize(size);
  prefer_huge_pages(v);
}
inline Vector vector_to_write(Index size) {
  Vector v;
  resize_to_write(v, size);
  return v;
}

}  // namespace tyto
