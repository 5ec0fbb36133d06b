#include "cli/model_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "cli/args.h"
#include "cli/coefficients.h"
#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto::cli {

void ModelArgs::add(CLI::App& app) {
  app.add_option("MODEL", file, "Model file that --model of 'tyto fit', 'tyto path' or 'tyto cv' wrote")
      ->required();
  CLI::Option* number = app.add_option("--step", step, "Which strength of a path, counted from 0");
  CLI::Option* multiplier = app.add_option("--alpha", alpha, "The same by its multiplier")->excludes(number);
  app.add_option(
         "--choose", choose,
         "Of a model of 'tyto cv': best (the default) or one-se, the largest strength whose error is "
         "within one standard error of the best; of 'tyto path --choose': aic, bic or cp; of either a step, "
         "as --step")
      ->excludes(number)
      ->excludes(multiplier);
  want_whole_numbers(app, {"--step"});
}

namespace {

template <class Choice>
std::optional<Index> find(const std::vector<Model>& models, Choice is_chosen) {
  const auto found = std::ranges::find_if(models, is_chosen);
  if (found == models.end()) return {};
  return found - models.begin();
}

// What the words of --choose mean.
std::string in_words(const std::string& choice) {
  if (choice == "best") return "best by cross-validation";
  if (choice == "one-se") return "largest strength within one standard error of the best";
  return "least " + choice;
}

// What a model was chosen by, in the words of --choose.
std::vector<std::string> choices(const Model& model) {
  std::vector<std::string> names;
  if (model.best) names.emplace_back("best");
  if (model.one_se) names.emplace_back("one-se");
  for (const CriterionChoice& choice : model.chosen_by) names.emplace_back(name(choice.criterion));
  return names;
}

bool is_step(const std::string& choice) {
  return !choice.empty() && choice.find_first_not_of("0123456789") == std::string::npos;
}

Index checked_step(const std::string& text, const std::vector<Model>& models) {
  Index step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || step >= std::ssize(models))
    throw InvalidArgument(fmt::format("step: want a number from 0 to {}, got {}", models.size() - 1, text));
  return step;
}

// The model that a word of --choose names.
Index named(const std::string& choice, const std::vector<Model>& models, const std::string& file) {
  std::vector<std::string> known{"best", "one-se"};
  for (const std::string& criterion : criterion_names()) known.push_back(criterion);
  if (std::ranges::find(known, choice) == known.end())
    throw InvalidArgument("choose: want one of " + joined(known) + ", or a step, got '" + choice + "'" +
                          did_you_mean(choice, known));
  const auto found = find(models, [&](const Model& model) {
    const std::vector<std::string> names = choices(model);
    return std::ranges::find(names, choice) != names.end();
  });
  const bool by_cv = choice == "best" || choice == "one-se";
  if (!found)
    throw InvalidArgument(fmt::format("choose: want a model file of 'tyto {}', got {}",
                                      by_cv ? "cv" : "path --choose " + choice, file));
  return *found;
}

}  // namespace

std::optional<Index> ModelArgs::best(const std::vector<Model>& models) {
  if (const auto best = find(models, [](const Model& model) { return model.best; })) return best;
  const auto is_chosen = [](const Model& model) { return !model.chosen_by.empty(); };
  if (std::ranges::count_if(models, is_chosen) > 1) return {};
  return find(models, is_chosen);
}

std::optional<Index> ModelArgs::chosen(const std::vector<Model>& models) const {
  if (is_step(choose)) return checked_step(choose, models);
  if (!choose.empty()) return named(choose, models, file);
  if (alpha) return static_cast<Index>(find_alpha(models, *alpha));
  if (step) return checked_step(std::to_string(*step), models);
  return {};
}

ChosenModel ModelArgs::load() const {
  const std::vector<Model> models = load_models(file);
  const std::optional<Index> asked = chosen(models);
  const std::optional<Index> found = asked ? asked : best(models);
  const bool by_criteria =
      std::ranges::any_of(models, [](const Model& model) { return !model.chosen_by.empty(); });
  if (!found && models.size() > 1)
    throw InvalidArgument(fmt::format("{}: holds a path of {} models: want --step 0 to {}, {}", file,
                                      models.size(), models.size() - 1,
                                      by_criteria ? "--alpha, or --choose" : "or --alpha"));
  const Index place = found.value_or(0);
  const Model& model = models[static_cast<std::size_t>(place)];
  std::vector<std::string> names = choices(model);
  if (!choose.empty() && !is_step(choose)) names = {choose};
  if (!asked && model.best) names = {"best"};
  std::string words =
      models.size() > 1 ? fmt::format("step {} of 0 to {}", place, models.size() - 1) : "the fit";
  for (const std::string& choice : names) words += ", " + in_words(choice);
  return {model, place, words, warning_lines(warnings(models, static_cast<std::size_t>(place)))};
}

void take_rows_as_fitted(const Model& model, ReadOptions& options) {
  options.text_labels = !model.labels.empty();
  if (options.offset && !model.has_offset())
    throw InvalidArgument("offset: want none, as the model was fitted without, got " +
                          in_quotes(*options.offset));
  if (options.event && model.options.loss != "cox")
    throw InvalidArgument("event: want none, as the model was fitted without, got " +
                          in_quotes(*options.event));
  if (!options.event && !model.event_file.empty() && !options.target_optional)
    refuse_file_of_model("event", model.event_file);
  if (!options.event && !model.event_column.empty()) {
    options.event = model.event_column;
    options.event_from_model = true;
  }
  if (!options.offset && !model.offset_file.empty()) refuse_file_of_model("offset", model.offset_file);
  if (options.offset || model.offset_column.empty()) return;
  options.offset = model.offset_column;
  options.offset_from_model = true;
}

}  // namespace tyto::cli
