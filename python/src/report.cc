// The page of the command line's --report, for data in memory.
#include <nanobind/eigen/dense.h>

#include <utility>

#include "bindings.h"
#ifdef TYTO_REPORT
#include "cli/report/report.h"
#endif
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/select/estimate.h"

namespace tyto::python {
namespace {

// What the page says of the data beside its numbers.
struct Titles {
  std::string title;               // in the place of a file's name
  std::vector<std::string> names;  // of the features, or none
};

#ifdef TYTO_REPORT
Dataset dataset(const Design& design, const Vector& y, const RegressionOptions& regression,
                const Titles& titles) {
  Dataset data{design, y};
  data.row_weights = regression.observation_weights;
  data.offset = regression.offset;
  data.events = regression.events;
  data.names = titles.names;
  data.response_name.assign(1, 'y');
  return data;
}

std::string of_fit(const Design& design, const Vector& y, const RegressionOptions& regression,
                   std::pair<FitOptions, EstimateOptions> options, const Titles& titles) {
  EstimateOptions all = std::move(options.second);
  all.regression = regression;
  all.fit = options.first;
  all.correlations = true;
  const auto work = [all, titles, data = dataset(design, y, regression, titles)](Watch& watch) {
    const Estimate found = estimate(data, all, [&](const TracePoint&) { return watch.report({0, 1, 0}); });
    return cli::to_html({{titles.title}, data, found.regression, found.models, found.path});
  };
  return run(work, nb::none());
}

std::string of_cv(const Design& design, const Vector& y, const RegressionOptions& regression,
                  std::pair<FitOptions, CvOptions> options, const Titles& titles) {
  EstimateOptions all;
  all.regression = regression;
  all.fit = options.first;
  all.cv = std::move(options.second);
  all.correlations = true;
  const auto work = [all, titles, data = dataset(design, y, regression, titles)](Watch& watch) {
    CvHooks hooks;
    hooks.progress = [&](const CvProgress& at) { return watch.report({at.done, at.folds, 0}); };
    const CvEstimate found = estimate_cv(data, all, hooks);
    if (!found.cv.complete()) throw InvalidArgument("max_seconds: want more: not all folds could be fitted");
    const CvCurve& curve = found.cv.chosen();
    const cli::ReportedErrors errors = cli::reported_errors(found.cv);
    return cli::to_html({{titles.title}, data, curve.regression, found.models, curve.path, &errors});
  };
  return run(work, nb::none());
}
#else
template <class Options>
std::string no_report(const Design&, const Vector&, const RegressionOptions&, const Options&, const Titles&) {
  throw InvalidArgument(
      "report: want a package that was built with the program (TYTO_CLI=ON), got one without");
}
constexpr auto of_fit = no_report<std::pair<FitOptions, EstimateOptions> >;
constexpr auto of_cv = no_report<std::pair<FitOptions, CvOptions> >;
#endif

}  // namespace

void add_report(nb::module_& module) {
  module.def(
      "report_fit",
      [](const Design& design, const Vector& y, const RegressionOptions& regression,
         const FitOptions& options, const EstimateOptions& asked, const std::string& title,
         const std::vector<std::string>& names) {
        return of_fit(design, y, regression, {options, asked}, {title, names});
      },
      nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("options"), nb::arg("estimate_options"),
      nb::arg("title"), nb::arg("names"));
  module.def(
      "report_cv",
      [](const Design& design, const Vector& y, const RegressionOptions& regression,
         const FitOptions& options, const CvOptions& cv, const std::string& title,
         const std::vector<std::string>& names) {
        return of_cv(design, y, regression, {options, cv}, {title, names});
      },
      nb::arg("design"), nb::arg("y"), nb::arg("regression"), nb::arg("options"), nb::arg("cv"),
      nb::arg("title"), nb::arg("names"));
}

}  // namespace tyto::python
