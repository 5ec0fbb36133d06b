// States of a cross-validation into the run that goes on from them.
#include <string>

#include "tests/fuzz/commands.h"
#include "tyto/select/cv_state.h"

namespace {

// With the right checksum, where there is one: otherwise nothing but the checksum would be tested.
std::string sealed(std::string text) {
  const std::size_t end = text.rfind(",\n \"checksum\": ");
  return end == std::string::npos ? text : tyto::with_checksum(text.substr(0, end));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return tyto::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyto::fuzz;
  enter_folder();
  write("state.json", sealed(std::string(bytes(data, size))));
  run({"cv", "data.csv", "--resume", "state.json", "--folds", "3", "--steps", "3", "--threads", "1",
       "--model", "model.json"});
  return 0;
}
