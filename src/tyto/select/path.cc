#include "tyto/select/path.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tyto/base/error.h"
#include "tyto/base/names.h"

namespace tyto {
namespace {

constexpr Index kMostSteps = 100'000;  // each is kept

template <class T>
InvalidArgument want(const char* field, std::string_view wish, T got) {
  return InvalidArgument(fmt::format("{}: want {}, got {}", field, wish, got));
}

void validate(const std::vector<double>& alphas) {
  const char* wish = "finite numbers > 0, the largest first";
  if (alphas.empty()) throw want("alphas", wish, "none");
  for (const double alpha : alphas)
    if (!(alpha > 0 && std::isfinite(alpha))) throw want("alphas", wish, alpha);
  const auto rise = std::ranges::adjacent_find(alphas, std::less<>());
  if (rise != alphas.end()) throw want("alphas", wish, fmt::format("{} after {}", *(rise + 1), *rise));
}

Vector make_residual(const Problem& problem, const Vector& beta, const Work& work) {
  return loss_at(problem, make_iterate(problem, beta, work)).residual;
}

PathStep summarize(double alpha, Fit fit, const Problem& problem, double null_norm) {
  PathStep step{alpha};
  const Index p = fit.solution.beta.size();
  step.beta = sparse(fit.solution.beta, fit.certificate.support, Selection::first(p), p);
  step.coordinates = fit.solution.coordinates;
  step.residual_norm = deviance_root(problem, fit.certificate);
  step.explained = explained(step.residual_norm, null_norm);
  step.clusters = fit.clusters;
  fit.solution = {};
  fit.certificate.support = {};
  step.fit = std::move(fit);
  return step;
}

// Why the path ends with the last of its steps; kNone: it does not, or it is complete.
PathStop why_stop(const Path& path, const PathOptions& rules, double max_seconds, bool interrupted) {
  const Status status = path.steps.back().fit.status;
  if (status == Status::kInterrupted) return PathStop::kInterrupted;
  if (status == Status::kTimeLimit) return PathStop::kMaxSeconds;
  if (path.steps.size() == path.alphas.size()) return PathStop::kNone;
  if (interrupted) return PathStop::kInterrupted;
  if (path.seconds >= max_seconds) return PathStop::kMaxSeconds;
  return rule_fired(rules, path.steps);
}

}  // namespace

PathStop rule_fired(const PathOptions& rules, const std::vector<PathStep>& steps) {
  const PathStep& now = steps.back();
  if (rules.max_explained && now.explained >= *rules.max_explained) return PathStop::kMaxExplained;
  if (rules.max_nonzeros && now.nonzeros() >= *rules.max_nonzeros) return PathStop::kMaxNonzeros;
  if (rules.max_clusters && now.clusters >= *rules.max_clusters) return PathStop::kMaxClusters;
  if (!rules.min_change || steps.size() < 2) return PathStop::kNone;
  const PathStep& before = steps[steps.size() - 2];
  const bool little = before.nonzeros() > 0 && now.explained - before.explained < *rules.min_change;
  return little ? PathStop::kMinChange : PathStop::kNone;
}

double deviance_root(const Problem& problem, const Certificate& c) {
  if (problem.loss->is_quadratic() && problem.ridge == 0) return c.residual_norm;
  return std::sqrt(2 * c.loss);
}

double null_deviance_root(const Problem& problem) {
  if (problem.loss->is_quadratic()) return problem.loss->response().norm();
  return std::sqrt(2 * problem.loss->at(Vector::Zero(problem.design.rows())).value);
}

double explained(double residual_norm, double null_norm) {
  const double left = residual_norm / null_norm;
  return null_norm > 0 && std::isfinite(left) ? 1 - left * left : 0;
}

Path fit_path(const Problem& unit, const std::vector<double>& alphas, const PathOptions& rules,
              const FitOptions& options, const PathObserver& observer) {
  validate(rules);
  validate(alphas);
  validate(options);
  Path path{alphas, alphas.front(), alphas.back() / alphas.front(), {}};
  PathSolver solver(unit, options);
  path.steps.reserve(alphas.size());
  std::vector<SortedL1> penalties;
  penalties.reserve(alphas.size());
  for (const double alpha : alphas) penalties.push_back(unit.penalty.scaled(alpha));
  const double null_norm = null_deviance_root(unit);
  bool interrupted = false;
  double told = 0;  // seconds: strengths that come together share their time, of which some was told before
  const auto watch = [&](const TracePoint& at) {
    const Index step = std::ssize(path.steps);
    told = std::max(told, path.seconds + at.seconds);
    const PathProgress progress{step, std::ssize(alphas), alphas[static_cast<std::size_t>(step)], told, at};
    interrupted = observer && !observer(progress);
    return !interrupted;
  };
  const auto ended = [&] { return path.stopped_by != PathStop::kNone || path.steps.size() == alphas.size(); };
  while (!ended()) {
    const auto ahead = std::span<const SortedL1>(penalties).subspan(path.steps.size());
    auto [fits, by_lookahead] =
        solver.fit_next(ahead, std::max(0.0, options.max_seconds - path.seconds), watch);
    for (auto now = fits.begin(); now != fits.end() && !ended(); ++now) {
      if (by_lookahead) watch(now->trace.back());
      path.passes += now->passes;
      path.seconds += now->seconds;
      path.cpu_seconds += now->cpu_seconds;
      path.steps.push_back(summarize(alphas[path.steps.size()], std::move(*now), unit, null_norm));
      path.stopped_by = why_stop(path, rules, options.max_seconds, interrupted);
    }
  }
  return path;
}

Path fit_path(const Regression& regression, const PathOptions& rules, const FitOptions& options,
              const PathObserver& observer) {
  const Problem& problem = regression.problem;
  const Vector& roots = problem.design.roots();  // rows of weight 0 are not there
  const Index p = problem.design.cols();
  Index n = problem.design.rows() / problem.design.classes();
  if (roots.size() > 0) n = (roots.array() > 0).count();
  if (regression.origin) n = regression.origin->rows;
  const auto alphas = alpha_grid(regression.alpha_max, n, p, rules);
  Problem unit = problem;
  unit.penalty = regression.shape;
  Path path = fit_path(unit, alphas, rules, options, observer);
  if (rules.alphas.empty()) {
    path.alpha_max = regression.alpha_max;
    path.ratio = resolved_ratio(rules, n, p);
  }
  return path;
}

double resolved_ratio(const PathOptions& options, Index n, Index p) {
  return options.ratio > 0 ? options.ratio : p >= n ? 0.01 : 0.0001;
}

std::vector<double> alpha_grid(double alpha_max, Index n, Index p, const PathOptions& options) {
  validate(options);
  if (!(alpha_max >= 0 && std::isfinite(alpha_max)))
    throw want("alpha_max", "a finite number >= 0", alpha_max);
  if (!options.alphas.empty()) return options.alphas;
  if (alpha_max == 0) return {1};
  const double ratio = resolved_ratio(options, n, p);
  const auto last = static_cast<double>(std::max<Index>(1, options.steps - 1));
  std::vector<double> alphas;
  for (Index k = 0; k < options.steps; ++k)
    alphas.push_back(alpha_max * std::pow(ratio, static_cast<double>(k) / last));
  if (!(alphas.back() > 1e-300)) throw want("ratio", "a last strength above 1e-300", alphas.back());
  return alphas;
}

bool Path::converged() const {
  return stopped_by != PathStop::kMaxSeconds && stopped_by != PathStop::kInterrupted &&
         std::ranges::all_of(steps, [](const PathStep& s) { return s.fit.status == Status::kConverged; });
}

Fit PathStep::expanded() const {
  Fit whole = fit;
  whole.solution.beta = beta;
  whole.solution.coordinates = coordinates;
  whole.certificate.support.assign(beta.innerIndexPtr(), beta.innerIndexPtr() + beta.nonZeros());
  return whole;
}

SparseBeta PathStep::predicting() const {
  return relaxation ? mixed(beta, relaxation->least_squares.beta, relaxation->gamma) : beta;
}

void relax(const Regression& regression, double gamma, Path& path, const Work& work) {
  const Problem& problem = regression.problem;
  validate_gamma(gamma, problem.penalty.nonnegative());
  for (PathStep& step : path.steps) {
    step.relaxation = {gamma, relax(problem, step.beta, work)};
    step.residual_norm = make_residual(problem, step.predicting(), work).norm();
    step.explained = explained(step.residual_norm, null_deviance_root(problem));
  }
}

void validate(const PathOptions& options) {
  const auto in_unit = [](const std::optional<double>& x) { return !x || (*x > 0 && *x <= 1); };
  if (options.steps < 1) throw want("steps", "a number >= 1", options.steps);
  if (options.steps > kMostSteps)
    throw want("steps", fmt::format("at most {} strengths", kMostSteps), options.steps);
  if (!(options.ratio >= 0 && options.ratio < 1))
    throw want("ratio", "a number in (0, 1), or 0 for automatic", options.ratio);
  if (!in_unit(options.max_explained))
    throw want("max-explained", "a number in (0, 1]", *options.max_explained);
  if (!in_unit(options.min_change)) throw want("min-change", "a number in (0, 1]", *options.min_change);
  if (options.max_nonzeros.value_or(1) < 1)
    throw want("max-nonzeros", "a number >= 1", *options.max_nonzeros);
  if (options.max_clusters.value_or(1) < 1)
    throw want("max-clusters", "a number >= 1", *options.max_clusters);
}

std::string_view name(PathStop stop) {
  static constexpr Names kStops({
      std::pair<std::string_view, PathStop>{"none", PathStop::kNone},
      {"max_explained", PathStop::kMaxExplained},
      {"min_change", PathStop::kMinChange},
      {"max_nonzeros", PathStop::kMaxNonzeros},
      {"max_clusters", PathStop::kMaxClusters},
      {"max_seconds", PathStop::kMaxSeconds},
      {"interrupt", PathStop::kInterrupted},
  });
  return kStops.name(stop);
}

}  // namespace tyto
