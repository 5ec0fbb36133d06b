#pragma once

#include <string>
#include <vector>

#include "tyto/data/formats.h"

namespace tyto {

// Whether a CSV file begins with a line of names, by its fields: where any of them is neither a number, TRUE
// or FALSE, nor missing.
bool is_header(const std::vector<std::string>& fields, char delimiter);

// A warning where that guess may be wrong, or nothing: a first line of numbers that look like names (1, 2, 3,
// ..., or years above measurements), or one of mostly numbers that look like data.
std::string doubt_about_header(const Source& source, const std::vector<std::string>& first, char delimiter);

// The columns that are the response by their name: y, target, label or response.
std::vector<Index> columns_called_response(const std::vector<std::string>& header);

}  // namespace tyto
