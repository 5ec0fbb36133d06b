#include "cli/report/quality.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/report/sample.h"
#include "cli/report/survival.h"
#include "tyto/select/score.h"

namespace tyto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 20'000, kLeastPoints = 60;  // of ROC curves, in all strengths; in each
constexpr int kThresholds = 101;
constexpr Index kMostBins = 10, kRowsInBin = 10;
constexpr double kLargestCount = 200, kMostTerms = 3e8;  // of a rootogram

// Rows that count, the largest prediction first.
struct Ranked {
  Vector predicted, response, weights;
};

Ranked ranked(const Vector& predicted, const Vector& response, const Vector& weights) {
  IndexSet order;
  for (Index i = 0; i < predicted.size(); ++i)
    if (weights[i] > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::greater<>(), [&](Index i) { return predicted[i]; });
  return {predicted(order), response(order), weights(order)};
}

// How much of each class is predicted above a threshold.
struct Counts {
  double zeros = 0, ones = 0;

  void add(const Ranked& rows, Index i) { (rows.response[i] > 0.5 ? ones : zeros) += rows.weights[i]; }
};

// From (0, 0) to (1, 1): the share of either class that is above each threshold; of many, some.
Json roc_curve(const Ranked& rows, std::size_t most) {
  std::vector<Counts> corners(1);
  Counts so_far;
  for (Index i = 0; i < rows.predicted.size(); ++i) {
    so_far.add(rows, i);
    if (i + 1 == rows.predicted.size() || rows.predicted[i + 1] != rows.predicted[i])
      corners.push_back(so_far);
  }
  const std::size_t stride = 1 + corners.size() / most;
  Json json = Json::array();
  const auto share = [](double part, double all) { return all > 0 ? rounded(part / all) : 0.0; };
  for (std::size_t k = 0; k < corners.size(); ++k)
    if (k % stride == 0 || k + 1 == corners.size())
      json.push_back({share(corners[k].zeros, so_far.zeros), share(corners[k].ones, so_far.ones)});
  return json;
}

// Evenly spaced, with the usual one in the middle: probabilities from 0 to 1, or margins around 0.
std::vector<double> thresholds(bool probabilities) {
  std::vector<double> all;
  for (int k = 0; k < kThresholds; ++k)
    all.push_back(probabilities ? k / 100.0 : (k - kThresholds / 2) * 3 / 100.0);
  return all;
}

// Both classes above each threshold.
void add_tables(const Ranked& rows, const std::vector<double>& all, Json& json) {
  std::vector<Counts> above(all.size());
  Counts so_far;
  Index next = 0;
  for (std::size_t k = all.size(); k-- > 0;) {
    for (; next < rows.predicted.size() && rows.predicted[next] > all[k]; ++next) so_far.add(rows, next);
    above[k] = so_far;
  }
  json["zeros_above"] = Json::array();
  json["ones_above"] = Json::array();
  for (const Counts& counts : above) {
    json["zeros_above"].push_back(rounded(counts.zeros));
    json["ones_above"].push_back(rounded(counts.ones));
  }
}

// [mean prediction, mean response, weight] of rows with like predictions.
Json calibration(const Ranked& rows) {
  const Index n = rows.predicted.size();
  const Index bins = std::clamp(n / kRowsInBin, Index{2}, kMostBins);
  const double total = rows.weights.sum();
  Json json = Json::array();
  double seen = 0;
  for (Index begin = 0, bin = 1; begin < n; ++bin) {
    Index end = begin;
    for (; end < n && (end == begin || seen < total * static_cast<double>(bin) / static_cast<double>(bins));
         ++end)
      seen += rows.weights[end];
    const auto part = [&](const Vector& v) { return v.segment(begin, end - begin); };
    const double weight = part(rows.weights).sum();
    json.push_back({rounded(part(rows.weights).dot(part(rows.predicted)) / weight),
                    rounded(part(rows.weights).dot(part(rows.response)) / weight), rounded(weight)});
    begin = end;
  }
  std::ranges::reverse(json);
  return json;
}

// Counts 0 to the largest that was observed: how often each was, and how often models expect it.
class Rootogram {
 public:
  Rootogram(const Vector& response, const Vector& weights, std::size_t strengths) : weights_(weights) {
    if (response.size() == 0 || response.maxCoeff() > kLargestCount) return;
    if ((response.array() != response.array().round()).any()) return;
    observed_.resize(static_cast<std::size_t>(response.maxCoeff()) + 1);
    const double terms =
        static_cast<double>(observed_.size() * strengths) * static_cast<double>(response.size());
    stride_ = 1 + static_cast<Index>(terms / kMostTerms);
    for (Index i = 0; i < response.size(); i += stride_)
      observed_[static_cast<std::size_t>(response[i])] += weights[i];
  }
  bool empty() const { return observed_.empty(); }
  Json observed() const { return rounded_all(observed_); }

