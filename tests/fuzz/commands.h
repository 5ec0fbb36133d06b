#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the fuzz targets share: the program's main in this process, in a folder of its own.
namespace tyto::fuzz {

using Bytes = std::string_view;
inline Bytes bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Makes a folder, in memory where that is possible, with data.csv of this folder and weights of its rows,
// v.txt, in it, and goes there. At the first call; later ones do nothing. It is removed at the end of the
// process.
void enter_folder();
void write(const char* name, Bytes contents);

// Runs `tyto args...` and returns its exit code. Aborts unless that is 0, 1 or 2.
int run(const std::vector<std::string>& args);

// A change of a JSON text that mostly leaves it JSON: values replaced, removed, doubled or exchanged. For
// LLVMFuzzerCustomMutator.
std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace tyto::fuzz
