#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <new>
#include <sstream>
#include <string>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/outputs.h"
#include "cli/spelling.h"
#include "tyto/base/error.h"
#include "tyto/base/version.h"
#include "tyto/data/text.h"

namespace {

using tyto::cli::Command;

constexpr std::array<Command, 12> kCommands{{
    {"fit", "Fit one model at one strength", tyto::cli::define_fit},
    {"path", "Fit models along a grid of strengths", tyto::cli::define_path},
    {"cv", "Choose the strength by cross-validation", tyto::cli::define_cv},
    {"convert", "Write data as a file of columns, from which models are fitted in place",
     tyto::cli::define_convert},
    {"moments", "Sum the rows of data of any length, to fit models later", tyto::cli::define_moments},
    {"merge", "Add moments of further rows", tyto::cli::define_merge},
    {"coef", "Print or export the coefficients of a model", tyto::cli::define_coef},
    {"predict", "Predict with a model; where the data has a response, also say how good that is",
     tyto::cli::define_predict},
    {"verify", "Recompute the certificate of a model from the files alone", tyto::cli::define_verify},
    {"simulate", "Write synthetic data with groups of correlated features", tyto::cli::define_simulate},
    {"reproduce", "Run the experiments of the paper again: tables, CSV and figures",
     tyto::cli::define_reproduce},
    {"completion", "Print completion for a shell, or the manual page", tyto::cli::define_completion},
}};

// One line, whatever the message holds: file names, options and names of columns come from outside.
int mistake(const std::string& message) {
  tyto::cli::print(stderr, "tyto: " + tyto::printable(message) + "\n");
  return tyto::cli::kMistake;
}

// Where a standard stream is closed, the first file that is opened would take its place, and a message would
// be written into it. Reading and writing fail instead.
void reserve_standard_streams() {
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::dup(fd)) {
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    return;
  }
}

// Vectors as long as X is wide are made and freed in every fit. By default the C library returns such memory
// to the system and asks for it again; after one larger block was freed, it keeps it (mallopt(3)).
void keep_memory() {
  constexpr std::size_t kBytes = 30 << 20;  // the C library learns from no block above 32 MB
  char* volatile block = new char[kBytes];
  delete[] block;
}

// Help and version, by the parser.
int show(const CLI::App& app, const CLI::Success& success) {
  std::ostringstream out;
  const int code = app.exit(success, out, out);
  tyto::cli::print(stdout, out.str());
  tyto::cli::flush_output();
  return code;
}

// As the system ends a program whose reader has gone, once temporary files are removed.
int end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return tyto::cli::kMistake;
}

// The exit code of a command, or of the mistake that ended it.
int guarded(CLI::App& app, const std::vector<std::string>& arguments, const std::function<int()>& run) {
  try {
    try {
      app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // the last one first
    } catch (const CLI::Success& success) {
      return show(app, success);
    }
    const int code = run();
    tyto::cli::flush_output();
    return code;
  } catch (const CLI::ParseError& error) {
    return mistake(tyto::cli::refusal(app, error, arguments));
  } catch (const tyto::cli::OutputClosed&) {
    return end_by_closed_pipe();
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

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_streams();
  keep_memory();
  std::signal(SIGPIPE, SIG_IGN);
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
      "  tyto coef cv.json                        the coefficients of the best of them\n"
      "  tyto predict model.json data.csv         use the model\n"
      "  tyto verify model.json data.csv          check its certificate\n"
      "'tyto COMMAND --help' lists the options of a command.");
  app.formatter(tyto::cli::help_formatter());
  std::function<int()> run;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary)->group("Commands");
    sub->callback([&run, action = command.define(*sub)] { run = action; });
  }
  return guarded(app, tyto::cli::respelled(app, {argv + 1, argv + argc}), run);
}
