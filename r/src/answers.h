#pragma once

#include <cpp11.hpp>

#include <vector>

#include "tyto/select/estimate.h"

// What was found, as lists of R, on the library's scale.
namespace tyto::r {

// The models of one fit or a path: a vector for each of their fields, and their coefficients side by side.
cpp11::writable::list models_list(const std::vector<Model>& models);
std::vector<Model> models_from(
    const cpp11::list& list);  // of what models_list made, which R may have changed

cpp11::list estimate_list(const Estimate& found);
cpp11::list cv_list(const CvEstimate& found);

}  // namespace tyto::r
