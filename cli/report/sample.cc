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
    ++group.size, group.positive += member.positive ? 1 : 0;
    if (listed < room) group.listed.push_back(member), ++listed;
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

Vector fitted(const Design& raw, const Regression& regression, const PathStep& step) {
  const DataScale model = regression.on_data_scale(step.beta);
  Vector prediction;
  raw.multiply(model.coefficients, prediction);
  return prediction.array() + model.intercept;
}

IndexSet drawn_rows(const Dataset& data, const Regression& regression, const Path& path) {
  const Index n = regression.problem.design.rows();
  const Index room = std::clamp(kPredictions / std::ssize(path.steps), kLeastRows, kMostRows);
  IndexSet rows = all_indices(n);
  if (n <= room) return rows;
  const Vector miss = (data.response - fitted(data.design, regression, path.steps.back())).cwiseAbs();
  const auto worst = rows.begin() + room / 10, end = rows.begin() + room;
  std::ranges::nth_element(rows, worst, std::greater<>(), [&](Index row) { return miss[row]; });
  std::mt19937_64 random(0);  // the same rows in every report
  std::shuffle(worst, rows.end(), random);
  rows.erase(end, rows.end());
  std::ranges::sort(rows);
  return rows;
}

}  // namespace tyto::cli
