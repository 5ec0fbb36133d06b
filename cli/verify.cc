#include "tyto/verify/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/model_args.h"
#include "tyto/base/error.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

struct VerifyArgs {
  ModelArgs model;
  std::string json;
  DataArgs data;
  bool quiet = false;
};

// A model beside what was found.
struct Checked {
  Index step;
  const Model& stated;
  Verification found;

  double relative() const { return found.primal > 0 ? found.gap / found.primal : found.gap; }
};

std::string numbers(const Checked& c) {
  const std::string relaxed =
      c.found.relaxed_error ? ",\"relaxed_error\":" + json_number(*c.found.relaxed_error) : "";
  return fmt::format(
      "\"holds\":{},\"primal\":{},\"dual\":{},\"gap\":{},\"relative_gap\":{},\"claimed_primal\":{},"
      "\"claimed_gap\":{},\"claimed_rounding\":{}{}",
      c.found.holds, json_number(c.found.primal), json_number(c.found.dual), json_number(c.found.gap),
      json_number(c.relative()), c.found.claimed_primal, c.found.claimed_gap, c.found.claimed_rounding,
      relaxed);
}

std::string to_json(const std::vector<Checked>& all, bool path, bool holds) {
  if (!path) return fmt::format("{{\"format\":\"tyto-verification-1\",{}}}\n", numbers(all.front()));
  std::string text = fmt::format("{{\"format\":\"tyto-path-verification-1\",\"holds\":{},\"fits\":[", holds);
  for (const Checked& c : all)
    text += fmt::format("{}\n {{\"step\":{},\"alpha\":{},{}}}", &c == &all.front() ? "" : ",", c.step,
                        c.stated.alpha, numbers(c));
  return text + "\n]}\n";
}

std::string verdict(const Checked& c) {
  return c.found.holds ? "the certificate holds"
                       : "the certificate does not hold: " + printable(c.found.reason);
}

std::string summary(const Checked& c) {
  return fmt::format(
      "{}\n  recomputed: objective {:.12g}, gap {:.3g} (relative {:.3g})\n"
      "  stated:     objective {:.12g}, gap {:.3g} (relative {:.3g}), rounding {:.3g}\n{}{}",
      verdict(c), c.found.primal, c.found.gap, c.relative(), c.found.claimed_primal, c.found.claimed_gap,
      c.stated.relative_gap, c.found.claimed_rounding,
      c.found.relaxed_error
          ? fmt::format("  relaxed:    normal equations of the pattern to {:.2g}\n", *c.found.relaxed_error)
          : "",
      c.stated.status == "converged"
          ? ""
          : "the fit itself stopped before its tolerance: " + printable(c.stated.status) + "\n");
}

std::string summary(const std::vector<Checked>& all) {
  const auto holding = std::ranges::count_if(all, [](const Checked& c) { return c.found.holds; });
  const auto worst = std::ranges::max_element(all, {}, &Checked::relative);
  std::string text = fmt::format("{} of {} certificates hold; largest relative gap {:.3g}, at step {}\n",
                                 holding, all.size(), worst->relative(), worst->step);
  for (const Checked& c : all)
    if (!c.found.holds || c.stated.status != "converged")
      text += fmt::format("step {}, alpha {:.7g}: {}", c.step, c.stated.alpha, summary(c));
  return text;
}

// Why the exit code is not 0.
std::string reason(const std::vector<Checked>& all) {
  const auto fails = [](const Checked& c) { return !c.found.holds; };
  const Checked& first = *std::ranges::find_if(all, fails);
  if (all.size() == 1) return verdict(first);
  return fmt::format("{} of {} certificates do not hold; step {}: {}", std::ranges::count_if(all, fails),
                     all.size(), first.step, verdict(first));
}

ReadOptions as_fitted(const Model& model, ReadOptions options) {
  if (!options.response && !model.response_file.empty())
    refuse_file_of_model("response", model.response_file);
  if (const std::string& target = model.target.empty() ? model.response_name : model.target;
      !options.target && !target.empty()) {
    options.target = target;
    options.target_from_model = true;
  }
  if (options.drop.empty()) options.drop = model.dropped;
  if (!options.weights && !model.weights_file.empty())
    refuse_file_of_model("observation-weights", model.weights_file);
  if (!options.weights && !model.weights_column.empty()) {
    options.weights = model.weights_column;
    options.weights_from_model = true;
  }
  take_rows_as_fitted(model, options);
  if (options.header == Header::kAuto && model.response_file.empty())
    options.header = model.response_name.empty() ? Header::kNo : Header::kYes;
  options.missing = model.missing;
  options.one_hot = model.one_hot;
  options.features = model.p;
  return options;
}

int run(const VerifyArgs& args) {
  check_outputs({args.json}, args.data.inputs({args.model.file}));
  const std::vector<Model> models = load_models(args.model.file);
  const std::optional<Index> chosen = args.model.chosen(models);
  const Model& first = models.front();
  if (!args.data.observation_weights.empty() && first.weights_column.empty() && first.weights_file.empty())
    throw InvalidArgument("observation-weights: want none, as the model was fitted without, got '" +
                          args.data.observation_weights + "'");
  const Dataset data = args.data.read(as_fitted(models.front(), args.data.options()));
  std::vector<Checked> all;
  Index step = chosen.value_or(0);
  for (Verification& found : verify(args.model.file, data, chosen)) {
    all.push_back({step, models.at(static_cast<std::size_t>(step)), std::move(found)});
    ++step;
  }
  const bool holds = std::ranges::all_of(all, [](const Checked& c) { return c.found.holds; });
  const bool path = all.size() > 1;
  Outputs outputs;
  if (!args.json.empty()) outputs.add(args.json, to_json(all, path, holds));
  if (!args.quiet) {
    outputs.add_summary(path ? summary(all) : summary(all.front()));
    if (data.filled > 0)
      outputs.add_summary(
          fmt::format("{} counted as the mean of their columns\n", count_of(data.filled, "missing value")));
  }
  outputs.commit();
  if (args.quiet && !holds) say(reason(all));
  return holds ? kDone : kNotConverged;
}

}  // namespace

std::function<int()> define_verify(CLI::App& app) {
  auto args = std::make_shared<VerifyArgs>();
  args->model.add(app);
  app.get_option("--choose")
      ->description(
          "The one strength that is checked [all]: of a model of 'tyto cv' best or one-se, of 'tyto path "
          "--choose' aic, bic or cp; of either a step, as --step");
  args->data.add(app);
  args->data.add_memory(app);
  args->data.add_observation_weights(app);
  args->data.add_offset(app);
  args->data.add_event(app);
  app.add_option("--json", args->json, "Write what was found as JSON");
  app.add_flag("--quiet", args->quiet, "No summary; where the exit code is 1, only why");
  app.footer(
      "Reads the data that the model was fitted on and computes objective, dual and gap again, with none of "
      "the\n"
      "solver's code. Of a path or a cross-validation all strengths, or the one that --choose, --step or "
      "--alpha names. Exit code 1 where "
      "the certificate does not hold. Example:\n  tyto verify model.json "
      "data.csv");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
