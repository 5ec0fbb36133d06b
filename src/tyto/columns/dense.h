#pragma once

#include <memory>
#include <utility>

#include "tyto/columns/stored_type.h"

namespace tyto {

// Column-major memory that belongs to somebody else, one column right after the other. Scalar: a type of
// kStoredAs.
template <class Scalar>
struct DenseView {
  const Scalar* data;
  Index rows, cols;
};

// `owner` is kept as long as the columns live; it may be null.
template <class Scalar>
std::shared_ptr<const Columns> dense_columns(const DenseView<Scalar>& view,
                                             std::shared_ptr<const void> owner) {
  const auto* data = reinterpret_cast<const std::byte*>(view.data);
  const Index stride = column_bytes(kStoredAs<Scalar>, view.rows);
  return stored_columns({kStoredAs<Scalar>, data, view.rows, view.cols, stride}, std::move(owner));
}

}  // namespace tyto
