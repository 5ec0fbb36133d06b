#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "tyto/select/path.h"

namespace tyto::cli {

// The options of a grid of strengths, and the rules that end it.
void add_grid(CLI::App& app, PathOptions& path);

// About a dozen steps, evenly spaced, the first and the last among them.
std::vector<std::size_t> shown_steps(std::size_t count);

}  // namespace tyto::cli
