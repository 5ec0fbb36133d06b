#include <nanobind/eigen/dense.h>

#include <utility>

#include "bindings.h"
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"
#include "tyto/verify/verify.h"

namespace tyto::python {
namespace {

using Indices = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

// One column of a table of structs, as an array.
template <class Row, class Get>
auto column(const std::vector<Row>& rows, Get get) {
  Eigen::Matrix<std::decay_t<decltype(get(rows.front()))>, Eigen::Dynamic, 1> values(std::ssize(rows));
  for (Index i = 0; i < values.size(); ++i) values[i] = get(rows[static_cast<std::size_t>(i)]);
  return values;
}

nb::dict trace(const std::vector<TracePoint>& points) {
  nb::dict dict;
  dict["epoch"] = column(points, [](const TracePoint& at) { return std::int64_t{at.epoch}; });
  dict["seconds"] = column(points, [](const TracePoint& at) { return at.seconds; });
  dict["primal"] = column(points, [](const TracePoint& at) { return at.primal; });
  dict["gap"] = column(points, [](const TracePoint& at) { return at.gap; });
  dict["active"] = column(points, [](const TracePoint& at) { return std::int64_t{at.active}; });
  return dict;
}

// A model and how it was found.
nb::dict solution(const Model& model, const Fit& fit) {
  nb::dict dict;
  dict["alpha"] = model.alpha, dict["status"] = model.status;
  dict["primal"] = model.primal, dict["dual"] = model.dual, dict["gap"] = model.gap;
  dict["rounding"] = fit.certificate.rounding;
  dict["intercept"] = model.intercept;
  dict["columns"] = column(model.coefficients, [](const Coefficient& c) { return std::int64_t{c.column}; });
  dict["values"] = column(model.coefficients, [](const Coefficient& c) { return c.value; });
  dict["clusters"] = column(model.coefficients, [](const Coefficient& c) { return std::int64_t{c.cluster}; });
  dict["epochs"] = fit.epochs, dict["screened"] = fit.screened, dict["passes"] = fit.passes;
  dict["seconds"] = fit.seconds, dict["trace"] = trace(fit.trace);
  return dict;
}

nb::list solutions(const std::vector<Model>& models, const Path& path) {
  nb::list list;
  for (std::size_t k = 0; k < models.size(); ++k) {
    nb::dict dict = solution(models[k], path.steps[k].fit);
    dict["explained"] = path.steps[k].explained;
    list.append(dict);
  }
  return list;
}

double relative_gap(const TracePoint& at) { return at.primal > 0 ? at.gap / at.primal : at.gap; }

// Coefficients on the data's own scale, as a start for the solver.
Vector on_problem_scale(const Regression& regression, const Vector& coefficients, bool nonnegative) {
  if (coefficients.size() != regression.columns)
    throw InvalidArgument("start: want " + std::to_string(regression.columns) + " coefficients, got " +
                          std::to_string(coefficients.size()));
  Vector beta = coefficients(regression.penalized).cwiseProduct(regression.problem.design.scales());
  if (nonnegative) beta = beta.cwiseMax(0);
  return beta;
}

nb::dict fit_one(const Design& design, const Vector& y, const RegressionOptions& words,
                 const FitOptions& options, const std::optional<Vector>& start, const nb::object& progress) {
  struct Result {
    Model model;
    Fit fit;
    double alpha_max = 0;
  };
  const auto work = [=](Watch& watch) {
    const Regression regression = make_regression(design.with_threads(options.threads), y, words);
    std::optional<Vector> beta;
    if (start) beta = on_problem_scale(regression, *start, words.nonnegative);
    Fit fitted = fit(regression.problem, options, beta ? &*beta : nullptr, [&](const TracePoint& at) {
      return watch.report({0, 1, relative_gap(at)});
    });
    return Result{make_model({design, y}, words, regression, fitted, options), std::move(fitted),
                  regression.alpha_max};
  };
  const Result result = run(work, progress);
  nb::dict dict = solution(result.model, result.fit);
  dict["alpha_max"] = result.alpha_max;
  return dict;
}

// Along `alphas`, or where there are none, the grid of the options.
nb::dict fit_many(const Design& design, const Vector& y, const RegressionOptions& words,
                  const std::vector<double>& alphas, const PathOptions& grid, const FitOptions& options,
                  const nb::object& progress) {
  struct Result {
    std::vector<Model> models;
    Path path;
    double alpha_max = 0;
  };
  const auto work = [=](Watch& watch) {
    const Regression regression = make_regression(design.with_threads(options.threads), y, words);
    const auto observer = [&](const PathProgress& at) {
      return watch.report({at.step, at.steps, relative_gap(at.point)});
    };
    Problem unit = regression.problem;
    unit.penalty = regression.shape;
    Path path = alphas.empty() ? fit_path(regression, grid, options, observer)
                               : fit_path(unit, alphas, grid, options, observer);
    std::vector<Model> models = make_models({design, y}, words, regression, path, options);
    return Result{std::move(models), std::move(path), regression.alpha_max};
  };
  const Result result = run(work, progress);
  nb::dict dict;
  dict["fits"] = solutions(result.models, result.path);
  dict["alpha_max"] = result.alpha_max;
  dict["stopped_by"] = std::string(name(result.path.stopped_by));
  dict["seconds"] = result.path.seconds, dict["passes"] = result.path.passes;
  return dict;
}

nb::list curves(const CrossValidation& cv) {
  nb::list list;
  for (std::size_t c = 0; c < cv.curves.size(); ++c) {
    const CvCurve& curve = cv.curves[c];
    Eigen::MatrixXd errors(std::ssize(curve.error), 0);
    for (const FoldScore& score : cv.scores)
      if (score.shape == static_cast<Index>(c)) {
        errors.conservativeResize(Eigen::NoChange, errors.cols() + 1);
        const std::vector<double> held_out = curve.errors_of(score);
        errors.rightCols(1) = Eigen::Map<const Vector>(held_out.data(), std::ssize(held_out));
      }
    nb::dict dict;
    dict["q"] = curve.q;
    dict["alphas"] = column(curve.path.steps, [](const PathStep& step) { return step.alpha; });
    dict["error"] = curve.error, dict["standard_error"] = curve.standard_error;
    dict["errors"] = errors;
    list.append(dict);
  }
  return list;
}

nb::dict cross_validation(const Design& design, const Vector& y, const RegressionOptions& words,
                          const CvOptions& options, const FitOptions& fit_options,
                          const nb::object& progress) {
  struct Result {
    CrossValidation cv;
    std::vector<Model> models;
  };
  const auto work = [=](Watch& watch) {
    const CvHooks hooks{{}, [&](const CvProgress& at) { return watch.report({at.done, at.folds, 0}); }, {}};
    Result result{cross_validate(design, y, words, options, fit_options, hooks), {}};
    if (result.cv.complete()) result.models = make_models({design, y}, words, result.cv, fit_options);
    return result;
  };
  const Result result = run(work, progress);
  const CrossValidation& cv = result.cv;
  nb::dict dict;
  dict["complete"] = cv.complete();
  if (!cv.complete()) return dict;
  dict["fits"] = solutions(result.models, cv.chosen().path);
  dict["alpha_max"] = cv.chosen().regression.alpha_max;
  dict["stopped_by"] = std::string(name(cv.chosen().path.stopped_by));
  dict["seconds"] = cv.seconds, dict["passes"] = cv.passes;
  dict["curves"] = curves(cv);
  dict["chosen"] = cv.chosen_curve, dict["best"] = cv.best, dict["one_se"] = cv.one_se;
  dict["converged"] = cv.converged(), dict["worst_gap"] = cv.worst_gap();
  return dict;
}

double largest_alpha(const Design& design, const Vector& y, const RegressionOptions& words) {
  return make_regression(design, y, words).alpha_max;
}

// A model from what an estimator states, on the library's scale.
struct Claim {
  double alpha = 0, tolerance = 0, primal = 0, gap = 0, intercept = 0;
  std::string status;
  Indices columns;
  Vector values;
};

Model stated(const Design& design, const RegressionOptions& words, const Claim& claim) {
  Model model;
  model.n = design.rows(), model.p = design.cols();
  model.options = words;
  model.alpha = claim.alpha, model.tolerance = claim.tolerance;
  model.primal = claim.primal, model.gap = claim.gap, model.dual = claim.primal - claim.gap;
  model.status = claim.status, model.intercept = claim.intercept;
  if (words.observation_weights.size() > 0) model.weights_file = "given";
  for (Index k = 0; k < claim.columns.size(); ++k)
    model.coefficients.push_back({claim.columns[k], claim.values[k], k, ""});
  return model;
}

nb::dict verification(const Design& design, const Vector& y, const RegressionOptions& words,
                      const Claim& claim) {
  Dataset data{design, y};
  data.weights = words.observation_weights;
  Verification result;
  {
    const nb::gil_scoped_release no_gil;
    result = verify_text(to_json(stated(design, words, claim)), "model", data).front();
  }
  nb::dict dict;
  dict["primal"] = result.primal, dict["dual"] = result.dual, dict["gap"] = result.gap;
  dict["holds"] = result.holds, dict["reason"] = result.reason;
  return dict;
}

void add_claim(nb::module_& module) {
  nb::class_<Claim>(module, "Claim")
      .def(nb::init<>())
      .def_rw("alpha", &Claim::alpha)
      .def_rw("tolerance", &Claim::tolerance)
      .def_rw("primal", &Claim::primal)
      .def_rw("gap", &Claim::gap)
      .def_rw("intercept", &Claim::intercept)
      .def_rw("status", &Claim::status)
      .def_rw("columns", &Claim::columns)
      .def_rw("values", &Claim::values);
}

}  // namespace

void add_fits(nb::module_& module) {
  add_claim(module);
  module.def("fit", &fit_one, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("options"),
             nb::arg("start").none(), nb::arg("progress").none());
  module.def("fit_path", &fit_many, nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("alphas"),
             nb::arg("grid"), nb::arg("options"), nb::arg("progress").none());
  module.def("cross_validate", &cross_validation, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::arg("cv"), nb::arg("options"), nb::arg("progress").none());
  module.def("alpha_max", &largest_alpha, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::call_guard<nb::gil_scoped_release>());
  module.def("verify", &verification, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::arg("claim"));
}

}  // namespace tyto::python
