#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tyto/select/model.h"

namespace tyto::cli {

// A model out of a file.
struct ChosenModel {
  Model model;
  Index step;            // its place in the file
  std::string in_words;  // how it was chosen
  std::string warnings;  // about the file's choices, a line each
};

// A model file, and which of its models where it holds a path or a cross-validation.
struct ModelArgs {
  std::string file;
  std::optional<Index> step;
  std::optional<double> alpha;
  std::string choose;

  void add(CLI::App& app);
  // The place of the model that was asked for; nothing where none was. Throws InvalidArgument.
  std::optional<Index> chosen(const std::vector<Model>& models) const;
  // The one that was asked for; else the best of a cross-validation, or the only one that there is or that a
  // criterion chose. Throws InvalidArgument where that leaves several, DataError for a bad file.
  ChosenModel load() const;
  // The one that cross-validation found best, or the only one that a criterion chose; nothing where there is
  // none.
  static std::optional<Index> best(const std::vector<Model>& models);
};

// How the rows of further data are read: the model's offset, and its labels where they are words. Throws
// InvalidArgument where an offset is missing, or is one too many.
void take_rows_as_fitted(const Model& model, ReadOptions& options);

}  // namespace tyto::cli
