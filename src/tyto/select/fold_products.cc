#include "tyto/select/fold_products.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "tyto/math/linear_algebra.h"

namespace tyto {

// Products of sparse columns are cheap. Where all columns are penalised, nothing but a mean is taken out of
// them, and they are numbered as in the data.
FoldProducts::FoldProducts(const Regression& all_rows) : all_rows_(all_rows.problem.design) {
  const bool all_penalized = all_rows.penalized.size() == all_rows.columns;
  if (all_rows.problem.loss->is_quadratic() && !all_rows_.is_sparse() && all_penalized)
    cache_ = std::make_shared<GramCache>(all_rows_.cols());
}

// Where the path has needed most of the columns, some fold will need the others.
void FoldProducts::complete(const Work& work) {
  if (!cache_) return;
  const Index count = std::ssize(cache_->columns());
  const Index p = all_rows_.cols();
  if (2 * count <= p || count == p) return;
  IndexSet all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), Index{0});
  Matrix none(p, 0);
  cache_->gram(all_rows_, all, none, work);
}

std::shared_ptr<GramCache> FoldProducts::known_to(const Design& fold, const Design& held_out,
                                                  const Vector& weights) const {
  if (!cache_ || cache_->columns().empty()) return nullptr;
  const std::span<const Index> columns = cache_->columns();
  constexpr Index kBlock = 512;
  const Index count = std::ssize(columns), p = fold.cols();
  const bool centred = fold.basis().cols() > 0;
  const Vector mean = centred ? Vector(all_rows_.offsets().row(0)) : Vector::Zero(p),
               shift = centred ? Vector(Vector(fold.offsets().row(0)) - mean) : Vector::Zero(p);
  const Vector scale = all_rows_.scales()(columns), own_scale = fold.scales()(columns);

  Matrix left_out = Matrix::Zero(count, count), rows;
  for (Index begin = 0; begin < held_out.rows(); begin += kBlock) {
    const Index length = std::min(kBlock, held_out.rows() - begin);
    rows.resize(length, count);
    held_out.pack(columns, begin, length, rows.data());
    rows.rowwise() -= mean(columns).transpose();
    rows.array().colwise() *= weights.segment(begin, length).array().sqrt();
    gram(rows, 1, left_out);
  }
  Matrix left = scale.asDiagonal() * cache_->products() * scale.asDiagonal();
  const Vector before = left.diagonal();
  left -= left_out;
  const Vector moved = shift(columns);
  left -= fold.total_weight() * moved * moved.transpose();

  // Little of a column is left after much was subtracted: it is computed from the data.
  std::vector<Index> accurate, known;
  for (Index k = 0; k < count; ++k) {
    if (!(left(k, k) > before[k] / 4)) continue;
    accurate.push_back(k);
    known.push_back(columns[static_cast<std::size_t>(k)]);
  }
  const Vector inverse = own_scale(accurate).cwiseInverse();
  return std::make_shared<GramCache>(p, known,
                                     inverse.asDiagonal() * left(accurate, accurate) * inverse.asDiagonal());
}

}  // namespace tyto
