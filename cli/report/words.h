#pragma once

#include <string>

#include "tyto/select/model.h"

// Sentences that the summary of a command and the report share.
namespace tyto::cli {

std::string shape_in_words(
    const RegressionOptions& options);  // "bh, shape q = 0.1", "oscar, slope 1", "lasso"

// What q says of false discoveries: something where the strength is the level of the noise, else nothing.
std::string rate_in_words(const Model& model);

// How many clusters have several features, and how many of these are ties by coincidence; empty for none.
std::string clusters_in_words(const Model& model);

}  // namespace tyto::cli
