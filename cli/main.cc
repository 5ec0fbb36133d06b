#include <fmt/core.h>

#include <array>
#include <new>
#include <string>

#include "cli/commands.h"
#include "tyto/base/error.h"
#include "tyto/base/version.h"

namespace {

using tyto::cli::Command;

constexpr std::array<Command, 7> kCommands{{
    {"fit", "Fit one model at one strength", tyto::cli::define_fit},
    {"path", "Fit models along a grid of strengths", tyto::cli::define_path},
    {"cv", "Choose the strength by cross-validation", tyto::cli::define_cv},
    {"predict", "Predict with a model; where the data has a response, also say how good that is",
     tyto::cli::define_predict},
    {"verify", "Recompute the certificate of a model from the files alone", tyto::cli::define_verify},
    {"simulate", "Write synthetic data with groups of correlated features", tyto::cli::define_simulate},
    {"reproduce", "Run the experiments of the paper again: tables, CSV and figures",
     tyto::cli::define_reproduce},
}};

// One line, whatever the message holds.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return text;
}

int mistake(const std::string& message) {
  fmt::print(stderr, "tyto: {}\n", one_line(message));
  return tyto::cli::kMistake;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Tyto: OWL regression (OSCAR, SLOPE, lasso, L-infinity) with safe screening.\n"
      "Every answer carries a certificate of how far from optimal it can be.\n",
      "tyto");
  app.set_version_flag("--version", std::string("tyto ") + tyto::version());
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  tyto simulate --output data.csv          made-up data with groups of correlated features\n"
      "  tyto fit data.csv --model model.json     fit it\n"
      "  tyto path data.csv --model path.json     fit it at a hundred strengths\n"
      "  tyto cv data.csv --model cv.json         and choose among them by cross-validation\n"
      "  tyto predict model.json data.csv         use the model\n"
      "  tyto verify model.json data.csv          check its certificate\n"
      "'tyto COMMAND --help' lists the options of a command.");
  std::function<int()> run;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->get_formatter()->column_width(34);
    sub->callback([&run, action = command.define(*sub)] { run = action; });
  }
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    const auto unknown = app.remaining();
    const std::string what = commands.empty() && !unknown.empty() ? "unknown command '" + unknown[0] + "'"
                                                                  : std::string(error.what());
    const std::string of = commands.empty() ? "" : " " + commands[0]->get_name();
    return mistake(what + "; 'tyto" + of + " --help' lists what there is");
  } catch (const tyto::InvalidArgument& error) {
    return mistake(error.what());
  } catch (const tyto::DataError& error) {
    return mistake(error.what());
  } catch (const std::bad_alloc&) {
    return mistake("out of memory: the data does not fit");
  } catch (const std::exception& error) {
    return mistake(error.what());
  }
}
