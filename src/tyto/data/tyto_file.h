#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/columns/column_file.h"
#include "tyto/data/dataset.h"

namespace tyto {

// A .tyto file: a block of kTytoBlock bytes that says where the description is, the columns, the description.
// docs/formats.md has it byte by byte.
inline constexpr std::string_view kTytoMagic{"\x89tyto\r\n\x1a", 8};
inline constexpr std::string_view kTytoPartMagic{"\x89typt\r\n\x1a", 8};  // of a file that is being written
inline constexpr std::uint32_t kTytoVersion = 1;
inline constexpr Index kTytoBlock = 4096;

// What a .tyto file holds. Vectors of the rows are empty where there is nothing of the kind.
struct TytoDescription {
  ColumnFile columns;           // where they are; fillings and checksums included
  Dataset about;                // response, weights, offset, events and all names; no design
  Vector mean, norm;            // of each column: of what is there, and of its deviations from that
  std::vector<double> missing;  // of each column, how many entries
};

// Bytes from one column to the next: whole blocks of the disk where that adds little.
Index tyto_stride(StoredType type, Index rows);

// The description as bytes, to stand at `place` in the file, and the first block of that file.
std::string tyto_description_bytes(const TytoDescription& description);
std::string tyto_first_block(std::uint64_t place, std::string_view description);

// Throws DataError where the file is damaged or not complete.
TytoDescription read_tyto_description(const std::string& path);

}  // namespace tyto
