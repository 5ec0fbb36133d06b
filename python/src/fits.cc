#include <nanobind/eigen/dense.h>

#include <stdexcept>
#include <utility>

#include "answers.h"
#include "bindings.h"
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"
#include "tyto/select/noise.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto::python {
namespace {

double relative_gap(const TracePoint& at) { return at.primal > 0 ? at.gap / at.primal : at.gap; }

// Coefficients on the data's own scale, as a start for the solver.
Vector on_problem_scale(const Regression& regression, const Vector& coefficients, bool nonnegative) {
  if (coefficients.size() != regression.columns)
    throw InvalidArgument("start: want " + std::to_string(regression.columns) + " coefficients, got " +
                          std::to_string(coefficients.size()));
  Vector beta(regression.penalized.size());
  for (Index k = 0; k < beta.size(); ++k)
    beta[k] = coefficients[regression.penalized[k]] * regression.problem.design.scale(k);
  if (nonnegative) beta = beta.cwiseMax(0);
  return beta;
}

// What `fit` may be asked for beside a multiplier.
struct Wishes {
  std::optional<double> sigma, gamma;
  bool estimate_sigma = false;
  bool criteria = false;  // of a path
};

// What was fitted: the regression at its multiplier, and where that came from.
struct Fitted {
  Regression regression;
  Fit fit;
  std::optional<Noise> noise = {};
};

Fitted solve(const Regression& regression, const Wishes& wishes, const FitOptions& options,
             const Vector* start, const Observer& observer) {
  if (wishes.estimate_sigma) {
    NoiseFit found = fit_estimating_noise(regression, options, observer);
    return {std::move(found.regression), std::move(found.fit), found.noise};
  }
  if (!wishes.sigma) return {regression, fit(regression.problem, options, start, observer)};
  const Regression there = at_noise(regression, *wishes.sigma);
  return {there, fit(there.problem, options, start, observer), Noise{*wishes.sigma}};
}

// What is done before Python could ask for something else.
On where(const Design& design, const FitOptions& options, const Wishes& wishes) {
  constexpr Index kSmall = 100'000;
  const bool small = design.stored_entries() <= kSmall && design.cols() <= kSmall;
  const bool plain = options.solver != "spgd" && !wishes.gamma && !wishes.estimate_sigma;
  return small && plain ? On::kThisThread : On::kOwnThread;
}

nb::dict fit_one(const Design& design, const Vector& y, const RegressionOptions& words,
                 const FitOptions& options, const Wishes& wishes, const std::optional<Vector>& start,
                 const nb::object& progress) {
  if (wishes.gamma) validate_gamma(*wishes.gamma, words.nonnegative);
  if (wishes.sigma || wishes.estimate_sigma) validate_noise_weights(words);
  struct Result {
    Model model;
    Fit fit;
    Regression regression;
  };
  const auto work = [=](Watch& watch) {
    const Regression regression = make_regression(design, y, words, Work(options.threads));
    std::optional<Vector> beta;
    if (start) beta = on_problem_scale(regression, *start, words.nonnegative);
    Fitted found = solve(regression, wishes, options, beta ? &*beta : nullptr, [&](const TracePoint& at) {
      return watch.report({0, 1, relative_gap(at)});
    });
    Model model = make_model({design, y}, words, found.regression, found.fit, options);
    model.noise = found.noise;
    if (wishes.gamma) {
      const SparseBeta penalized = found.fit.solution.beta.sparseView();
      relax(model, regression, {*wishes.gamma, relax(regression.problem, penalized, Work(options.threads))});
    }
    return Result{std::move(model), std::move(found.fit), regression};
  };
  const Result result = run(work, progress, where(design, options, wishes));
  nb::dict dict = solution(result.model, result.fit);
  dict["alpha_max"] = result.regression.alpha_max;
  dict["scale"] = scales(result.regression);
  return dict;
}

nb::dict fit_many(const Design& design, const Vector& y, const RegressionOptions& words,
                  const PathOptions& grid, const FitOptions& options, const Wishes& wishes,
                  const nb::object& progress) {
  if (wishes.gamma) validate_gamma(*wishes.gamma, words.nonnegative);
  struct Result {
    std::vector<Model> models;
    Path path;
    std::vector<Criteria> criteria;
    Regression regression;
  };
  const auto work = [=](Watch& watch) {
    const Regression regression = make_regression(design, y, words, Work(options.threads));
    const auto observer = [&](const PathProgress& at) {
      return watch.report({at.step, at.steps, relative_gap(at.point)});
    };
    Path path = fit_path(regression, grid, options, observer);
    if (wishes.gamma) relax(regression, *wishes.gamma, path, Work(options.threads));
    std::vector<Model> models = make_models({design, y}, words, regression, path, options);
    std::vector<Criteria> found;
    if (wishes.criteria) found = criteria(path, regression.problem, wishes.sigma, Work(options.threads));
    return Result{std::move(models), std::move(path), std::move(found), regression};
  };
  const Result result = run(work, progress);
  nb::dict dict = solutions(result.models, result.path);
  if (!result.criteria.empty()) dict["criteria"] = table(result.criteria);
  dict["alpha_max"] = result.regression.alpha_max;
  dict["scale"] = scales(result.regression);
  dict["seconds"] = result.path.seconds, dict["passes"] = result.path.passes;
  return dict;
}

// `score`: None, or what takes the place of the error measure; see `scored`.
nb::dict cross_validation(const Design& design, const Vector& y, const RegressionOptions& words,
                          const CvOptions& options, const FitOptions& fit_options, const nb::object& score,
                          const nb::object& progress) {
  struct Result {
    CrossValidation cv;
    std::vector<Model> models;
  };
  const auto work = [=](Watch& watch) {
    CvHooks hooks;
    hooks.progress = [&](const CvProgress& at) { return watch.report({at.done, at.folds, 0}); };
    if (!score.is_none())
      hooks.score = [&](const FoldModels& fold) {
        if (watch.stopped()) throw std::runtime_error("stopped");  // Python may have ended
        const nb::gil_scoped_acquire gil;
        return scored(fold, score);
      };
    Result result{cross_validate(design, y, words, options, fit_options, hooks), {}};
    if (result.cv.complete()) result.models = make_models({design, y}, words, result.cv, fit_options);
    return result;
  };
  const Result result = run(work, progress);
  const CrossValidation& cv = result.cv;
  if (!cv.complete()) return {};
  nb::dict dict = solutions(result.models, cv.chosen().path);
  dict["alpha_max"] = cv.chosen().regression.alpha_max;
  dict["scale"] = scales(cv.chosen().regression);
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
  nb::class_<Wishes>(module, "Wishes")
      .def(nb::init<>())
      .def_rw("sigma", &Wishes::sigma, nb::arg().none())
      .def_rw("gamma", &Wishes::gamma, nb::arg().none())
      .def_rw("estimate_sigma", &Wishes::estimate_sigma)
      .def_rw("criteria", &Wishes::criteria);
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
