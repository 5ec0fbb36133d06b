#include "answers.h"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tyto::python {
namespace {

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

nb::dict both_ends(const RelaxedCoefficients& of) {
  const auto itself = [](double value) { return value; };
  nb::dict dict;
  dict["gamma"] = of.gamma;
  dict["penalized"] = column(of.penalized, itself), dict["penalized_intercept"] = of.penalized_intercept;
  dict["relaxed"] = column(of.relaxed, itself), dict["relaxed_intercept"] = of.relaxed_intercept;
  return dict;
}

nb::dict solution(const Model& model, const Fit& fit) {
  nb::dict dict;
  dict["alpha"] = model.alpha, dict["status"] = model.status;
  dict["primal"] = model.primal, dict["dual"] = model.dual, dict["gap"] = model.gap;
  dict["rounding"] = fit.certificate.rounding;
  dict["intercepts"] = model.intercepts;
  dict["columns"] = column(model.coefficients, [&](const Coefficient& c) {
    return std::int64_t{c.of_class * model.p + c.column};
  });
  dict["values"] = column(model.coefficients, [](const Coefficient& c) { return c.value; });
  dict["clusters"] = column(model.coefficients, [](const Coefficient& c) { return std::int64_t{c.cluster}; });
  dict["epochs"] = fit.epochs, dict["screened"] = fit.screened, dict["passes"] = fit.passes;
  dict["seconds"] = fit.seconds, dict["trace"] = trace(fit.trace);
  if (model.relaxed) dict["relaxation"] = both_ends(*model.relaxed);
  if (model.noise) {
    dict["sigma"] = model.noise->sigma;
    dict["sigma_status"] = model.noise->status ? std::string(name(*model.noise->status)) : "given";
  }
  return dict;
}

nb::dict solutions(const std::vector<Model>& models, const Path& path) {
  nb::list fits;
  for (std::size_t k = 0; k < models.size(); ++k) {
    nb::dict dict = solution(models[k], path.steps[k].fit);
    dict["explained"] = path.steps[k].explained;
    fits.append(dict);
  }
  nb::dict dict;
  dict["fits"] = fits;
  dict["wanted"] = path.alphas.size();
  dict["stopped_by"] = std::string(name(path.stopped_by));
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
    dict["q"] = curve.q, dict["slope"] = curve.slope, dict["gamma"] = curve.gamma;
    dict["alphas"] = column(curve.path.steps, [](const PathStep& step) { return step.alpha; });
    dict["error"] = curve.error, dict["standard_error"] = curve.standard_error;
    dict["errors"] = errors;
    list.append(dict);
  }
  return list;
}

nb::object scales(const Regression& regression) {
  const Design& design = regression.problem.design;
  if (!design.is_scaled()) return nb::none();
  Vector all = Vector::Ones(regression.columns);
  for (Index k = 0; k < design.cols(); ++k)
    all[regression.coefficient(k) / regression.predictors] = design.scale(k);
  return nb::cast(std::move(all));
}

nb::dict table(const std::vector<Criteria>& rows) {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  nb::dict dict;
  dict["df"] = column(rows, [](const Criteria& one) { return one.freedom; });
  dict["aic"] = column(rows, [](const Criteria& one) { return one.aic; });
  dict["bic"] = column(rows, [](const Criteria& one) { return one.bic; });
  dict["cp"] = column(rows, [](const Criteria& one) { return one.cp.value_or(kNone); });
  return dict;
}

// What one fit, a path and a cross-validation have in common.
void add_scales(nb::dict& dict, const Regression& regression) {
  dict["alpha_max"] = regression.alpha_max;
  dict["scale"] = scales(regression);
}

}  // namespace

nb::dict answer_of_fit(const Estimate& found) {
  nb::dict dict = solution(found.models.front(), found.fit());
  add_scales(dict, found.regression);
  return dict;
}

nb::dict answer_of_path(const Estimate& found) {
  nb::dict dict = solutions(found.models, found.path);
  if (!found.criteria.empty()) dict["criteria"] = table(found.criteria);
  add_scales(dict, found.regression);
  dict["seconds"] = found.path.seconds;
  dict["passes"] = found.path.passes;
  return dict;
}

nb::dict answer_of_cv(const CvEstimate& found) {
  const CrossValidation& cv = found.cv;
  if (!cv.complete()) return {};
  nb::dict dict = solutions(found.models, cv.chosen().path);
  add_scales(dict, cv.chosen().regression);
  dict["seconds"] = cv.seconds;
  dict["passes"] = cv.passes;
  dict["curves"] = curves(cv);
  dict["measure"] = std::string(name(cv.measure));
  dict["chosen"] = cv.chosen_curve;
  dict["best"] = cv.best;
  dict["one_se"] = cv.one_se;
  dict["converged"] = cv.converged();
  dict["worst_gap"] = cv.worst_gap();
  return dict;
}

std::vector<double> scored(const FoldModels& fold, const nb::object& score) {
  std::vector<std::int64_t> columns, starts{0};
  std::vector<double> values, intercepts;
  for (const DataScale& model : fold.models) {
    const Index classes = model.intercepts.size();
    const Index p = model.coefficients.size() / classes;
    for (SparseBeta::InnerIterator it(model.coefficients); it; ++it) {
      columns.push_back(it.index() % classes * p + it.index() / classes);
      values.push_back(it.value());
    }
    starts.push_back(std::ssize(columns));
    intercepts.insert(intercepts.end(), model.intercepts.begin(), model.intercepts.end());
  }
  const auto itself = [](auto value) { return value; };
  const nb::object found =
      score(column(fold.held_out, [](Index row) { return std::int64_t{row}; }), column(columns, itself),
            column(values, itself), column(starts, itself), column(intercepts, itself));
  return nb::cast<std::vector<double>>(found);
}

Index chosen_step(const nb::dict& criteria, const std::string& criterion, double n) {
  const auto numbers = [&](const char* name) { return nb::cast<Vector>(criteria[name]); };
  const Vector df = numbers("df"), aic = numbers("aic"), bic = numbers("bic"), cp = numbers("cp");
  std::vector<Criteria> rows;
  for (Index k = 0; k < df.size(); ++k) {
    rows.push_back({df[k], aic[k], bic[k]});
    if (!std::isnan(cp[k])) rows.back().cp = cp[k];
  }
  return choose(rows, parse_criterion(criterion), n).step;
}

}  // namespace tyto::python
