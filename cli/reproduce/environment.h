#pragma once

#include <string>

namespace tyto::cli {

// What figures were made with.
struct Environment {
  std::string processor, compiler, system, version, commit;
  unsigned cores;
};
Environment environment();

}  // namespace tyto::cli
