#include "cli/reproduce/environment.h"

#include <sys/utsname.h>
#include <tyto_commit.h>

#include <fstream>
#include <thread>

#include "tyto/base/version.h"

namespace tyto::cli {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
  return "unknown processor";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown compiler";
#endif
}

}  // namespace

Environment environment() {
  utsname names{};
  const bool known = uname(&names) == 0;
  return {
      processor(), compiler(),  known ? std::string(names.sysname) + " " + names.machine : "unknown system",
      version(),   TYTO_COMMIT, std::thread::hardware_concurrency()};
}

}  // namespace tyto::cli
