#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tyto/columns/columns.h"
#include "tyto/columns/stored_type.h"

namespace tyto {

// Where the columns of a matrix lie in a file: column j begins at byte offset + j * stride.
struct ColumnFile {
  std::string path;
  StoredType type = StoredType::kDouble;
  Index rows = 0, cols = 0;
  std::uint64_t offset = 0;          // of the first column
  Index stride = 0;                  // bytes from one column to the next, at least column_bytes(type, rows)
  std::vector<double> filling = {};  // of each column, as in StoredView
  std::vector<std::uint64_t> checksums = {};  // of the bytes of each column, where they are known
};

// The file is mapped, and nothing is copied: for data that fits into memory beside everything else. A file
// that is cut while it is in use ends the program, as with every mapping.
std::shared_ptr<const Columns> map_columns(ColumnFile file);

// Columns are read when they are wanted, and ahead of that by Columns::expect, into `memory_bytes` of memory,
// where those stay that are wanted most. A file that changes or ends early is a DataError. The same bits as
// from map_columns, whatever the memory. Throws InvalidArgument where the memory is too little, and says how
// much would do.
std::shared_ptr<const Columns> read_columns(ColumnFile file, Index memory_bytes);
// What read_columns needs at least.
Index least_memory(const ColumnFile& file);

// For a computation that may use so many bytes, for columns and for all else: read_columns with what vectors
// and working sets leave of them. Where `memory_bytes` is 0, map_columns. Throws InvalidArgument where it is
// too little, and says how much would do.
std::shared_ptr<const Columns> open_columns(ColumnFile file, Index memory_bytes);

}  // namespace tyto
