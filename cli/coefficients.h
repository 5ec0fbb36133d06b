#pragma once

#include <string>
#include <vector>

#include "tyto/select/model.h"

namespace tyto::cli {

// The coefficients of a model for a terminal, the strongest first, `most` of them; and what clusters are.
std::string coefficient_table(const Model& model, std::size_t most);

std::string warning_lines(const std::vector<std::string>& warnings);  // "warning: ...", one a line

}  // namespace tyto::cli
