#include "answers.h"

#include <limits>

#include "convert.h"

namespace tyto::r {
namespace {

using namespace cpp11::literals;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

cpp11::sexp criteria_list(const std::vector<Criteria>& rows) {
  if (rows.empty()) return R_NilValue;
  return cpp11::writable::list(
      {"df"_nm = column(rows, [](const Criteria& one) { return one.freedom; }),
       "aic"_nm = column(rows, [](const Criteria& one) { return one.aic; }),
       "bic"_nm = column(rows, [](const Criteria& one) { return one.bic; }),
       "cp"_nm = column(rows, [](const Criteria& one) { return one.cp.value_or(kNone); })});
}

// What each column is divided by before it is penalised, or NULL where none is.
cpp11::sexp scales(const Regression& regression) {
  const Design& design = regression.problem.design;
  if (!design.is_scaled()) return R_NilValue;
  cpp11::writable::doubles all(regression.columns);
  std::fill(all.begin(), all.end(), 1.0);
  for (Index k = 0; k < design.cols(); ++k) all[regression.penalized[k]] = design.scale(k);
  return cpp11::sexp(all);
}

// How the models of a path were found.
void add_course(cpp11::writable::list& list, const Path& path, const Regression& regression) {
  const auto& steps = path.steps;
  const double null_root = null_deviance_root(regression.problem);
  list.push_back("alpha_max"_nm = regression.alpha_max);
  list.push_back("scale"_nm = scales(regression));
  list.push_back("null_deviance"_nm = null_root * null_root);
  list.push_back("explained"_nm = column(steps, [](const PathStep& step) { return step.explained; }));
  list.push_back("deviance"_nm = column(
                     steps, [](const PathStep& step) { return step.residual_norm * step.residual_norm; }));
  list.push_back("epochs"_nm = column(steps, [](const PathStep& step) { return step.fit.epochs; }));
  list.push_back("screened"_nm = column(steps, [](const PathStep& step) { return step.fit.screened; }));
  list.push_back("seconds"_nm = column(steps, [](const PathStep& step) { return step.fit.seconds; }));
  list.push_back("stopped_by"_nm = std::string(name(path.stopped_by)));
  list.push_back("wanted"_nm = static_cast<double>(path.alphas.size()));
  list.push_back("passes"_nm = path.passes);
}

// The errors along the grid for one shape of the weights, and those of each fold: strengths by folds.
cpp11::list curve_list(const CrossValidation& cv, std::size_t number) {
  const CvCurve& curve = cv.curves[number];
  const auto itself = [](double value) { return value; };
  cpp11::writable::list folds;
  for (const FoldScore& score : cv.scores)
    if (score.shape == static_cast<Index>(number)) folds.push_back(column(curve.errors_of(score), itself));
  return cpp11::writable::list(
      {"q"_nm = curve.q, "slope"_nm = curve.slope, "gamma"_nm = curve.gamma,
       "alpha"_nm = column(curve.path.steps, [](const PathStep& step) { return step.alpha; }),
       "cvm"_nm = column(curve.error, itself), "cvsd"_nm = column(curve.standard_error, itself),
       "folds"_nm = folds});
}

}  // namespace

cpp11::list estimate_list(const Estimate& found) {
  cpp11::writable::list list = models_list(found.models);
  add_course(list, found.path, found.regression);
  list.push_back("criteria"_nm = criteria_list(found.criteria));
  return list;
}

cpp11::list cv_list(const CvEstimate& found) {
  const CrossValidation& cv = found.cv;
  const CvCurve& chosen = cv.chosen();
  cpp11::writable::list list = models_list(found.models);
  add_course(list, chosen.path, chosen.regression);
  list.push_back("criteria"_nm = criteria_list(criteria(chosen.path, chosen.regression.problem)));
  cpp11::writable::list curves;
  for (std::size_t k = 0; k < cv.curves.size(); ++k) curves.push_back(curve_list(cv, k));
  list.push_back("curves"_nm = curves);
  list.push_back("chosen_curve"_nm = static_cast<double>(cv.chosen_curve));
  list.push_back("measure"_nm = std::string(name(cv.measure)));
  list.push_back("measure_in_words"_nm = in_words(cv.measure));
  list.push_back("larger_is_better"_nm = larger_is_better(cv.measure));
  list.push_back("converged"_nm = cv.converged());
  list.push_back("worst_gap"_nm = cv.worst_gap());
  list.push_back("n_folds"_nm = static_cast<double>(cv.folds));
  list.push_back("n_repeats"_nm = static_cast<double>(cv.repeats));
  return list;
}

}  // namespace tyto::r
