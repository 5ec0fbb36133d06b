#include "tyto/select/score.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/nearest.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

constexpr Names kMeasures({
    std::pair<std::string_view, ErrorMeasure>{"auto", ErrorMeasure::kAuto},
    {"mse", ErrorMeasure::kMse},
    {"mae", ErrorMeasure::kMae},
    {"r2", ErrorMeasure::kR2},
    {"deviance", ErrorMeasure::kDeviance},
    {"misclassification", ErrorMeasure::kMisclassification},
    {"brier", ErrorMeasure::kBrier},
    {"auc", ErrorMeasure::kAuc},
    {"c-index", ErrorMeasure::kConcordance},
});

// A probability of 0 or 1 that is wrong has an infinite deviance: for scores alone, none is beyond 1e-15.
constexpr double kFarthestPredictor = 34.5;

bool needs_classes(ErrorMeasure measure) {
  return measure == ErrorMeasure::kMisclassification || measure == ErrorMeasure::kBrier ||
         measure == ErrorMeasure::kAuc;
}

// The number of a row's class, of which two may also be shares.
Index class_of(double y, std::span<const double> eta) {
  if (eta.size() > 1) return static_cast<Index>(y);
  return y > 0.5 ? 1 : 0;
}

double row_error(ErrorMeasure measure, const LossRow& row, const Loss& loss, double y,
                 std::span<double> eta) {
  if (measure == ErrorMeasure::kMisclassification)
    return most_likely(Eigen::Map<const Vector>(eta.data(), std::ssize(eta))) == class_of(y, eta) ? 0 : 1;
  if (measure == ErrorMeasure::kDeviance && row.labels == LossRow::Labels::kMany)
    return 2 * std::min(loss.row_value(y, eta), kFarthestPredictor);
  if (measure == ErrorMeasure::kDeviance) {
    const bool clipped = row.name == "binomial";
    if (clipped) eta[0] = std::clamp(eta[0], -kFarthestPredictor, kFarthestPredictor);
    return 2 * loss.row_value(y, eta);
  }
  row.mean(eta);
  const double miss = y - eta[0];
  return measure == ErrorMeasure::kMae ? std::abs(miss) : miss * miss;
}

double survival_score(ErrorMeasure measure, const HeldOut& rows, const Vector& predictor) {
  if (measure == ErrorMeasure::kConcordance)
    return concordance({rows.response, rows.events, rows.weights}, predictor);
  const double total = rows.weights.sum();
  if (rows.others.size() == 0)
    return partial_deviance({rows.response, rows.events, rows.weights}, predictor) / total;
  const Vector all = rows.weights + rows.others;
  const double with = partial_deviance({rows.response, rows.events, all}, predictor);
  return (with - partial_deviance({rows.response, rows.events, rows.others}, predictor)) / total;
}

// Weights by rank, and sums of those below a rank.
class RankedWeights {
 public:
  explicit RankedWeights(Index ranks) : sums_(Vector::Zero(ranks + 1)) {}
  void add(Index rank, double weight) {
    for (Index k = rank + 1; k < sums_.size(); k += k & -k) sums_[k] += weight;
  }
  double below(Index rank) const {
    double sum = 0;
    for (Index k = rank; k > 0; k -= k & -k) sum += sums_[k];
    return sum;
  }

 private:
  Vector sums_;  // a Fenwick tree
};

// The place of each number among the different ones.
std::vector<Index> ranks(const Vector& numbers) {
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Index> result;
  for (const double number : numbers)
    result.push_back(std::ranges::lower_bound(sorted, number) - sorted.begin());
  return result;
}

}  // namespace

double partial_deviance(const Survival& rows, const Vector& predictor) {
  if (!((rows.events.array() > 0) && (rows.weights.array() > 0)).any()) return 0;
  LossData data{rows.time, rows.weights.cwiseSqrt()};
  data.events = rows.events;
  const Vector fitted = predictor.cwiseProduct(data.roots);
  return 2 * find_loss("cox").make(std::move(data))->at(fitted).value;
}

// From the last time to the first: rows that were there longer are in the tree.
double concordance(const Survival& rows, const Vector& predictor) {
  const std::vector<Index> rank = ranks(predictor);
  std::vector<Index> order(rank.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index i) { return -rows.time[i]; });
  RankedWeights longer(std::ssize(rank));
  double total = 0;
  double pairs = 0;
  double right = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && rows.time[order[end]] == rows.time[order[begin]]) ++end;
    const std::span<const Index> here(order.data() + begin, end - begin);
    const auto add = [&](bool events) {
      for (const Index i : here) {
        if ((rows.events[i] > 0) != events || rows.weights[i] == 0) continue;
        longer.add(rank[static_cast<std::size_t>(i)], rows.weights[i]);
        total += rows.weights[i];
      }
    };
    add(false);
    for (const Index i : here) {
      if (rows.events[i] == 0) continue;
      const Index own = rank[static_cast<std::size_t>(i)];
      const double below = longer.below(own);
      const double equal = longer.below(own + 1) - below;
      pairs += rows.weights[i] * total;
      right += rows.weights[i] * (below + 0.5 * equal);
    }
    add(true);
  }
  return pairs > 0 ? right / pairs : 0.5;
}

