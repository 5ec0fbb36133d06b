#include "tests/support/real_data.h"

#include <cstdlib>

namespace tyto {

std::filesystem::path data_folder() {
  const char* folder = std::getenv("TYTO_DATA");
  return folder != nullptr ? folder : TYTO_SOURCE_DIR "/../shared/data";
}

}  // namespace tyto
