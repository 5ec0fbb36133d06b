#include "tyto/columns/columns.h"

namespace tyto {

std::shared_ptr<const void> Columns::expect(std::span<const Index>) const { return nullptr; }

void Columns::correlate_all(std::span<const Index> columns, const Eigen::MatrixXd& v,
                            Eigen::MatrixXd& out) const {
  for (Index c = 0; c < v.cols(); ++c) correlate(columns, v.col(c).data(), out.col(c).data());
}

std::shared_ptr<const Columns> Columns::copy_columns(std::span<const Index>) const { return nullptr; }

std::shared_ptr<const Columns> Columns::copy_rows(std::span<const Index>, std::span<const Index>) const {
  return nullptr;
}

}  // namespace tyto
