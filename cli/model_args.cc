#include "cli/model_args.h"

#include <fmt/core.h>

#include "cli/args.h"
#include "tyto/base/error.h"

namespace tyto::cli {

void ModelArgs::add(CLI::App& app) {
  app.add_option("MODEL", file, "Model file that 'tyto fit --model' or 'tyto path --model' wrote")
      ->required();
  CLI::Option* number = app.add_option("--step", step, "Which strength of a path, counted from 0");
  app.add_option("--alpha", alpha, "The same by its multiplier")->excludes(number);
  want_whole_numbers(app, {"--step"});
}

std::optional<Index> ModelArgs::chosen(const std::vector<Model>& models) const {
  if (alpha) return static_cast<Index>(find_alpha(models, *alpha));
  if (step && *step >= std::ssize(models))
    throw InvalidArgument(fmt::format("step: want a number from 0 to {}, got {}", models.size() - 1, *step));
  return step;
}

}  // namespace tyto::cli
