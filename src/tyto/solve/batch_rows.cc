#include "tyto/solve/batch_rows.h"

#include <algorithm>
#include <numeric>

namespace tyto {

void BatchRows::attach(const Design& design) {
  whole_ = false;
  place_.assign(static_cast<std::size_t>(design.rows()), -1);
}

void BatchRows::restrict_to(std::span<const Index> survivors) {
  if (whole_) rows_.keep_columns(survivors);
}

void BatchRows::prepare(const Design& design, std::span<const Index> drawn) {
  if (whole_) return;
  chosen_.assign(drawn.begin(), drawn.end());
  std::ranges::sort(chosen_);
  chosen_.erase(std::unique(chosen_.begin(), chosen_.end()), chosen_.end());
  whole_ = static_cast<double>(chosen_.size()) > share_ * static_cast<double>(design.rows());
  if (whole_) {
    chosen_.resize(place_.size());
    std::iota(chosen_.begin(), chosen_.end(), Index{0});
  }
  rows_ = whole_ ? Rows(design) : Rows(design, chosen_);
  for (std::size_t k = 0; k < chosen_.size(); ++k)
    place_[static_cast<std::size_t>(chosen_[k])] = static_cast<Index>(k);
}

void BatchRows::add(std::span<const Index> row, std::span<const double> factor, Vector& out) {
  chosen_.resize(row.size());
  for (std::size_t k = 0; k < row.size(); ++k) chosen_[k] = place(row[k]);
  rows_.add(chosen_, factor, out);
}

}  // namespace tyto
