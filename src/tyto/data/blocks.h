#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto {

// What to do with the rows of files that are read a block at a time.
struct BlockPlan {
  // Of a block, for so many columns, the response included.
  std::function<Index(Index columns, bool sparse)> rows;
  std::function<void(Dataset&&)> sink;  // takes the blocks in the order of the files
};

// Reads files as read() does, and keeps one block of rows in memory. Files are CSV, LIBSVM (read twice: once
// for the number of its columns, unless that is given; sparse where few entries are not 0) and .npy in C
// order. Weights and offset are columns of the data. Throws as read() does.
void read_blocks(const std::vector<std::string>& files, const ReadOptions& options, const BlockPlan& plan);

}  // namespace tyto
