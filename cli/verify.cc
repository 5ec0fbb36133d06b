#include "tyto/verify/verify.h"

#include <fmt/core.h>

#include <memory>

#include "cli/args.h"
#include "cli/commands.h"
#include "tyto/select/model.h"

namespace tyto::cli {
namespace {

struct VerifyArgs {
  std::string model, json;
  DataArgs data;
  bool quiet = false;
};

int run(const VerifyArgs& args) {
  check_outputs({args.json}, args.data.inputs({args.model}));
  const Model model = load_model(args.model);
  ReadOptions options = args.data.options();
  if (!options.target && !model.target.empty()) options.target = model.target;
  if (options.drop.empty()) options.drop = model.dropped;
  if (model.missing_dropped) options.missing = Missing::kDropRows;
  options.features = model.p;
  const Verification found = verify(args.model, args.data.read(options));
  const double relative = found.primal > 0 ? found.gap / found.primal : found.gap;
  if (!args.json.empty())
    write_output(args.json,
                 fmt::format("{{\"format\":\"tyto-verification-1\",\"holds\":{},\"primal\":{},\"dual\":{},"
                             "\"gap\":{},\"relative_gap\":{},\"claimed_primal\":{},\"claimed_gap\":{}}}\n",
                             found.holds, found.primal, found.dual, found.gap, relative, found.claimed_primal,
                             found.claimed_gap));
  if (!args.quiet)
    fmt::print(args.json == "-" ? stderr : stdout,
               "{}\n  recomputed: objective {:.12g}, gap {:.3g} (relative {:.3g})\n"
               "  stated:     objective {:.12g}, gap {:.3g} (relative {:.3g})\n{}",
               found.holds ? "the certificate holds" : "the certificate does not hold: " + found.reason,
               found.primal, found.gap, relative, found.claimed_primal, found.claimed_gap, model.relative_gap,
               model.status == "converged"
                   ? ""
                   : "the fit itself stopped before its tolerance: " + model.status + "\n");
  return found.holds ? kDone : kNotConverged;
}

}  // namespace

std::function<int()> define_verify(CLI::App& app) {
  auto args = std::make_shared<VerifyArgs>();
  app.add_option("MODEL", args->model, "Model file that 'tyto fit --model' wrote")->required();
  args->data.add(app);
  app.add_option("--json", args->json, "Write what was found as JSON");
  app.add_flag("--quiet", args->quiet, "No summary");
  app.footer(
      "Reads the data that the model was fitted on and computes objective, dual and gap again, with none of "
      "the\n"
      "solver's code. Exit code 1 where the certificate does not hold. Example:\n  tyto verify model.json "
      "data.csv");
  return [args] { return run(*args); };
}

}  // namespace tyto::cli
