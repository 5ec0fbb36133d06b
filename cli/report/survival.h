#pragma once

#include <nlohmann/json.hpp>

#include "cli/report/report.h"

namespace tyto::cli {

// Of times to an event, by strength: the C-index, and the survival curves (Kaplan & Meier) of rows with low,
// middle and high predicted risk: docs/report.md names the fields.
nlohmann::ordered_json survival(const Report& report);

}  // namespace tyto::cli
