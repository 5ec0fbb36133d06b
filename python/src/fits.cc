#include <nanobind/eigen/dense.h>

#include <stdexcept>
#include <utility>

#include "answers.h"
#include "bindings.h"
#include "run.h"
#include "tyto/select/estimate.h"

namespace tyto::python {
namespace {

double relative_gap(const TracePoint& at) { return at.primal > 0 ? at.gap / at.primal : at.gap; }

EstimateOptions together(const RegressionOptions& regression, const FitOptions& options,
                         EstimateOptions others) {
  others.regression = regression;
  others.fit = options;
  return others;
}

// What is done before Python could ask for something else.
On where(const Design& design, const EstimateOptions& options) {
  constexpr Index kSmall = 100'000;
  const bool small = design.stored_entries() <= kSmall && design.cols() <= kSmall;
  const bool plain = options.fit.solver != "spgd" && !options.gamma && !options.noise.estimate;
  return small && plain ? On::kThisThread : On::kOwnThread;
}

// What one fit, a path and a cross-validation have in common.
void add_scales(nb::dict& dict, const Regression& regression) {
  dict["alpha_max"] = regression.alpha_max;
  dict["scale"] = scales(regression);
}

nb::dict fit_one(const Design& design, const Vector& y, const RegressionOptions& regression,
                 const FitOptions& options, const EstimateOptions& wishes, const std::optional<Vector>& start,
                 const nb::object& progress) {
  EstimateOptions all = together(regression, options, wishes);
  if (start) all.start = *start;
  const auto work = [all, data = Dataset{design, y}](Watch& watch) {
    return estimate(data, all, [&](const TracePoint& at) { return watch.report({0, 1, relative_gap(at)}); });
  };
  const Estimate result = run(work, progress, where(design, all));
  nb::dict dict = solution(result.models.front(), result.fit());
  add_scales(dict, result.regression);
  return dict;
}

nb::dict fit_many(const Design& design, const Vector& y, const RegressionOptions& regression,
                  const PathOptions& grid, const FitOptions& options, const EstimateOptions& wishes,
                  const nb::object& progress) {
  EstimateOptions all = together(regression, options, wishes);
  all.cv.path = grid;
  const auto work = [all, data = Dataset{design, y}](Watch& watch) {
    return estimate_path(data, all, [&](const PathProgress& at) {
      return watch.report({at.step, at.steps, relative_gap(at.point)});
    });
  };
  const Estimate result = run(work, progress);
  nb::dict dict = solutions(result.models, result.path);
  if (!result.criteria.empty()) dict["criteria"] = table(result.criteria);
  add_scales(dict, result.regression);
  dict["seconds"] = result.path.seconds, dict["passes"] = result.path.passes;
  return dict;
}

// `score`: None, or what takes the place of the error measure; see `scored`.
nb::dict cross_validation(const Design& design, const Vector& y, const RegressionOptions& regression,
                          const CvOptions& cv_options, const FitOptions& options, const nb::object& score,
                          const nb::object& progress) {
  EstimateOptions all = together(regression, options, {});
  all.cv = cv_options;
  const auto work = [all, score, data = Dataset{design, y}](Watch& watch) {
    CvHooks hooks;
    hooks.progress = [&](const CvProgress& at) { return watch.report({at.done, at.folds, 0}); };
    if (!score.is_none())
      hooks.score = [&](const FoldModels& fold) {
        if (watch.stopped()) throw std::runtime_error("stopped");  // Python may have ended
        const nb::gil_scoped_acquire gil;
        return scored(fold, score);
      };
    return estimate_cv(data, all, hooks);
  };
  const auto [cv, models] = run(work, progress);
  if (!cv.complete()) return {};
  nb::dict dict = solutions(models, cv.chosen().path);
  add_scales(dict, cv.chosen().regression);
  dict["seconds"] = cv.seconds, dict["passes"] = cv.passes;
  dict["curves"] = curves(cv);
  dict["chosen"] = cv.chosen_curve, dict["best"] = cv.best, dict["one_se"] = cv.one_se;
  dict["converged"] = cv.converged(), dict["worst_gap"] = cv.worst_gap();
  return dict;
}

double largest_alpha(const Design& design, const Vector& y, const RegressionOptions& words) {
  return make_regression(design, y, words).alpha_max;
}

}  // namespace

void add_fits(nb::module_& module) {
  module.def("fit", &fit_one, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("options"),
             nb::arg("wishes"), nb::arg("start").none(), nb::arg("progress").none());
  module.def("fit_path", &fit_many, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("grid"),
             nb::arg("options"), nb::arg("wishes"), nb::arg("progress").none());
  module.def("cross_validate", &cross_validation, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::arg("cv"), nb::arg("options"), nb::arg("score").none(), nb::arg("progress").none());
  module.def("random_folds", &random_folds, nb::arg("n"), nb::arg("k"), nb::arg("seed"));
  module.def("choose", &chosen_step, nb::arg("criteria"), nb::arg("criterion"), nb::arg("n"));
  module.def("alpha_max", &largest_alpha, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tyto::python
