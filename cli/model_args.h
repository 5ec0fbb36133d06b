#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tyto/select/model.h"

namespace tyto::cli {

// A model file, and which of its models where it holds a path.
struct ModelArgs {
  std::string file;
  std::optional<Index> step;
  std::optional<double> alpha;

  void add(CLI::App& app);
  // The place of the model that was asked for; nothing where none was. Throws InvalidArgument.
  std::optional<Index> chosen(const std::vector<Model>& models) const;
};

}  // namespace tyto::cli
