#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tyto/columns/stored_type.h"
#include "tyto/data/dataset.h"

namespace tyto {

struct ConvertOptions {
  ReadOptions reading = {};
  std::string output;
  Index memory = 0;  // bytes: rows are read in blocks, twice, and written in tiles; 0: all data at once
  // Called now and then with what is done and how many rows it has done; false: stop, to go on another time.
  std::function<bool(const char* what, Index rows)> progress = nullptr;
};

struct Converted {
  StoredType type = StoredType::kDouble;
  Index rows = 0, cols = 0, missing = 0, dropped = 0;
  std::uint64_t bytes = 0;   // of the file
  Index resumed = 0;         // rows that an earlier run had written
  bool interrupted = false;  // by `progress`
  std::vector<std::string> warnings = {};
};

// Writes data of any format as a .tyto file: columns, in the narrowest type that holds all of them exactly.
// The file is made under a temporary name, "output.part", and takes its place when it is complete. A run that
// was killed leaves that behind: where rows are read in blocks, the same call goes on after the last tile.
// After any other fault nothing is left. Throws DataError and InvalidArgument as read() does.
Converted convert(const std::vector<std::string>& files, const ConvertOptions& options);

}  // namespace tyto
