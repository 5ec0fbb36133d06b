#include "tyto/math/design.h"

namespace tyto {
namespace {

constexpr Index kLeftOut = -1;

template <class Scalar>
Design copy(const DenseColumns<Scalar>& from, const Selection& columns, std::span<const Index> rows,
            const std::vector<Index>&) {
  const std::shared_ptr<Scalar[]> owner(new Scalar[static_cast<std::size_t>(columns.size()) * rows.size()]);
  Scalar* to = owner.get();
  for (Index c = 0; c < columns.size(); ++c) {
    const Scalar* column = from.data + columns[c] * from.rows;
    for (const Index i : rows) *to++ = column[i];
  }
  return Design::borrow(DenseColumns<Scalar>{owner.get(), std::ssize(rows), columns.size()}, owner);
}

template <class Scalar, class StorageIndex>
Design copy(const SparseColumns<Scalar, StorageIndex>& from, const Selection& columns,
            std::span<const Index> rows, const std::vector<Index>& place) {
  struct Entries {
    std::vector<Scalar> value;
    std::vector<StorageIndex> row, start{0};
  };
  const auto owner = std::make_shared<Entries>();
  for (Index c = 0; c < columns.size(); ++c) {
    const Index j = columns[c];
    for (StorageIndex k = from.start[j]; k < from.start[j + 1]; ++k)
      if (const Index to = place[static_cast<std::size_t>(from.row[k])]; to != kLeftOut) {
        owner->row.push_back(static_cast<StorageIndex>(to));
        owner->value.push_back(from.value[k]);
      }
    owner->start.push_back(static_cast<StorageIndex>(owner->row.size()));
  }
  return Design::borrow(
      SparseColumns<Scalar, StorageIndex>{owner->value.data(), owner->row.data(), owner->start.data(),
                                          std::ssize(rows), columns.size()},
      owner);
}

}  // namespace

Design Design::take_rows(std::span<const Index> rows) const {
  std::vector<Index> place(static_cast<std::size_t>(rows_), kLeftOut);  // of each old row among the new
  for (std::size_t k = 0; k < rows.size(); ++k)
    place[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
  return std::visit([&](const auto& x) { return copy(x, columns_->raw, rows, place); }, storage_)
      .with_threads(threads_);
}

}  // namespace tyto
