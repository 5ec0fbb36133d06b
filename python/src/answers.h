#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"
#include "tyto/select/path.h"

// What was found, as dictionaries.
namespace tyto::python {

namespace nb = nanobind;

nb::dict solution(const Model& model, const Fit& fit);  // a model and how it was found
nb::dict solutions(const std::vector<Model>& models, const Path& path, const std::vector<Criteria>& criteria);
nb::list curves(const CrossValidation& cv);

// The place that a criterion chooses, by the criteria in the dictionary of `solutions`.
Index chosen_step(const nb::dict& criteria, const std::string& criterion, double n);

}  // namespace tyto::python
