#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/outputs.h"
#include "tyto/base/names.h"
#include "tyto/data/dataset.h"

namespace tyto::cli {

// How data is read: the options that fit, predict and verify share.
struct DataArgs {
  std::vector<std::string> files;
  std::string target, response, observation_weights, offset, event, format, header = "auto", decimal = "auto";
  std::string missing;
  std::vector<std::string> drop, one_hot;
  std::string memory;  // "1G"; empty: no limit

  void add(CLI::App& app);
  void add_observation_weights(CLI::App& app);
  void add_offset(CLI::App& app);
  void add_event(CLI::App& app);
  ReadOptions options() const;
  std::vector<std::string> paths() const;  // of the files; "-" is standard input
  std::vector<std::string> inputs(std::vector<std::string> others) const;  // all files that are read
  Dataset read(const ReadOptions& options) const;
  // Whether columns stay in the files, which --memory is about then.
  bool by_columns() const;
  void add_memory(CLI::App& app);  // for commands that only take files of columns so
};

// "1G", "512M", "1.5g", a number of bytes. Throws InvalidArgument.
std::size_t parse_memory(const std::string& text);

// These options refuse what their parser would wrap or cut short: -1, 99999999999999999999.
void want_whole_numbers(CLI::App& app, std::initializer_list<const char*> options);

void say(const std::string& sentence);  // standard error: "tyto: ...", in one line
// The same for each of them, as "tyto: warning: ...".
void print_warnings(const std::vector<std::string>& warnings);

// As JSON, which has no infinity and no NaN: they are null.
std::string json_number(double value);

// A file with one number in each line; `what` they are, for messages. Throws DataError or InvalidArgument.
Vector read_column(const std::string& path, const std::string& what);

}  // namespace tyto::cli
