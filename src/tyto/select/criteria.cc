#include "tyto/select/criteria.h"

#include <array>
#include <cmath>
#include <limits>

#include "tyto/base/error.h"
#include "tyto/select/noise.h"

namespace tyto {
namespace {

constexpr std::array<std::pair<std::string_view, Criterion>, 3> kCriteria{
    {{"aic", Criterion::kAic}, {"bic", Criterion::kBic}, {"cp", Criterion::kCp}}};

Index freedom(const PathStep& step, bool intercept) { return step.clusters + (intercept ? 1 : 0); }

double squared(double x) { return x * x; }

// The residuals of the weakest penalty that leaves some degrees of freedom.
std::optional<double> residual_variance(const Path& path, Index n, bool intercept) {
  for (auto step = path.steps.rbegin(); step != path.steps.rend(); ++step)
    if (const Index left = n - freedom(*step, intercept); left > 0)
      return squared(step->residual_norm) / static_cast<double>(left);
  return {};
}

std::optional<double> value(const Criteria& of, Criterion criterion) {
  if (criterion == Criterion::kCp) return of.cp;
  return criterion == Criterion::kAic ? of.aic : of.bic;
}

}  // namespace

std::string_view name(Criterion criterion) {
  for (const auto& [name, value] : kCriteria)
    if (value == criterion) return name;
  return "";
}

std::vector<std::string> criterion_names() {
  std::vector<std::string> names;
  for (const auto& [name, value] : kCriteria) names.emplace_back(name);
  return names;
}

Criterion parse_criterion(std::string_view text) {
  for (const auto& [name, value] : kCriteria)
    if (name == text) return value;
  throw InvalidArgument("choose: want aic, bic or cp, got '" + std::string(text) + "'");
}

std::vector<Criteria> criteria(const Path& path, const Problem& problem, const CriteriaOptions& options) {
  if (options.sigma) validate_sigma(*options.sigma);
  const Index n = problem.design.rows(), p = problem.design.cols();
  const auto rows = static_cast<double>(n);
  std::optional<double> variance;
  if (options.sigma)
    variance = squared(*options.sigma);
  else if (p < n)
    variance = residual_variance(path, n, options.intercept);
  // A residual at the level of rounding says no more than 0 would.
  using Limits = std::numeric_limits<double>;
  const double least = std::max(squared(Limits::epsilon() * problem.y.norm()), Limits::min());
  std::vector<Criteria> result;
  for (const PathStep& step : path.steps) {
    Criteria one{freedom(step, options.intercept)};
    const double squares = squared(step.residual_norm),
                 fit = rows * std::log(std::max(squares, least) / rows);
    const auto unknowns = static_cast<double>(one.freedom);
    one.aic = fit + 2 * unknowns, one.bic = fit + std::log(rows) * unknowns;
    if (variance && *variance > least / rows) one.cp = squares / *variance - rows + 2 * unknowns;
    result.push_back(one);
  }
  return result;
}

CriterionChoice choose(const std::vector<Criteria>& criteria, Criterion criterion, Index n) {
  if (criteria.empty()) throw InvalidArgument("choose: want at least one strength, got none");
  std::optional<Index> best;
  for (Index k = 0; k < std::ssize(criteria); ++k) {
    const Criteria& one = criteria[static_cast<std::size_t>(k)];
    if (one.freedom >= n) continue;
    if (!best || value(one, criterion) < value(criteria[static_cast<std::size_t>(*best)], criterion))
      best = k;
  }
  const Index step = best.value_or(0);
  const Criteria& chosen = criteria[static_cast<std::size_t>(step)];
  const std::optional<double> least = value(chosen, criterion);
  if (!least)
    throw InvalidArgument(
        "choose: cp needs the noise level: want --sigma where p >= n or nothing is left over");
  return {criterion, step, chosen.freedom, *least};
}

}  // namespace tyto
