#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tyto::python {

namespace nb = nanobind;

// The parts of the module tyto._core, one file each.
void add_design(nb::module_& module);
void add_data(nb::module_& module);     // data files
void add_norm(nb::module_& module);     // the penalty by itself
void add_options(nb::module_& module);  // what to fit and how, field by field
void add_fits(nb::module_& module);     // fit, path, cross-validation
void add_sums(nb::module_& module);     // moments, evidence, and fits from them
void add_verify(nb::module_& module);
void add_report(nb::module_& module);

}  // namespace tyto::python
