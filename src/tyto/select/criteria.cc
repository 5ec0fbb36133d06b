#include "tyto/select/criteria.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/select/noise.h"

namespace tyto {
namespace {

constexpr Names kCriteria({
    std::pair<std::string_view, Criterion>{"aic", Criterion::kAic},
    {"bic", Criterion::kBic},
    {"cp", Criterion::kCp},
});

double freedom(const PathStep& step, const Problem& problem, const Work& work) {
  // Of squared error it is the design that holds the intercept, but where rows were summed.
  const Index by_loss = problem.loss->basis().cols();
  const Index outside =
      problem.loss->is_quadratic() ? std::max(problem.design.basis().cols(), by_loss) : by_loss;
  return static_cast<double>(outside) + pattern_freedom(problem, step.beta, work);
}

double squared(double x) { return x * x; }

// The residuals of the weakest penalty that leaves some degrees of freedom.
std::optional<double> residual_variance(const Path& path, const std::vector<Criteria>& criteria, double n) {
  for (std::size_t k = path.steps.size(); k-- > 0;)
    if (const double left = n - criteria[k].freedom; left > 0)
      return squared(path.steps[k].residual_norm) / left;
  return {};
}

std::optional<double> value(const Criteria& of, Criterion criterion) {
  if (criterion == Criterion::kCp) return of.cp;
  return criterion == Criterion::kAic ? of.aic : of.bic;
}

}  // namespace

std::string_view name(Criterion criterion) { return kCriteria.name(criterion); }

std::vector<std::string> criterion_names() { return kCriteria.all(); }

Criterion parse_criterion(std::string_view text) {
  if (const auto found = kCriteria.find(text)) return *found;
  throw InvalidArgument("choose: want aic, bic or cp, got '" + std::string(text) + "'");
}

double observations(const Problem& problem) {
  return problem.loss->observations(problem.design.total_weight());
}

bool cp_needs_sigma(const Problem& problem) {
  return static_cast<double>(problem.design.cols()) >= problem.design.total_weight();
}

std::vector<Criteria> criteria(const Path& path, const Problem& problem, std::optional<double> sigma,
                               const Work& work) {
  if (sigma) validate_sigma(*sigma);
  const double n = observations(problem);
  // A residual at the level of rounding says no more than 0 would.
  using Limits = std::numeric_limits<double>;
  const double least = std::max(squared(Limits::epsilon() * problem.loss->response().norm()), Limits::min());
  std::vector<Criteria> result;
  for (const PathStep& step : path.steps) {
    Criteria one{freedom(step, problem, work)};
    const double deviance = squared(step.residual_norm);
    const double fit = problem.loss->is_quadratic() ? n * std::log(std::max(deviance, least) / n) : deviance;
    one.aic = fit + 2 * one.freedom;
    one.bic = fit + std::log(n) * one.freedom;
    result.push_back(one);
  }
  std::optional<double> variance;
  if (!problem.loss->is_quadratic()) return result;
  if (sigma)
    variance = squared(*sigma);
  else if (!cp_needs_sigma(problem))
    variance = residual_variance(path, result, n);
  if (!variance || !(*variance > least / n)) return result;
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k].cp = squared(path.steps[k].residual_norm) / *variance - n + 2 * result[k].freedom;
  return result;
}

CriterionChoice choose(const std::vector<Criteria>& criteria, Criterion criterion, double n) {
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
        "choose: cp needs the noise level: the weakest penalty leaves no residual to take it from");
  return {criterion, step, chosen.freedom, *least, n};
}

}  // namespace tyto
