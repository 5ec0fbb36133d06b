#pragma once

#include <cstdint>
#include <memory>

#include "tyto/columns/columns.h"

namespace tyto {

// Compressed columns in memory that belongs to somebody else: column j has the entries start[j] ..
// start[j + 1] - 1, whose rows increase.
template <class Scalar, class StorageIndex>
struct SparseView {
  const Scalar* value;
  const StorageIndex* row;
  const StorageIndex* start;
  Index rows, cols;
};

// Scalar: double or float; StorageIndex: 32 or 64 bits. `owner` is kept as long as the columns live; it may
// be null.
template <class Scalar, class StorageIndex>
std::shared_ptr<const Columns> sparse_columns(const SparseView<Scalar, StorageIndex>& view,
                                              std::shared_ptr<const void> owner);

extern template std::shared_ptr<const Columns> sparse_columns(const SparseView<double, std::int32_t>&,
                                                              std::shared_ptr<const void>);
extern template std::shared_ptr<const Columns> sparse_columns(const SparseView<double, std::int64_t>&,
                                                              std::shared_ptr<const void>);
extern template std::shared_ptr<const Columns> sparse_columns(const SparseView<float, std::int32_t>&,
                                                              std::shared_ptr<const void>);
extern template std::shared_ptr<const Columns> sparse_columns(const SparseView<float, std::int64_t>&,
                                                              std::shared_ptr<const void>);

}  // namespace tyto
