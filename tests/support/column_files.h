#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tyto/columns/column_file.h"

namespace tyto {

// Columns of random numbers of a type, in memory and in a file: between other bytes, and with gaps.
struct StoredExample {
  StoredExample(StoredType type, Index rows, Index cols, Index gap = 0);

  std::shared_ptr<const Columns> in_memory() const;

  TempDir folder;
  std::vector<std::byte> bytes;  // of the file
  ColumnFile file;
};

}  // namespace tyto
