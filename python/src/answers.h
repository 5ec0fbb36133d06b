#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/estimate.h"
#include "tyto/select/model.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"

// What was found, as dictionaries.
namespace tyto::python {

namespace nb = nanobind;

nb::dict answer_of_fit(const Estimate& found);
nb::dict answer_of_path(const Estimate& found);
nb::dict answer_of_cv(const CvEstimate& found);  // empty where not all folds could be fitted
// What Python's `score` says of a fold's models, called as score(rows held out, columns, values, starts,
// intercepts): the coefficients of model k are entries starts[k] .. starts[k + 1] - 1.
std::vector<double> scored(const FoldModels& fold, const nb::object& score);

// The place that a criterion chooses in a table of criteria.
Index chosen_step(const nb::dict& criteria, const std::string& criterion, double n);

}  // namespace tyto::python
