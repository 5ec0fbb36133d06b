#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"

// What was found, as dictionaries.
namespace tyto::python {

namespace nb = nanobind;

nb::dict solution(const Model& model, const Fit& fit);                   // a model and how it was found
nb::dict solutions(const std::vector<Model>& models, const Path& path);  // of all strengths
nb::list curves(const CrossValidation& cv);
// What each column is divided by before it is penalised, or None where none is.
nb::object scales(const Regression& regression);
// What Python's `score` says of a fold's models, called as score(rows held out, columns, values, starts,
// intercepts): the coefficients of model k are entries starts[k] .. starts[k + 1] - 1.
std::vector<double> scored(const FoldModels& fold, const nb::object& score);

nb::dict table(const std::vector<Criteria>& rows);  // one array for each criterion
// The place that a criterion chooses in such a table.
Index chosen_step(const nb::dict& criteria, const std::string& criterion, double n);

}  // namespace tyto::python
