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

nb::dict solution(const Model& model, const Fit& fit);                   // a model and how it was found
nb::dict solutions(const std::vector<Model>& models, const Path& path);  // of all strengths
nb::list curves(const CrossValidation& cv);

nb::dict table(const std::vector<Criteria>& rows);  // one array for each criterion
// The place that a criterion chooses in such a table.
Index chosen_step(const nb::dict& criteria, const std::string& criterion, double n);

}  // namespace tyto::python
