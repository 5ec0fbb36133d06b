#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "tyto/select/options.h"

namespace tyto::cli {

// Flags for all options of a task, made of their table, in its order. `after` is called with the name of each
// once it is there: a command adds flags of its own between them.
void add_options(CLI::App& app, EstimateOptions& options, Task task,
                 const std::function<void(std::string_view)>& after);

}  // namespace tyto::cli
