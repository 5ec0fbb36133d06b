#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace tyto {

// The folder with the real data sets: TYTO_DATA, or where they lie beside the project.
inline std::filesystem::path data_folder() {
  const char* folder = std::getenv("TYTO_DATA");
  return folder != nullptr ? folder : TYTO_SOURCE_DIR "/../shared/data";
}

}  // namespace tyto

// A clone does not have the sets: tests that need one skip, and say so.
#define TYTO_SKIP_WITHOUT_DATA(set)                          \
  if (!std::filesystem::exists(tyto::data_folder() / (set))) \
  GTEST_SKIP() << "no " << (set) << " in " << tyto::data_folder() << "; set TYTO_DATA"
