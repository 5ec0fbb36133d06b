#include <algorithm>
#include <array>
#include <cmath>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/loss/loss.h"

namespace tyto {

std::shared_ptr<const Loss> make_binomial(LossData data);
std::shared_ptr<const Loss> make_poisson(LossData data);
std::shared_ptr<const Loss> make_huber(LossData data);
std::shared_ptr<const Loss> make_squared_hinge(LossData data);
std::shared_ptr<const Loss> make_multinomial(LossData data);
std::shared_ptr<const Loss> make_cox(LossData data);

namespace {

std::shared_ptr<const Loss> make_gaussian(LossData data) { return gaussian_loss(std::move(data.response)); }

void identity(std::span<double>) {}
void exponential(std::span<double> eta) { eta[0] = std::exp(eta[0]); }
void sigmoid(std::span<double> eta) {
  const double small = std::exp(-std::abs(eta[0]));
  eta[0] = eta[0] >= 0 ? 1 / (1 + small) : small / (1 + small);
}
void softmax(std::span<double> eta) {
  const double most = *std::ranges::max_element(eta);
  double sum = 0;
  for (double& value : eta) {
    value = std::exp(value - most);
    sum += value;
  }
  for (double& value : eta) value /= sum;
}

using Labels = LossRow::Labels;
constexpr std::array<LossRow, 7> kLosses{{
    {"gaussian", make_gaussian, identity, Labels::kNone, true, "numbers: squared error"},
    {"binomial", make_binomial, sigmoid, Labels::kTwo, true,
     "two classes, or shares from 0 to 1: logistic regression"},
    {"poisson", make_poisson, exponential, Labels::kNone, true, "counts >= 0"},
    {"huber", make_huber, identity, Labels::kNone, true,
     "numbers with outliers: squared error up to --huber-delta"},
    {"squared-hinge", make_squared_hinge, identity, Labels::kTwo, true,
     "two classes: support vector machine"},
    {"multinomial", make_multinomial, softmax, Labels::kMany, true, "several classes: logistic regression"},
    {"cox", make_cox, exponential, Labels::kNone, false,
     "times to an event, some of them censored (--event): proportional hazards, without an intercept"},
}};

}  // namespace

std::span<const LossRow> losses() { return kLosses; }

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const LossRow& row : kLosses) names.emplace_back(row.name);
  return names;
}

const LossRow& find_loss(std::string_view name) {
  for (const LossRow& row : kLosses)
    if (row.name == name) return row;
  throw InvalidArgument(unknown_word("loss: unknown loss", name, loss_names()));
}

}  // namespace tyto
