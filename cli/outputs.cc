#include "cli/outputs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

void fail_output() {
  if (errno == EPIPE) throw OutputClosed();
  throw DataError("standard output: cannot write: " + std::generic_category().message(errno));
}

void write_to(std::FILE* to, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() && to == stdout) fail_output();
}

void check_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw DataError(path + ": cannot write: it is a folder");
  if (!std::filesystem::is_directory(folder, ignored))
    throw DataError(path + ": cannot write: no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0 && access(path.c_str(), W_OK) != 0)
    throw DataError(path + ": cannot write: no permission for folder " + folder.string());
}

}  // namespace

void print(std::FILE* to, std::string_view text) { write_to(to, printable_lines(text)); }

void flush_output() {
  if (std::fflush(stdout) != 0) fail_output();
}

void Outputs::add(const std::string& path, std::string_view text) {
  if (path.empty()) return;
  if (path != "-") return files_.add(path, text);
  standard_output_is_taken_ = true;
  result_ = text;
}

void Outputs::add_summary(std::string_view text) { summary_ += text; }

void Outputs::commit() {
  files_.write_others();
  if (::isatty(STDOUT_FILENO) != 0)
    print(stdout, result_);
  else
    write_to(stdout, result_);
  if (!standard_output_is_taken_) print(stdout, summary_);
  flush_output();
  files_.commit();
  if (standard_output_is_taken_) print(stderr, summary_);
}

void write_output(const std::string& path, std::string_view text) {
  Outputs outputs;
  outputs.add(path, text);
  outputs.commit();
}

void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  std::vector<std::filesystem::path> places;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    check_writable(path);
    std::error_code ignored;
    for (const std::string& input : inputs)
      if (std::filesystem::is_regular_file(input, ignored) &&
          std::filesystem::equivalent(path, input, ignored))
        throw InvalidArgument("output: want another file than the input '" + input + "'");
    const std::filesystem::path place =
        path == "-" ? std::filesystem::path(path)
                    : std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
    if (std::ranges::find(places, place) != places.end())
      throw InvalidArgument("output: want one place for each result, got '" + path + "' twice");
    places.push_back(place);
  }
}

}  // namespace tyto::cli
