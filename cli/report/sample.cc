#include "cli/report/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace tyto::cli {
namespace {

constexpr Index kListedFeatures = 100'000, kLeastListed = 500;  // in all strengths; in each
constexpr std::size_t kDrawnLines = 200;
constexpr Index kPredictions = 50'000, kLeastRows = 300, kMostRows = 3000;  // in all strengths; in each

// Of each column, over the path.
Vector largest_magnitudes(const Path& path) {
  Vector largest = Vector::Zero(path.steps.front().beta.size());
  for (const PathStep& step : path.steps)
    for (SparseBeta::InnerIterator at(step.beta); at; ++at)
      largest[at.index()] = std::max(largest[at.index()], std::abs(at.value()));
  return largest;
}

IndexSet all_indices(Index count) {
  IndexSet all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

std::vector<Group> listed_groups(const SparseBeta& beta, std::size_t strengths) {
  const Index room = std::max(kLeastListed, kListedFeatures / static_cast<Index>(strengths));
  std::vector<std::pair<double, Member>> entries;
  for (SparseBeta::InnerIterator at(beta); at; ++at)
    if (at.value() != 0) entries.push_back({std::abs(at.value()), {at.index(), at.value() > 0}});
  std::ranges::stable_sort(entries, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<Group> groups;
  Index listed = 0;
  for (const auto& [magnitude, member] : entries) {
    const bool same = !groups.empty() && groups.back().magnitude == magnitude;
    if (!same && listed >= room) break;
    if (!same) groups.push_back({magnitude});
    Group& group = groups.back();
    ++group.size;
    group.positive += member.positive ? 1 : 0;
    if (listed == room) continue;
    group.listed.push_back(member);
    ++listed;
  }
  return groups;
}

IndexSet drawn_columns(const Path& path) {
  const Vector largest = largest_magnitudes(path);
  std::vector<std::pair<double, Index>> ranked;  // ties by column
  for (Index j = 0; j < largest.size(); ++j)
    if (largest[j] > 0) ranked.emplace_back(-largest[j], j);
  const std::size_t count = std::min(kDrawnLines, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(count));
  IndexSet columns;
  for (std::size_t k = 0; k < count; ++k) columns.push_back(ranked[k].second);
  return columns;
}

Index entered(const Path& path) { return (largest_magnitudes(path).array() > 0).count(); }

IndexSet mentioned(const std::vector<std::vector<Group>>& listed, const IndexSet& drawn) {
  IndexSet columns = drawn;
  for (const auto& groups : listed)
    for (const Group& group : groups)
      for (const Member& member : group.listed) columns.push_back(member.column);
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

Eigen::MatrixXd fitted(const Dataset& data, const Regression& regression, const PathStep& step) {
  const Index classes = regression.predictors;
  const DataScale model = regression.on_data_scale(step.beta, step.coordinates);
  Eigen::MatrixXd prediction(data.design.rows(), classes);
  for (Index c = 0; c < classes; ++c) {
    const Vector own = Vector(model.coefficients)(Eigen::seqN(c, regression.columns, classes));
    Vector one;
    data.design.multiply(own, one);
    one.array() += model.intercepts[c];
    if (data.offset.size() > 0) one += data.offset;
    prediction.col(c) = one;
  }
  // Of times to an event the predictor itself is shown: it has no mean, and its exponential no bounds.
  if (regression.problem.loss->name() == "cox") return prediction;
  const auto mean = find_loss(regression.problem.loss->name()).mean;
  std::vector<double> row(static_cast<std::size_t>(classes));
  for (Index i = 0; i < prediction.rows(); ++i) {
    std::ranges::copy(prediction.row(i), row.begin());
    mean(row);
    std::ranges::copy(row, prediction.row(i).begin());
  }
  return prediction;
}

Vector observed(const Dataset& data, const Regression& regression) {
  const Loss& loss = *regression.problem.loss;
  if (regression.predictors > 1) return Vector::Ones(data.response.size());
  return loss.is_quadratic() ? data.response : loss.response();
}

Vector predicted(const Dataset& data, const Regression& regression, const PathStep& step) {
  const Eigen::MatrixXd means = fitted(data, regression, step);
  if (regression.predictors == 1) return means.col(0);
  const Vector own = encoded(data.response, regression.classes);
  return Vector::NullaryExpr(means.rows(), [&](Index i) { return means(i, static_cast<Index>(own[i])); });
}

IndexSet drawn_rows(const Dataset& data, const Regression& regression, const Path& path) {
  const Index n = data.design.rows();
  const Index room = std::clamp(kPredictions / std::ssize(path.steps), kLeastRows, kMostRows);
  IndexSet rows = all_indices(n);
  if (n <= room) return rows;
  const Vector miss =
      (observed(data, regression) - predicted(data, regression, path.steps.back())).cwiseAbs();
  const auto worst = rows.begin() + room / 10, end = rows.begin() + room;
  std::ranges::nth_element(rows, worst, std::greater<>(), [&](Index row) { return miss[row]; });
  std::mt19937_64 random(0);  // the same rows in every report
  std::shuffle(worst, rows.end(), random);
  rows.erase(end, rows.end());
  std::ranges::sort(rows);
  return rows;
}

}  // namespace tyto::cli
