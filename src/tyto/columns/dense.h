#pragma once

#include <memory>

#include "tyto/columns/columns.h"

namespace tyto {

// Column-major memory that belongs to somebody else.
template <class Scalar>
struct DenseView {
  const Scalar* data;
  Index rows, cols;
};

// Scalar: double or float. `owner` is kept as long as the columns live; it may be null.
template <class Scalar>
std::shared_ptr<const Columns> dense_columns(const DenseView<Scalar>& view,
                                             std::shared_ptr<const void> owner);

extern template std::shared_ptr<const Columns> dense_columns(const DenseView<double>&,
                                                             std::shared_ptr<const void>);
extern template std::shared_ptr<const Columns> dense_columns(const DenseView<float>&,
                                                             std::shared_ptr<const void>);

}  // namespace tyto
