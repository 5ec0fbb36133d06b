#include "cli/model_args.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/args.h"
#include "tyto/base/error.h"

namespace tyto::cli {

void ModelArgs::add(CLI::App& app) {
  app.add_option("MODEL", file, "Model file that --model of 'tyto fit', 'tyto path' or 'tyto cv' wrote")
      ->required();
  CLI::Option* number = app.add_option("--step", step, "Which strength of a path, counted from 0");
  CLI::Option* multiplier = app.add_option("--alpha", alpha, "The same by its multiplier")->excludes(number);
  app.add_option("--choose", choose, "Of a model of 'tyto cv': best or one-se")
      ->excludes(number)
      ->excludes(multiplier);
  want_whole_numbers(app, {"--step"});
}

namespace {

std::optional<Index> find(const std::vector<Model>& models, bool Model::*choice) {
  const auto found = std::ranges::find_if(models, [&](const Model& model) { return model.*choice; });
  if (found == models.end()) return {};
  return found - models.begin();
}

}  // namespace

std::optional<Index> ModelArgs::best(const std::vector<Model>& models) { return find(models, &Model::best); }

std::optional<Index> ModelArgs::chosen(const std::vector<Model>& models) const {
  if (!choose.empty() && choose != "best" && choose != "one-se")
    throw InvalidArgument("choose: want best or one-se, got '" + choose + "'");
  if (!choose.empty()) {
    const auto found = find(models, choose == "best" ? &Model::best : &Model::one_se);
    if (!found) throw InvalidArgument("choose: want a model file of 'tyto cv', got " + file);
    return found;
  }
  if (alpha) return static_cast<Index>(find_alpha(models, *alpha));
  if (step && *step >= std::ssize(models))
    throw InvalidArgument(fmt::format("step: want a number from 0 to {}, got {}", models.size() - 1, *step));
  return step;
}

}  // namespace tyto::cli
