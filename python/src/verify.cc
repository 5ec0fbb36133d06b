// The certificate of a model, computed again.
#include "tyto/verify/verify.h"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings.h"
#include "tyto/select/model.h"

namespace tyto::python {
namespace {

using Indices = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

// A model from what an estimator states, on the library's scale.
struct Claim {
  double alpha = 0, tolerance = 0, primal = 0, gap = 0, rounding = 0;
  std::vector<double> intercepts;
  std::string status;
  Indices columns, clusters;  // columns: of one class after the other
  Vector values;
  std::optional<RelaxedCoefficients> relaxed;
};

Model stated(const Design& design, const RegressionOptions& words, const Claim& claim) {
  Model model;
  model.n = design.rows();
  model.p = design.cols();
  model.options = words;
  if (!find_loss(words.loss).intercept) model.options.intercept = false;
  model.alpha = claim.alpha;
  model.tolerance = claim.tolerance;
  model.primal = claim.primal;
  model.gap = claim.gap;
  model.dual = claim.primal - claim.gap;
  model.rounding = claim.rounding;
  model.status = claim.status;
  model.intercepts = claim.intercepts;
  for (std::size_t c = 0; claim.intercepts.size() > 1 && c < claim.intercepts.size(); ++c)
    model.classes.push_back(static_cast<double>(c));
  if (words.observation_weights.size() > 0) model.weights_file = "given";
  if (words.offset.size() > 0) model.offset_file = "given";
  if (words.events.size() > 0) model.event_file = "given";
  for (Index k = 0; k < claim.columns.size(); ++k)
    model.coefficients.push_back(
        {claim.columns[k] % model.p, claim.values[k], claim.clusters[k], "", claim.columns[k] / model.p});
  std::ranges::sort(model.coefficients, {},
                    [](const Coefficient& c) { return std::pair(c.column, c.of_class); });
  model.relaxed = claim.relaxed;
  return model;
}

nb::dict verification(const Design& design, const Vector& y, const RegressionOptions& words,
                      const Claim& claim) {
  Dataset data{design, y};
  data.row_weights = words.observation_weights;
  data.offset = words.offset;
  data.events = words.events;
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
  nb::class_<RelaxedCoefficients>(module, "RelaxedCoefficients")
      .def(nb::init<>())
      .def_rw("gamma", &RelaxedCoefficients::gamma)
      .def_rw("penalized_intercept", &RelaxedCoefficients::penalized_intercept)
      .def_rw("relaxed_intercept", &RelaxedCoefficients::relaxed_intercept)
      .def_rw("penalized", &RelaxedCoefficients::penalized)
      .def_rw("relaxed", &RelaxedCoefficients::relaxed);
  nb::class_<Claim>(module, "Claim")
      .def(nb::init<>())
      .def_rw("alpha", &Claim::alpha)
      .def_rw("tolerance", &Claim::tolerance)
      .def_rw("primal", &Claim::primal)
      .def_rw("gap", &Claim::gap)
      .def_rw("rounding", &Claim::rounding)
      .def_rw("intercepts", &Claim::intercepts)
      .def_rw("status", &Claim::status)
      .def_rw("columns", &Claim::columns)
      .def_rw("clusters", &Claim::clusters)
      .def_rw("values", &Claim::values)
      .def_rw("relaxed", &Claim::relaxed);
}

}  // namespace

void add_verify(nb::module_& module) {
  add_claim(module);
  module.def("verify", &verification, nb::arg("design"), nb::arg("y"), nb::arg("regression"),
             nb::arg("claim"));
}

}  // namespace tyto::python
