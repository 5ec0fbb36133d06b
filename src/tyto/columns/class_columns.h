#pragma once

#include <memory>

#include "tyto/columns/columns.h"

namespace tyto {

// The same columns once for each of `classes` classes, as a block diagonal matrix, and nothing is copied:
// n classes x p classes. Number j classes + c is column j in the rows of class c, which are c n to c n + n
// - 1. The classes of a column stand side by side, so that a block of them reads it from memory once.
//
// Maps and roots of copy_block, and weights of moments, are those of the n rows of a class: a column is 0 in
// the rows of other classes, whatever its map.
std::shared_ptr<const Columns> class_columns(std::shared_ptr<const Columns> base, Index classes);

}  // namespace tyto
