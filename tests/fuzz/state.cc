// States of a cross-validation into the run that goes on from them.
#include "tests/fuzz/commands.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return tyto::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyto::fuzz;
  enter_folder();
  write("state.json", bytes(data, size));
  run({"cv", "data.csv", "--resume", "state.json", "--folds", "3", "--steps", "3", "--threads", "1",
       "--model", "model.json"});
  return 0;
}
