#pragma once

#include <string>
#include <vector>

#include "cli/reproduce/journal.h"

namespace tyto::cli {

// As SVG, a panel for each set.
std::string figure1(const Journal& journal, const std::vector<std::string>& sets);
std::string figure2(const Journal& journal, const std::vector<std::string>& sets);

}  // namespace tyto::cli
