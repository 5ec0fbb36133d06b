#include <nanobind/eigen/dense.h>

#include "bindings.h"
#include "tyto/select/cv.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto::python {

void add_options(nb::module_& module) {
  nb::class_<RegressionOptions>(module, "RegressionOptions")
      .def(nb::init<>())
      .def_rw("weights", &RegressionOptions::weights)
      .def_rw("weight_values", &RegressionOptions::weight_values)
      .def_rw("q", &RegressionOptions::q)
      .def_rw("slope", &RegressionOptions::slope)
      .def_rw("strength", &RegressionOptions::strength)
      .def_prop_rw(
          "relative", [](const RegressionOptions& o) { return o.relative_to == RelativeTo::kAlphaMax; },
          [](RegressionOptions& o, bool relative) {
            o.relative_to = relative ? RelativeTo::kAlphaMax : RelativeTo::kAbsolute;
          })
      .def_rw("intercept", &RegressionOptions::intercept)
      .def_rw("standardize", &RegressionOptions::standardize)
      .def_rw("observation_weights", &RegressionOptions::observation_weights)
      .def_rw("unpenalized", &RegressionOptions::unpenalized)
      .def_rw("ridge", &RegressionOptions::ridge)
      .def_rw("nonnegative", &RegressionOptions::nonnegative);
  nb::class_<FitOptions>(module, "FitOptions")
      .def(nb::init<>())
      .def_rw("tolerance", &FitOptions::tolerance)
      .def_rw("solver", &FitOptions::solver)
      .def_rw("screening", &FitOptions::screening)
      .def_rw("max_epochs", &FitOptions::max_epochs)
      .def_rw("max_seconds", &FitOptions::max_seconds)
      .def_rw("threads", &FitOptions::threads);
  nb::class_<PathOptions>(module, "PathOptions")
      .def(nb::init<>())
      .def_rw("steps", &PathOptions::steps)
      .def_rw("ratio", &PathOptions::ratio)
      .def_rw("alphas", &PathOptions::alphas)
      .def_rw("max_explained", &PathOptions::max_explained)
      .def_rw("min_change", &PathOptions::min_change)
      .def_rw("max_nonzeros", &PathOptions::max_nonzeros)
      .def_rw("max_clusters", &PathOptions::max_clusters);
  nb::class_<CvOptions>(module, "CvOptions")
      .def(nb::init<>())
      .def_rw("path", &CvOptions::path)
      .def_rw("given", &CvOptions::given)
      .def_rw("qs", &CvOptions::qs)
      .def_rw("slopes", &CvOptions::slopes)
      .def_rw("gammas", &CvOptions::gammas)
      .def_prop_rw(
          "error", [](const CvOptions& o) { return std::string(name(o.error)); },
          [](CvOptions& o, const std::string& text) { o.error = parse_error_measure(text); });
}

}  // namespace tyto::python