std::string_view name(ErrorMeasure measure) { return kMeasures.name(measure); }

std::vector<std::string> error_measure_names() { return kMeasures.all(); }

ErrorMeasure parse_error_measure(std::string_view text) {
  if (const auto found = kMeasures.find(text)) return *found;
  throw InvalidArgument("error: want " + joined(error_measure_names()) + ", got '" + std::string(text) + "'" +
                        did_you_mean(text, error_measure_names()));
}

std::string in_words(ErrorMeasure measure) {
  switch (measure) {
    case ErrorMeasure::kMae:
      return "mean absolute error";
    case ErrorMeasure::kR2:
      return "R2";
    case ErrorMeasure::kDeviance:
      return "deviance";
    case ErrorMeasure::kMisclassification:
      return "misclassification rate";
    case ErrorMeasure::kBrier:
      return "Brier score";
    case ErrorMeasure::kAuc:
      return "area under the ROC curve";
    case ErrorMeasure::kConcordance:
      return "C-index";
    default:
      return "mean squared error";
  }
}

bool larger_is_better(ErrorMeasure measure) {
  return measure == ErrorMeasure::kR2 || measure == ErrorMeasure::kAuc ||
         measure == ErrorMeasure::kConcordance;
}

ErrorMeasure resolved(ErrorMeasure measure, std::string_view loss) {
  const bool squares = loss == "gaussian";
  if (measure == ErrorMeasure::kAuto) return squares ? ErrorMeasure::kMse : ErrorMeasure::kDeviance;
  const bool for_times = measure == ErrorMeasure::kDeviance || measure == ErrorMeasure::kConcordance;
  if (loss == "cox" && !for_times)
    throw InvalidArgument(
        fmt::format("error: want deviance or c-index for the loss cox, got {}", name(measure)));
  if (measure == ErrorMeasure::kConcordance && loss != "cox")
    throw InvalidArgument("error: want a measure for " + std::string(loss) +
                          " data, got c-index, which is for the loss cox");
  const LossRow::Labels labels = find_loss(loss).labels;
  if (needs_classes(measure) && labels == LossRow::Labels::kNone)
    throw InvalidArgument(fmt::format("error: want a measure for {} data, got {}, which is for two classes",
                                      loss, name(measure)));
  if (labels == LossRow::Labels::kMany && measure != ErrorMeasure::kDeviance &&
      measure != ErrorMeasure::kMisclassification)
    throw InvalidArgument(fmt::format("error: want deviance or misclassification with the loss {}, got {}",
                                      loss, name(measure)));
  if (measure == ErrorMeasure::kBrier && loss != "binomial")
    throw InvalidArgument("error: want another measure than brier: it is for probabilities");
  return measure;
}

double score(ErrorMeasure measure, const HeldOut& rows, const Eigen::MatrixXd& predictor) {
  const double total = rows.weights.sum();
  if (total == 0) return 0;
  if (rows.loss.name() == "cox") return survival_score(measure, rows, predictor.col(0));
  if (measure == ErrorMeasure::kAuc) return area_under_curve(rows.response, predictor.col(0), rows.weights);
  const LossRow& row = find_loss(rows.loss.name());
  Vector errors = Vector::Zero(predictor.rows());
  std::vector<double> eta(static_cast<std::size_t>(predictor.cols()));
  for (Index i = 0; i < errors.size(); ++i) {
    if (!(rows.weights[i] > 0)) continue;
    std::ranges::copy(predictor.row(i), eta.begin());
    errors[i] = row_error(measure, row, rows.loss, rows.response[i], eta);
  }
  const double mean = rows.weights.dot(errors) / total;
  return measure == ErrorMeasure::kR2 ? 1 - mean / rows.variance : mean;
}

Index most_likely(const Eigen::Ref<const Vector>& eta) {
  if (eta.size() == 1) return eta[0] > 0 ? 1 : 0;
  Index place = 0;
  eta.maxCoeff(&place);
  return place;
}

double area_under_curve(const Vector& labels, const Vector& predictor, const Vector& weights) {
  std::vector<Index> order(static_cast<std::size_t>(labels.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  std::ranges::sort(order, {}, [&](Index i) { return predictor[i]; });
  double below = 0;  // weight of rows of class 0 with smaller predictions
  double pairs = 0;
  double ones = 0;
  for (std::size_t k = 0; k < order.size();) {
    double zeros_here = 0;
    double ones_here = 0;
    const double value = predictor[order[k]];
    for (; k < order.size() && predictor[order[k]] == value; ++k) {
      const Index i = order[k];
      (labels[i] > 0.5 ? ones_here : zeros_here) += weights[i];
    }
    pairs += ones_here * (below + 0.5 * zeros_here);
    below += zeros_here;
    ones += ones_here;
  }
  return below > 0 && ones > 0 ? pairs / (below * ones) : 0.5;
}

}  // namespace tyto
