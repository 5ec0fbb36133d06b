#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/atomic_file.h"

namespace tyto::cli {

// Text for people, on standard output or standard error: the only way there. What a terminal would act on is
// escaped; text from outside in which a line end would mislead has to be printable() when it is put in.
// Throws DataError where standard output cannot be written.
void print(std::FILE* to, std::string_view text);
void flush_output();  // standard output; throws DataError where it cannot be written

// Nobody reads standard output any more: the program ends as the system would end it, but cleans up first.
struct OutputClosed : std::runtime_error {
  OutputClosed() : std::runtime_error("standard output: nobody reads it") {}
};

// The results of a command, written all or none. A name "-" is standard output. The summary is printed with
// them, so that a full disk behind standard output leaves the old files as well.
class Outputs {
 public:
  void add(const std::string& path, std::string_view text);  // to a temporary name; nothing where path is ""
  // On standard output, or on standard error where a result goes to standard output.
  void add_summary(std::string_view text);
  void commit();

 private:
  AtomicFiles files_;
  bool standard_output_is_taken_ = false;
  std::string result_, summary_;  // for standard output; as it is, unless that is a terminal
};

void write_output(const std::string& path, std::string_view text);  // one result

// Says before the work begins that a result could not be written, or that one would replace another. Throws
// DataError or InvalidArgument; an empty path is no output.
void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs = {});

}  // namespace tyto::cli
