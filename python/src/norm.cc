#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>

#include <cmath>

#include "bindings.h"
#include "tyto/base/error.h"
#include "tyto/math/sorted_l1.h"
#include "tyto/math/weights.h"

namespace tyto::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Vector checked(const SortedL1& norm, const Numbers& v) {
  if (static_cast<Index>(v.size()) != norm.size())
    throw InvalidArgument("v: want " + std::to_string(norm.size()) + " numbers, as many as weights, got " +
                          std::to_string(v.size()));
  Vector copy = Eigen::Map<const Vector>(v.data(), norm.size());
  if (!copy.allFinite()) throw InvalidArgument("v: want finite numbers, got NaN or infinity");
  return copy;
}

void prox(const SortedL1& norm, const Numbers& v, double step, const Output& out) {
  if (!(step >= 0 && std::isfinite(step)))
    throw InvalidArgument("step: want a finite number >= 0, got " + std::to_string(step));
  if (out.size() != v.size()) throw InvalidArgument("out: want as many entries as v");
  const nb::gil_scoped_release no_gil;
  Vector result = checked(norm, v);
  norm.prox(result, step);
  Eigen::Map<Vector>(out.data(), result.size()) = result;
}

}  // namespace

void add_norm(nb::module_& module) {
  nb::class_<SortedL1>(module, "SortedL1")
      .def(nb::init<Vector>(), nb::arg("weights"))
      .def("__len__", &SortedL1::size)
      .def("weights", &SortedL1::weights)
      .def("prox", &prox, nb::arg("v").noconvert(), nb::arg("step"), nb::arg("out").noconvert())
      .def(
          "value", [](const SortedL1& norm, const Numbers& v) { return norm.value(checked(norm, v)); },
          nb::arg("v").noconvert(), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "dual_norm",
          [](const SortedL1& norm, const Numbers& v) { return norm.dual_norm(checked(norm, v)); },
          nb::arg("v").noconvert(), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "make_weights",
      [](const std::string& name, Index n, Index p, double q, double slope) {
        return make_weights(name, {n, p, q, slope});
      },
      nb::arg("name"), nb::arg("n"), nb::arg("p"), nb::arg("q"), nb::arg("slope"));
  module.def("weight_names", &weight_names);
}

}  // namespace tyto::python
