#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "tyto/select/model.h"

namespace tyto::cli {

// What commands that fit models share: the data, the problem, the solver, and where results go.
struct RegressionArgs {
  DataArgs data;
  RegressionOptions regression;
  FitOptions fit;
  bool no_intercept = false, no_standardize = false, quiet = false;
  std::string json, model, coefficients, report;
  std::vector<std::string> unpenalized;

  // In the order of the help text.
  void add_weights(CLI::App& app);  // and the data
  void add_q(CLI::App& app);
  void add_solver(CLI::App& app);  // and what else there is to a problem
  void add_outputs(CLI::App& app);

  // Refuses bad options before anything is read; then reads the weights, where they are a file.
  void prepare();
  Dataset read() const;  // and says how many rows were left out
  // Finds in the data what the options name there.
  void complete(const Dataset& dataset);
  Regression make(const Dataset& dataset);
  void label(Model& fitted, const Dataset& dataset) const;  // how its data was read
  // Writes the results, and the summary with what was found out about the data.
  void finish(Outputs& outputs, const Dataset& dataset, std::string_view summary) const;
};

std::string described(const Model& model);  // its data and weights, in a phrase

extern const char* const kFitExitCodes;       // the end of a help text
extern const char* const kShapeHelp;          // of --q
extern const char* const kNothingCorrelated;  // a warning

}  // namespace tyto::cli
