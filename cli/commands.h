#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tyto::cli {

// Exit codes that others rely on.
constexpr int kDone = 0, kNotConverged = 1, kMistake = 2, kInterrupted = 130;

// One subcommand: adds its options to `app`, and returns what to run once they are parsed (it gives the exit
// code).
struct Command {
  const char* name;
  const char* summary;
  std::function<int()> (*define)(CLI::App& app);
};

std::function<int()> define_fit(CLI::App& app);
std::function<int()> define_path(CLI::App& app);
std::function<int()> define_cv(CLI::App& app);
std::function<int()> define_convert(CLI::App& app);
std::function<int()> define_moments(CLI::App& app);
std::function<int()> define_merge(CLI::App& app);
std::function<int()> define_coef(CLI::App& app);
std::function<int()> define_predict(CLI::App& app);
std::function<int()> define_verify(CLI::App& app);
std::function<int()> define_simulate(CLI::App& app);
std::function<int()> define_reproduce(CLI::App& app);
std::function<int()> define_completion(CLI::App& app);

}  // namespace tyto::cli
