#include "cli/report/survival.h"

#include <algorithm>

#include "cli/report/quality.h"
#include "cli/report/sample.h"
#include "tyto/select/score.h"

namespace tyto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 20'000, kLeastPoints = 60;  // in all strengths; of each curve
constexpr std::size_t kGroups = 3;

// Thirds of the weight of the rows, by their predictor; rows with the same one stay together, so that a group
// may be empty.
std::vector<IndexSet> risk_groups(const Vector& predictor, const Vector& weights) {
  IndexSet order;
  for (Index i = 0; i < predictor.size(); ++i)
    if (weights[i] > 0) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](Index i) { return predictor[i]; });
  std::vector<IndexSet> groups(kGroups);
  const double third = weights.sum() / static_cast<double>(kGroups);
  double seen = 0;
  std::size_t group = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool new_value = k == 0 || predictor[order[k]] != predictor[order[k - 1]];
    if (new_value) group = std::min(kGroups - 1, static_cast<std::size_t>(seen / third * (1 + 1e-12)));
    groups[group].push_back(order[k]);
    seen += weights[order[k]];
  }
  return groups;
}

// [time, share that is without an event after it], from time 0 on; of many points some.
Json kaplan_meier(const Survival& rows, IndexSet members, std::size_t most) {
  std::ranges::sort(members, {}, [&](Index i) { return rows.time[i]; });
  double there = 0;
  for (const Index i : members) there += rows.weights[i];
  std::vector<std::pair<double, double>> points{{std::min(0.0, rows.time[members.front()]), 1.0}};
  double share = 1;
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    double events = 0;
    double all = 0;
    for (; end < members.size() && rows.time[members[end]] == rows.time[members[begin]]; ++end) {
      events += rows.events[members[end]] * rows.weights[members[end]];
      all += rows.weights[members[end]];
    }
    share *= std::max(0.0, 1 - events / there);
    there -= all;
    if (events > 0 || end == members.size()) points.emplace_back(rows.time[members[begin]], share);
  }
  const std::size_t stride = 1 + points.size() / most;
  Json json = Json::array();
  for (std::size_t k = 0; k < points.size(); ++k)
    if (k % stride == 0 || k + 1 == points.size())
      json.push_back({rounded(points[k].first), rounded(points[k].second)});
  return json;
}

}  // namespace

Json survival(const Report& report) {
  const Vector& time = report.data.response;
  const Vector& given = report.data.row_weights;
  const Vector weights = given.size() > 0 ? given : Vector(Vector::Ones(time.size()));
  const Vector& events = report.data.events;
  const Survival rows{time, events, weights};
  const std::vector<PathStep>& steps = report.path.steps;
  const std::size_t most = std::max(kLeastPoints, kCurvePoints / (kGroups * steps.size()));
  Json json{
      {"events", rounded(events.dot(weights))}, {"rows", rounded(weights.sum())}, {"steps", Json::array()}};
  for (const PathStep& step : steps) {
    const Vector predictor = fitted(report.data, report.regression, step);
    Json one{{"c_index", rounded(concordance(rows, predictor))}, {"risk_groups", Json::array()}};
    for (const IndexSet& group : risk_groups(predictor, weights)) {
      const Vector counted = weights(group);
      one["risk_groups"].push_back(
          {{"rows", rounded(counted.sum())},
           {"events", rounded(counted.dot(Vector(events(group))))},
           {"curve", group.empty() ? Json::array() : kaplan_meier(rows, group, most)}});
    }
    json["steps"].push_back(std::move(one));
  }
  return json;
}

}  // namespace tyto::cli
