#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/loss/row_loss.h"

namespace tyto {

// One row of a loss with d(q, mu) <= (q - mu)^2 / f''(mu), or half of that, and for which mu + t f''(mu) is a
// mean for |t| <= 1: then sums over rows are enough for a certificate (MATH.md, section 15).
struct SummedLoss {
  std::string_view name;
  RowPoint (*row)(double y, double eta);
  double divergence;  // what (q - mu)^2 / f'' is times to bound d(q, mu)
  bool any_mean;      // for all t
};
const SummedLoss* find_summed_loss(std::string_view name);  // null where it is another
std::vector<std::string> summed_loss_names();

}  // namespace tyto
