// tyto._core: the library as the package's Python code needs it. Everything here is on the scale of the
// library, 1/2 ||y - Xb||^2; scikit-learn's is made in Python.
#include "bindings.h"
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/base/version.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace tyto::python;
  // InvalidArgument is a ValueError already, as every std::invalid_argument.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const tyto::DataError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  module.def("version", &tyto::version);
  module.def("hardware_threads", &tyto::hardware_threads);
  add_design(module);
  add_data(module);
  add_norm(module);
  add_options(module);
  add_fits(module);
  add_sums(module);
  add_verify(module);
  add_report(module);
  add_exit(module);
}
