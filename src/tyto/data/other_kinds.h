#pragma once

#include <string>
#include <string_view>

namespace tyto {

// Files that are known and not read: Parquet, HDF5, workbooks and others. Throws DataError, which says what
// it is and what to do; returns for all others. `beginning`: the first 64 KiB, decompressed.
void refuse_other_kinds(const std::string& name, std::string_view beginning);
// The same for a folder.
[[noreturn]] void refuse_folder(const std::string& name);

}  // namespace tyto
