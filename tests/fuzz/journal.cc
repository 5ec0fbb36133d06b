// The journal of the paper's experiments into the page that is drawn from it.
#include <filesystem>

#include "tests/fuzz/commands.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyto::fuzz;
  enter_folder();
  std::filesystem::create_directory("runs");
  write("runs/runs.jsonl", bytes(data, size));
  run({"reproduce", "--output", "runs", "--redraw", "--quiet"});
  return 0;
}
