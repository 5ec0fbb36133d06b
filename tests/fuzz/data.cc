// Data files into a fit, and its model into verify. The first byte says which format and which options.
#include <array>

#include "tests/fuzz/commands.h"

namespace {

constexpr std::array<const char*, 4> kNames{"data.csv", "data.svm", "data.npy", "data.mtx"};
constexpr std::array<const char*, 4> kFormats{"csv", "libsvm", "npy", "mtx"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyto::fuzz;
  if (size == 0) return 0;
  enter_folder();
  const unsigned choice = data[0];
  const std::string name = kNames[choice % 4];
  write(name.c_str(), bytes(data + 1, size - 1));
  std::vector<std::string> reading{name, "--format", kFormats[choice % 4]};
  if (choice % 4 == 3) {
    write("y.txt", "1\n2.5\n-1\n");
    reading.insert(reading.end(), {"--target", "y.txt"});
  }
  if ((choice & 4) != 0) reading.insert(reading.end(), {"--missing", "drop-rows"});
  std::vector<std::string> fit{"fit"};
  fit.insert(fit.end(), reading.begin(), reading.end());
  fit.insert(fit.end(),
             {"--model", "model.json", "--max-epochs", "50", "--max-seconds", "1", "--threads", "1"});
  if ((choice & 8) != 0) fit.emplace_back("--no-standardize");
  if ((choice & 16) != 0) fit.emplace_back("--no-intercept");
  if ((choice & 32) != 0) fit.insert(fit.end(), {"--unpenalized", "0"});
  if ((choice & 64) != 0) fit.insert(fit.end(), {"--strength", "0.001"});
  if (run(fit) == 2) return 0;
  std::vector<std::string> verify{"verify", "model.json"};
  verify.insert(verify.end(), reading.begin(), reading.end());
  run(verify);
  return 0;
}
