#pragma once

#include <gtest/gtest.h>

#include <filesystem>

namespace tyto {

std::filesystem::path data_folder();  // of the real data sets: TYTO_DATA, or shared/data beside the project

}  // namespace tyto

// A clone does not have the sets: tests that need one skip, and say so.
#define TYTO_SKIP_WITHOUT_DATA(set)                          \
  if (!std::filesystem::exists(tyto::data_folder() / (set))) \
  GTEST_SKIP() << "no " << (set) << " in " << tyto::data_folder() << "; set TYTO_DATA"
