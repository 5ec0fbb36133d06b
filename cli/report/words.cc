#include "cli/report/words.h"

#include <fmt/core.h>

#include <algorithm>

namespace tyto::cli {
namespace {

bool has_q(const RegressionOptions& options) {
  return options.weight_values.size() == 0 && (options.weights == "bh" || options.weights == "gaussian");
}

}  // namespace

std::string shape_in_words(const RegressionOptions& options) {
  if (has_q(options)) return fmt::format("{}, shape q = {:.6g}", options.weights, options.q);
  if (options.weight_values.size() == 0 && options.weights == "oscar")
    return fmt::format("oscar, slope {:.6g}", options.slope);
  return options.weights;
}

std::string rate_in_words(const Model& model) {
  if (!model.noise || !model.noise->settled() || !has_q(model.options)) return "";
  return fmt::format(
      "with alpha from the noise, q = {:.6g} is the false discovery rate aimed at: bh keeps it where columns "
      "are "
      "orthogonal, gaussian about keeps it where they are independent, neither where they are correlated",
      model.options.q);
}

std::string clusters_in_words(const Model& model) {
  const auto several = std::ranges::count_if(model.correlations, [](const auto& c) { return c.has_value(); });
  if (several == 0) return "";
  const auto ties =
      std::ranges::count_if(model.correlations, [](const auto& c) { return c && c->coincidental(); });
  return fmt::format(
      "{} cluster{} of several features, of which {} likely tie by coincidence (mean |r| below {})", several,
      several == 1 ? "" : "s", ties, ClusterCorrelation::kCoincidental);
}

}  // namespace tyto::cli
