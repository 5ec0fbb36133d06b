#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto::cli {

// How data is read: the options that fit, predict and verify share.
struct DataArgs {
  std::vector<std::string> files;
  std::string target, observation_weights, format, missing = "refuse";
  std::vector<std::string> drop;

  void add(CLI::App& app);
  void add_observation_weights(CLI::App& app);
  ReadOptions options() const;
  std::vector<std::string> inputs(std::vector<std::string> others) const;  // all files that are read
  Dataset read(const ReadOptions& options) const;  // of the files; "-" is standard input
};

// These options refuse what their parser would wrap or cut short: -1, 99999999999999999999.
void want_whole_numbers(CLI::App& app, std::initializer_list<const char*> options);

std::string joined(const std::vector<std::string>& names);  // "a, b, c"

// A file with one number in each line; `what` they are, for messages. Throws DataError or InvalidArgument.
Vector read_column(const std::string& path, const std::string& what);

// Output goes to a file, as a whole or not at all, or to standard output where the name is "-".
void write_output(const std::string& path, std::string_view text);
// Says before the work begins that a result could not be written, or that one would replace another. Throws
// DataError or InvalidArgument; an empty path is no output.
void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs = {});

}  // namespace tyto::cli
