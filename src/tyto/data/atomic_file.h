#pragma once

#include <string>
#include <string_view>

namespace tyto {

// Replaces the file as a whole: a reader, or a crash in between, meets the old contents or the new ones. A
// symbolic link stays, and what it points to is replaced. What is no regular file (/dev/stdout, a pipe) is
// written to directly. Throws DataError "path: cannot write: reason".
void write_atomically(const std::string& path, std::string_view contents);

// The contents of a file. Throws DataError "path: cannot read: reason".
std::string read_whole(const std::string& path);

}  // namespace tyto
