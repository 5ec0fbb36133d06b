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

nb::dict fit_one(const Design& design, const Vector& y, const RegressionOptions& regression,
                 const FitOptions& options, const EstimateOptions& asked, const std::optional<Vector>& start,
                 const nb::object& progress) {
  EstimateOptions all = together(regression, options, asked);
  if (start && design.cols() > 0) {  // there, those of one class after the other
    const Index classes = start->size() / design.cols();
    all.start = start->reshaped(design.cols(), classes).transpose().reshaped();
  }
  const auto work = [all, data = Dataset{design, y}](Watch& watch) {
    return estimate(data, all, [&](const TracePoint& at) { return watch.report({0, 1, relative_gap(at)}); });
  };
  return answer_of_fit(run(work, progress, where(design, all)));
}

nb::dict fit_many(const Design& design, const Vector& y, const RegressionOptions& regression,
                  const PathOptions& grid, const FitOptions& options, const EstimateOptions& asked,
                  const nb::object& progress) {
  EstimateOptions all = together(regression, options, asked);
  all.cv.path = grid;
  const auto work = [all, data = Dataset{design, y}](Watch& watch) {
    return estimate_path(data, all, [&](const PathProgress& at) {
      return watch.report({at.step, at.steps, relative_gap(at.point)});
    });
  };
  return answer_of_path(run(work, progress));
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
  return answer_of_cv(run(work, progress));
}

double largest_alpha(const Design& design, const Vector& y, const RegressionOptions& words) {
  return make_regression(design, y, words).alpha_max;
}

// The names of the losses for labels, or of those for numbers.
std::vector<std::string> losses_for(bool labels) {
  std::vector<std::string> names;
  for (const LossRow& row : losses())
    if ((row.labels != LossRow::Labels::kNone) == labels) names.emplace_back(row.name);
  return names;
}

double survival_concordance(const Vector& time, const Vector& events, const Vector& weights,
                            const Vector& predictor) {
  return concordance({time, events, weights}, predictor);
}

// Of linear predictors that are one of each row.
Vector means(const std::string& loss, Vector predictor) {
  const auto mean = find_loss(loss).mean;
  for (double& value : predictor) mean({&value, 1});
  return predictor;
}

}  // namespace

void add_fits(nb::module_& module) {
  module.def("fit", &fit_one, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("options"),
             nb::arg("estimate_options"), nb::arg("start").none(), nb::arg("progress").none());
  module.def("fit_path", &fit_many, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("grid"),
             nb::arg("options"), nb::arg("estimate_options"), nb::arg("progress").none());
  module.def("cross_validate", &cross_validation, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::arg("cv"), nb::arg("options"), nb::arg("score").none(), nb::arg("progress").none());
  module.def("random_folds", &random_folds, nb::arg("n"), nb::arg("k"), nb::arg("seed"));
  module.def("stratified_folds", &stratified_folds, nb::arg("labels"), nb::arg("k"), nb::arg("seed"));
  module.def("losses", &losses_for, nb::arg("labels"));
  module.def("concordance", &survival_concordance, nb::arg("time"), nb::arg("events"), nb::arg("weights"),
             nb::arg("predictor"));
  module.def("means", &means, nb::arg("loss"), nb::arg("predictor"));
  module.def("choose", &chosen_step, nb::arg("criteria"), nb::arg("criterion"), nb::arg("n"));
  module.def("alpha_max", &largest_alpha, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tyto::python
