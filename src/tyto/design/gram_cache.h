#pragma once

#include <span>
#include <vector>

#include "tyto/design/design.h"

namespace tyto {

// Inner products of the columns of one design, which are computed when they are first asked for and kept. For
// one thread at a time.
class GramCache {
 public:
  explicit GramCache(Index cols);  // of the design; none is known
  // The products of `columns` are known already.
  GramCache(Index cols, std::vector<Index> columns, Eigen::MatrixXd products);

  // out(i, k) <- x_i'x_k, as Design::gram has it; what is not known is read from the design.
  void gram(const Design& design, std::span<const Index> columns,
            Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>> out, const Work& work = Work());
  std::span<const Index> columns() const {
    return columns_;
  }  // that are known, in the order of their products
  const Eigen::MatrixXd& products() const { return products_; }

 private:
  std::vector<Index> columns_;
  std::vector<Index> place_;  // by column of the design; -1 where it is not known
  Eigen::MatrixXd products_;
};

}  // namespace tyto
