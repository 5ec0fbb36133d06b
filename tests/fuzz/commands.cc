#include "tests/fuzz/commands.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

int tyto_main(int argc, char** argv);

namespace tyto::fuzz {
namespace {

constexpr int kRows = 12;  // of data.csv

class Folder {
 public:
  Folder() {
    std::error_code ignored;
    const bool in_memory = std::filesystem::is_directory("/dev/shm", ignored);
    const std::string where = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    path_ = where + "/tyto-fuzz-" + std::to_string(getpid());
    std::filesystem::create_directories(path_);
    std::filesystem::current_path(path_);
    std::filesystem::copy_file(TYTO_FUZZ_DATA, "data.csv");
    std::ofstream weights("v.txt");
    for (int row = 0; row < kRows; ++row) weights << row + 0.5 << "\n";
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace

void enter_folder() { static const Folder folder; }

void write(const char* name, Bytes contents) {
  std::ofstream(name, std::ios::binary).write(contents.data(), std::ssize(contents));
}

int run(const std::vector<std::string>& args) {
  std::vector<std::string> words{"tyto"};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int code = tyto_main(static_cast<int>(words.size()), pointers.data());
  if (code < 0 || code > 2) std::abort();
  return code;
}

}  // namespace tyto::fuzz
