#pragma once

#include <nlohmann/json.hpp>

#include "cli/report/report.h"

namespace tyto::cli {

// How models of classes, of counts and of times to an event fit the data, by strength: docs/report.md names
// the fields. All rows count, however few of them a page draws. Empty for other losses.
nlohmann::ordered_json quality(const Report& report);

double rounded(double value);  // pictures need no more than seven digits

}  // namespace tyto::cli
