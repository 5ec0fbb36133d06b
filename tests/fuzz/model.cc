// Models, paths and cross-validations into the commands that read them, with the data that they were fitted
// on.
#include "tests/fuzz/commands.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return tyto::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyto::fuzz;
  enter_folder();
  write("model.json", bytes(data, size));
  run({"verify", "model.json", "data.csv", "--json", "found.json"});
  run({"verify", "model.json", "data.csv", "--quiet", "--step", "1"});
  run({"verify", "model.json", "data.csv", "--quiet", "--observation-weights", "v.txt"});
  run({"predict", "model.json", "data.csv", "--output", "out.csv", "--json", "errors.json"});
  run({"predict", "model.json", "data.csv", "--output", "out.csv", "--choose", "one-se"});
  return 0;
}
