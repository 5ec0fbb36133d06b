#include "answers.h"
#include "convert.h"
#include "look.h"
#include "tyto/base/error.h"

namespace tyto::r {
namespace {

double relative_gap(const TracePoint& at) { return at.primal > 0 ? at.gap / at.primal : at.gap; }

// What is done before anybody could press Ctrl-C.
On where(const Design& design, const EstimateOptions& options) {
  constexpr Index kSmall = 100'000;
  const bool small = design.stored_entries() <= kSmall && design.cols() <= kSmall;
  const bool plain = options.fit.solver != "spgd" && !options.gamma && !options.noise.estimate;
  return small && plain ? On::kThisThread : On::kOwnThread;
}

cpp11::list fit_one(Dataset data, const EstimateOptions& options) {
  const On place = where(data.design, options);
  const auto work = [options, data = std::move(data)](Watch& watch) {
    Estimate found = estimate(data, options, [&](const TracePoint& at) {
      return watch.report({0, 1, relative_gap(at)});
    });
    found.criteria =
        criteria(found.path, found.regression.problem, options.noise.sigma, Work(options.fit.threads));
    return found;
  };
  return estimate_list(run(work, place));
}

cpp11::list fit_many(Dataset data, const EstimateOptions& options) {
  const auto work = [options, data = std::move(data)](Watch& watch) {
    return estimate_path(data, options, [&](const PathProgress& at) {
      return watch.report({at.step, at.steps, relative_gap(at.point)});
    });
  };
  return estimate_list(run(work, On::kOwnThread));
}

cpp11::list cross_validation(Dataset data, const EstimateOptions& options) {
  const auto work = [options, data = std::move(data)](Watch& watch) {
    CvHooks hooks;
    hooks.progress = [&](const CvProgress& at) { return watch.report({at.done, at.folds, 0}); };
    return estimate_cv(data, options, hooks);
  };
  const CvEstimate found = run(work, On::kOwnThread);
  if (!found.cv.complete())
    throw InvalidArgument("max_seconds: the time was over before all folds were fitted; want more");
  return cv_list(found);
}

}  // namespace

SEXP entry_estimate(SEXP task_name, SEXP x, SEXP y, SEXP given) {
  const Task task = task_named(word(task_name));
  const cpp11::list list(given);
  const EstimateOptions options = read_options(list, task);
  Dataset data = dataset(x, y, list);
  if (task == kFitTask) return fit_one(std::move(data), options);
  if (task == kPathTask) return fit_many(std::move(data), options);
  return cross_validation(std::move(data), options);
}

SEXP entry_alpha_max(SEXP x, SEXP y, SEXP given) {
  const cpp11::list list(given);
  const EstimateOptions options = read_options(list, kPathTask);
  const Dataset data = dataset(x, y, list);
  return cpp11::as_sexp(make_regression(data.design, data.response, options.regression).alpha_max);
}

}  // namespace tyto::r
