// A path of 100 lasso strengths on the same genotypes, stored in one type or another, in memory: CPU seconds
// of the whole path and of standardising, memory beyond X, the largest gap.
//
//   tyto_make_genotypes 2000 200000 1 /tmp/g bed i1 f4 f8
//   tyto_stored_path /tmp/g 2000 200000 genotype|int8|float|double [THREADS]
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tyto/all.h"
#include "tyto/base/huge_pages.h"
#include "tyto/columns/stored_type.h"

namespace {

using tyto::Index;
using tyto::StoredType;

double resident_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(line.find(':') + 1));
  return 0;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What stands behind the header of a file.
std::vector<std::byte> body(const std::string& name, Index bytes) {
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < bytes) throw std::runtime_error(name + ": not there, or too short");
  file.seekg(file.tellg() - std::streamoff{bytes});
  std::vector<std::byte> result(static_cast<std::size_t>(bytes));
  tyto::prefer_huge_pages(result.data(), result.size());
  file.read(reinterpret_cast<char*>(result.data()), bytes);
  return result;
}

// Of those that are there, column by column.
std::vector<double> means(const std::vector<std::byte>& codes, Index rows, Index cols) {
  std::vector<double> result;
  for (Index j = 0; j < cols; ++j) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.data()) + j * ((rows + 3) / 4);
    Index sum = 0, count = 0;
    for (Index i = 0; i < rows; ++i) {
      const int code = bytes[i / 4] >> (2 * (i % 4)) & 3;
      sum += code == 0 ? 2 : code == 2 ? 1 : 0;
      count += code == 1 ? 0 : 1;
    }
    result.push_back(count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0);
  }
  return result;
}

void run(const std::string& prefix, Index rows, Index cols, const tyto::StoredTypeRow& type, int threads) {
  const std::string ending = type.type == StoredType::kGenotype ? ".bed"
                             : type.type == StoredType::kInt8   ? ".i1.npy"
                             : type.type == StoredType::kFloat  ? ".f4.npy"
                                                                : ".f8.npy";
  const Index stride = tyto::column_bytes(type.type, rows);
  const std::vector<std::byte> x = body(prefix + ending, stride * cols);
  const std::vector<std::byte> y_bytes = body(prefix + ".y.npy", rows * 8);
  const tyto::Vector y =
      Eigen::Map<const tyto::Vector>(reinterpret_cast<const double*>(y_bytes.data()), rows);
  std::vector<double> filling;
  if (type.type == StoredType::kGenotype) filling = means(x, rows, cols);
  const tyto::Design design(
      tyto::stored_columns({type.type, x.data(), rows, cols, stride, filling}, nullptr));
  const double before = resident_bytes("VmRSS"), start = cpu_seconds();
  const auto task = tyto::make_regression(design, y, {.weights = "lasso"}, tyto::Work(threads));
  const double ready = cpu_seconds();
  const tyto::Path path =
      tyto::fit_path(task, {.steps = 100, .ratio = 0.3}, {.tolerance = 1e-6, .threads = threads});
  const double end = cpu_seconds();
  double gap = 0;
  for (const tyto::PathStep& step : path.steps) gap = std::max(gap, step.fit.certificate.relative_gap());
  fmt::print(
      "{:>8}: {:.2f} CPU s, {:.2f} of them before the path; {:.2f} passes, {} strengths, {} nonzeros, "
      "largest gap {:.1e}, {:.0f} MB beyond X\n",
      type.name, end - start, ready - start, path.passes, path.steps.size(), path.steps.back().nonzeros(),
      gap, (resident_bytes("VmHWM") - before) / 1e6);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) throw std::runtime_error("usage: tyto_stored_path PREFIX ROWS COLUMNS TYPE [THREADS]");
  for (const tyto::StoredTypeRow& type : tyto::kStoredTypes)
    if (type.name == argv[4])
      run(argv[1], std::stol(argv[2]), std::stol(argv[3]), type, argc > 5 ? std::stoi(argv[5]) : 1);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
