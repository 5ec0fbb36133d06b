#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "tyto/select/estimate.h"

namespace tyto::cli {

// What commands that fit models share: the data, the problem, the solver, and where results go.
struct RegressionArgs {
  DataArgs data;
  EstimateOptions options;
  bool quiet = false;
  std::string json, model, coefficients, report;

  // All flags, in the order of the help text. `after` adds those of the command: see add_options().
  void add(CLI::App& app, Task task, const std::function<void(std::string_view)>& after = {});

  // Refuses bad options before anything is read; then reads the weights, where they are a file.
  void prepare(Task task);
  Dataset read() const;  // and says how many rows were left out
  void label(std::vector<Model>& models, const Dataset& dataset) const;  // how their data was read
  // Writes the results, and the summary with what was found out about the data.
  void finish(Outputs& outputs, const Dataset& dataset, std::string_view summary) const;
};

std::string described(const Model& model);  // its data and weights, in a phrase

// About a dozen steps of a path, evenly spaced, the first and the last among them.
std::vector<std::size_t> shown_steps(std::size_t count);

extern const char* const kFitExitCodes;       // the end of a help text
extern const char* const kNothingCorrelated;  // a warning

}  // namespace tyto::cli
