// What makes models, or the choice among them, doubtful, in words.
#include <fmt/core.h>

#include "tyto/select/model.h"

namespace tyto {
namespace {

constexpr const char* kFurther = "a smaller --ratio may do better";
constexpr const char* kOtherwise = "take Cp with a known --sigma, or 'tyto cv'";

std::string_view spelled(Criterion criterion) {
  if (criterion == Criterion::kCp) return "Cp";
  return criterion == Criterion::kAic ? "AIC" : "BIC";
}

// AIC and BIC rest on n log(RSS / n), which falls without end where the fit becomes perfect; Cp does not.
std::string doubt(const Model& model, const CriterionChoice& choice, bool last) {
  const std::string_view criterion = spelled(choice.criterion);
  const bool unbounded = choice.criterion != Criterion::kCp;
  if (unbounded && choice.near_saturation())
    return fmt::format(
        "{} chooses {}{:.4g} degrees of freedom for {:.6g} rows: the model nearly repeats the "
        "data, and {} says little; {}",
        criterion, last ? "the last strength, with " : "", choice.freedom, choice.rows, criterion,
        kOtherwise);
  if (unbounded && last && model.p >= model.n)
    return fmt::format(
        "{} chooses the last strength, and with {} features for {} rows it falls without end as "
        "the penalty does; {}",
        criterion, model.p, model.n, kOtherwise);
  return last ? fmt::format("{} chooses the last strength: {}", criterion, kFurther) : "";
}

}  // namespace

std::vector<std::string> warnings(const std::vector<Model>& models, std::size_t step) {
  const Model& model = models.at(step);
  const bool last = step > 0 && step + 1 == models.size();
  std::vector<std::string> result;
  if (model.best && last) result.push_back(fmt::format("the best is the last strength: {}", kFurther));
  for (const CriterionChoice& choice : model.chosen_by)
    if (std::string text = doubt(model, choice, last); !text.empty()) result.push_back(std::move(text));
  if (model.noise && !model.noise->settled())
    result.push_back(
        fmt::format("the estimate of the noise did not settle: {}. Give --sigma a number where the noise is "
                    "known, or choose the strength by 'tyto cv'",
                    explained(*model.noise->status)));
  return result;
}

std::vector<std::string> warnings(const std::vector<Model>& models) {
  std::vector<std::string> result;
  for (std::size_t step = 0; step < models.size(); ++step)
    for (std::string& text : warnings(models, step)) result.push_back(std::move(text));
  return result;
}

}  // namespace tyto
