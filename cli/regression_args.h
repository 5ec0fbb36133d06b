#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "tyto/select/estimate.h"

namespace tyto::cli {

// How a command ended. The summary says it to whoever reads that; the reason, one line, to others.
struct Ending {
  int code;
  std::string summary;
  std::string reason;  // why the code is not 0
};

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
  std::string note;  // on what the certificates are about; ends the summary
  // Writes the results, and the summary with what was found out about the data. Returns the exit code.
  int finish(Outputs& outputs, const Dataset& dataset, const Ending& ending) const;

 private:
  CLI::App* app_ = nullptr;
  std::vector<std::string> in_vain_;  // about options that do nothing beside the others
};

std::string described(const Model& model);            // its data and weights, in a phrase
std::string intercepts_in_words(const Model& model);  // "intercept 0.5"
std::string count_in_words(const Model& model);       // "3 of 10 coefficients are not zero"
std::string in_alpha_max(double alpha,
                         double alpha_max);  // " (0.1 of alpha-max)", or nothing where that is 0
// How well it fits the data that it was fitted to: R2, or the share of the deviance.
std::string explained_in_words(const Model& model, double explained);
std::string selected_in_words(const Model& model);  // the strongest features, by name or number

// About a dozen steps of a path, evenly spaced, the first and the last among them.
std::vector<std::size_t> shown_steps(std::size_t count);

extern const char* const kFitExitCodes;       // the end of a help text
extern const char* const kNothingCorrelated;  // a warning

}  // namespace tyto::cli
