#include "tyto/loss/rows.h"

#include <array>
#include <cmath>

namespace tyto {

RowPoint binomial_row(double y, double eta);
RowPoint poisson_row(double y, double eta);

namespace {

RowPoint gaussian_row(double y, double eta) {
  return {0.5 * (y - eta) * (y - eta), y - eta, 1, std::abs(y) + std::abs(eta)};
}

constexpr std::array<SummedLoss, 3> kLosses{{
    {"gaussian", gaussian_row, 0.5, true},
    {"binomial", binomial_row, 1, false},
    {"poisson", poisson_row, 1, false},
}};

}  // namespace

const SummedLoss* find_summed_loss(std::string_view name) {
  for (const SummedLoss& one : kLosses)
    if (one.name == name) return &one;
  return nullptr;
}

std::vector<std::string> summed_loss_names() {
  std::vector<std::string> names;
  for (const SummedLoss& one : kLosses) names.emplace_back(one.name);
  return names;
}

}  // namespace tyto
