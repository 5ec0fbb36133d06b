// A lasso path from a file of columns that is larger than the memory it may use, beside the speed of the disk
// in the same run.
//
//   tyto_out_of_core X.npy Y.npy ROWS COLUMNS MEGABYTES [STEPS [RATIO [THREADS]]]
//
// X.npy: float32 in Fortran order, as tyto_make_genotypes writes it (f4). MEGABYTES 0: the file is mapped.
// Prints passes, bytes read over passes times file, and seconds over the time of those bytes at the disk's
// speed, read once in order past the system's cache, before the path and after it.
#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tyto/base/stopwatch.h"
#include "tyto/columns/column_file.h"
#include "tyto/columns/watched_file.h"
#include "tyto/data/dataset.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"

namespace {

using tyto::Index;

// Bytes a second, with 8 requests of 2 MiB under way.
double disk_speed(const std::string& path) {
  constexpr std::uint64_t kRequest = std::uint64_t{1} << 21;
  const tyto::WatchedFile file(path, 0);
  std::atomic<std::uint64_t> next = 0;
  const tyto::Stopwatch watch;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&] {
      tyto::ReadBuffer buffer(kRequest);
      for (std::uint64_t begin = next.fetch_add(kRequest); begin < file.size();
           begin = next.fetch_add(kRequest))
        file.read(begin, std::min(file.size(), begin + kRequest), buffer);
    });
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(file.size()) / watch.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "tyto_out_of_core X.npy Y.npy ROWS COLUMNS MEGABYTES [STEPS [RATIO [THREADS]]]\n");
    return 2;
  }
  const std::string path = argv[1];
  const Index rows = std::atol(argv[3]), cols = std::atol(argv[4]), memory = std::atol(argv[5]) << 20;
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  const Index stride = rows * static_cast<Index>(sizeof(float));
  const auto offset = static_cast<std::uint64_t>(size) - static_cast<std::uint64_t>(stride * cols);
  const double before = memory > 0 ? disk_speed(path) : 0;
  const tyto::Stopwatch watch;
  const tyto::Design x(
      tyto::open_columns({path, tyto::StoredType::kFloat, rows, cols, offset, stride}, memory));
  const tyto::Dataset y = tyto::read({argv[2]}, {.target_optional = true, .features = 1});
  tyto::Vector response(rows);
  y.design.for_each_entry(0, [&](Index i, double value) { response[i] = value; });
  tyto::RegressionOptions options;
  options.weights = "lasso";
  tyto::FitOptions fit;
  fit.threads = argc > 8 ? std::atoi(argv[8]) : 2;
  const tyto::Work work(fit.threads);
  const tyto::Regression regression = tyto::make_regression(x, response, options, work);
  fmt::print("set up: {:.2f} s, {:.2f} files read\n", watch.seconds(),
             static_cast<double>(x.bytes_read()) / size);
  tyto::PathOptions steps;
  if (argc > 6) steps.steps = std::atol(argv[6]);
  if (argc > 7) steps.ratio = std::atof(argv[7]);
  const tyto::Path fitted = tyto::fit_path(regression, steps, fit, nullptr);
  double worst = 0;
  for (const tyto::PathStep& step : fitted.steps)
    worst = std::max(worst, step.fit.certificate.gap / step.fit.certificate.primal);
  const double seconds = watch.seconds(), bytes = static_cast<double>(x.bytes_read());
  fmt::print("{} strengths, {} non-zeros, worst gap {:.1e}; passes of the path {:.2f}\n", fitted.steps.size(),
             fitted.steps.back().nonzeros(), worst, fitted.passes);
  fmt::print("wall {:.2f} s, CPU {:.2f} s; {:.2f} files read\n", seconds, watch.cpu_seconds(), bytes / size);
  if (memory == 0) return 0;
  const double after = disk_speed(path);
  const double standardizing = 1;  // pass, which the path does not count
  fmt::print("bytes read over passes x file: {:.3f}\n", bytes / size / (fitted.passes + standardizing));
  fmt::print("disk {:.2f} and {:.2f} GB/s; wall over bytes at that speed: {:.2f}\n", before / 1e9,
             after / 1e9, seconds / (bytes / ((before + after) / 2)));
  return 0;
}
