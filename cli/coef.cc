#include <fmt/core.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/args.h"
#include "cli/coefficients.h"
#include "cli/commands.h"
#include "cli/model_args.h"
#include "cli/regression_args.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

constexpr std::size_t kShown = 30;

struct CoefArgs {
  ModelArgs model;
  std::string output, json;
  bool all = false, quiet = false;
};

std::string summary(const ChosenModel& chosen, std::size_t most) {
  const Model& model = chosen.model;
  std::string text = fmt::format(
      "{}: alpha {:.7g}, {}\n"
      "{}, in {} clusters\n",
      chosen.in_words, model.alpha, intercepts_in_words(model), count_in_words(model), model.clusters());
  if (model.relaxed)
    text += fmt::format("relaxed: gamma {:.6g} between least squares on the clusters (0) and the fit (1)\n",
                        model.relaxed->gamma);
  if (model.status != "converged")
    text += fmt::format("warning: the fit is not finished: {}, relative gap {:.2g}\n",
                        printable(model.status), model.relative_gap);
  return text + chosen.warnings + coefficient_table(model, most);
}

std::string to_json(const ChosenModel& chosen) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(tyto::to_json(chosen.model));
  json["format"] = "tyto-coefficients-1";
  json["chosen"] = chosen.in_words;
  json["step"] = chosen.step;
  return json.dump(1) + "\n";
}

int run(const CoefArgs& args) {
  check_outputs({args.output, args.json}, {args.model.file});
  const ChosenModel chosen = args.model.load();
  Outputs outputs;
  outputs.add(args.output, coefficients_csv(chosen.model));
  if (!args.json.empty()) outputs.add(args.json, to_json(chosen));
  const std::size_t most = args.all ? std::numeric_limits<std::size_t>::max() : kShown;
  if (!args.quiet) outputs.add_summary(summary(chosen, most));
  outputs.commit();
  return kDone;
}

}  // namespace

std::function<int()> define_coef(CLI::App& app) {
  auto args = std::make_shared<CoefArgs>();
  args->model.add(app);
  app.add_option(
      "--output", args->output,
      "Write the non-zero coefficients as CSV: column,name,coefficient,cluster, and class first of "
      "several; - is standard output");
  app.add_option("--json", args->json, "Write the one model as JSON");
  app.add_flag("--all", args->all, fmt::format("Print all of them [the {} strongest]", kShown));
  app.add_flag("--quiet", args->quiet, "No table");
  app.footer(
      "Example:\n  tyto coef cv.json                       the best model by cross-validation\n"
      "  tyto coef cv.json --choose one-se --output coefficients.csv\n"
      "  tyto coef path.json --step 40 --all");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
