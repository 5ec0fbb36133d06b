// Parts of a design in memory of their own.
#include "tyto/math/design.h"

#include "tyto/base/error.h"

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
struct Entries {  // of sparse columns, one after the other
  std::vector<Scalar> value;
  std::vector<StorageIndex> row, start{0};

  SparseColumns<Scalar, StorageIndex> columns(Index rows) const {
    return {value.data(), row.data(), start.data(), rows, std::ssize(start) - 1};
  }
};

template <class Scalar, class StorageIndex>
Design copy(const SparseColumns<Scalar, StorageIndex>& from, const Selection& columns,
            std::span<const Index> rows, const std::vector<Index>& place) {
  const auto owner = std::make_shared<Entries<Scalar, StorageIndex>>();
  for (Index c = 0; c < columns.size(); ++c) {
    const Index j = columns[c];
    for (StorageIndex k = from.start[j]; k < from.start[j + 1]; ++k)
      if (const Index to = place[static_cast<std::size_t>(from.row[k])]; to != kLeftOut) {
        owner->row.push_back(static_cast<StorageIndex>(to));
        owner->value.push_back(from.value[k]);
      }
    owner->start.push_back(static_cast<StorageIndex>(owner->row.size()));
  }
  return Design::borrow(owner->columns(std::ssize(rows)), owner);
}

template <class Scalar, class StorageIndex>
std::shared_ptr<const Entries<Scalar, StorageIndex>> gathered(const SparseColumns<Scalar, StorageIndex>& from,
                                                              const Selection& columns) {
  const auto to = std::make_shared<Entries<Scalar, StorageIndex>>();
  to->start.reserve(static_cast<std::size_t>(columns.size() + 1));
  for (Index c = 0; c < columns.size(); ++c)
    to->start.push_back(to->start.back() + (from.start[columns[c] + 1] - from.start[columns[c]]));
  to->value.resize(static_cast<std::size_t>(to->start.back()));
  to->row.resize(to->value.size());
  std::size_t next = 0;
  for (Index c = 0; c < columns.size(); ++c)
    for (StorageIndex k = from.start[columns[c]]; k < from.start[columns[c] + 1]; ++k, ++next)
      to->value[next] = from.value[k], to->row[next] = from.row[k];
  return to;
}

}  // namespace

Design Design::take_rows(std::span<const Index> rows) const {
  std::vector<Index> place(static_cast<std::size_t>(rows_), kLeftOut);  // of each old row among the new
  for (std::size_t k = 0; k < rows.size(); ++k)
    place[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
  return std::visit([&](const auto& x) { return copy(x, columns_->raw, rows, place); }, storage_)
      .with_threads(threads_);
}

Design Design::gather(std::span<const Index> columns) const {
  if (!is_sparse()) throw InvalidArgument("gather: want a sparse design");
  count_read(columns);
  Design result = select(columns);
  Columns own = *result.columns_;
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.start; }) {
          const auto owner = gathered(x, own.raw);
          result.storage_ = owner->columns(x.rows), result.owner_ = owner;
          own.raw = Selection::first(result.cols());
        }
      },
      storage_);
  result.columns_ = std::make_shared<const Columns>(std::move(own));
  return result;
}

}  // namespace tyto