  Json expected(const Vector& means) const {
    std::vector<double> sum(observed_.size());
    for (Index i = 0; i < means.size(); i += stride_) {
      double probability = weights_[i] * std::exp(-means[i]);
      for (std::size_t count = 0; count < sum.size(); ++count) {
        sum[count] += probability;
        probability *= means[i] / static_cast<double>(count + 1);
      }
    }
    return rounded_all(sum);
  }

 private:
  static Json rounded_all(const std::vector<double>& numbers) {
    Json json = Json::array();
    for (const double number : numbers) json.push_back(rounded(number));
    return json;
  }

  const Vector& weights_;
  std::vector<double> observed_;
  Index stride_ = 1;  // of very many rows, every so manieth
};

Json words_of_classes(const Model& model) {
  if (!model.labels.empty()) return model.labels;
  Json words = Json::array();
  for (const double label : model.classes) words.push_back(fmt::format("class {}", label));
  return words;
}

// Of several classes: how many rows of each (a row of the table) are taken for each.
Json confusion(const Report& report, const PathStep& step, const Vector& weights) {
  const Eigen::MatrixXd means = fitted(report.data, report.regression, step);
  const Vector own = encoded(report.data.response, report.regression.classes);
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(means.cols(), means.cols());
  for (Index i = 0; i < means.rows(); ++i)
    counts(static_cast<Index>(own[i]), most_likely(means.row(i).transpose())) += weights[i];
  Json table = Json::array();
  for (Index c = 0; c < counts.rows(); ++c) {
    Json line = Json::array();
    for (const double count : counts.row(c)) line.push_back(rounded(count));
    table.push_back(std::move(line));
  }
  return table;
}

Json several_classes(const Report& report) {
  const Vector& given = report.data.row_weights;
  const Vector weights = given.size() > 0 ? given : Vector(Vector::Ones(report.data.design.rows()));
  Json json{{"classes", words_of_classes(report.models.front())}, {"steps", Json::array()}};
  for (const PathStep& step : report.path.steps)
    json["steps"].push_back({{"confusion", confusion(report, step, weights)}});
  return json;
}

}  // namespace

double rounded(double value) { return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr); }

Json quality(const Report& report) {
  const Model& model = report.models.front();
  const std::string& loss = model.options.loss;
  if (loss == "cox") return survival(report);
  const bool classes = !model.classes.empty();
  if (model.has_several_classes()) return several_classes(report);
  const bool probabilities = loss == "binomial";
  if (!classes && !probabilities && loss != "poisson") return Json::object();
  const Vector& response = report.regression.problem.loss->response();
  const Vector& given = report.data.row_weights;
  const Vector weights = given.size() > 0 ? given : Vector(Vector::Ones(response.size()));
  const std::vector<PathStep>& steps = report.path.steps;
  Json json = Json::object();
  const std::vector<double> levels = thresholds(probabilities);
  if (classes) {
    json["classes"] = words_of_classes(model);
    json["thresholds"] = levels;
    json["zeros"] = rounded((1 - response.array()).matrix().dot(weights));
    json["ones"] = rounded(response.dot(weights));
  }
  const Rootogram rootogram(loss == "poisson" ? response : Vector(), weights, steps.size());
  if (!rootogram.empty()) json["counts"] = rootogram.observed();
  const std::size_t most = std::max(kLeastPoints, kCurvePoints / steps.size());
  json["steps"] = Json::array();
  for (const PathStep& step : steps) {
    const Vector means = fitted(report.data, report.regression, step).col(0);
    Json one = Json::object();
    if (!rootogram.empty()) one["expected"] = rootogram.expected(means);
    const Ranked rows = ranked(means, response, weights);
    if (probabilities) one["calibration"] = calibration(rows);
    if (classes) {
      one["auc"] = rounded(area_under_curve(rows.response, rows.predicted, rows.weights));
      one["roc"] = roc_curve(rows, most);
      add_tables(rows, levels, one);
    }
    json["steps"].push_back(std::move(one));
  }
  return json;
}

}  // namespace tyto::cli
