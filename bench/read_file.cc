// Reads one file and prints what that took, as "key value" lines: see reading.sh.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>

#include "tyto/data/dataset.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE...\n", argv[0]);
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    const tyto::Dataset data = tyto::read({argv + 1, argv + argc});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const tyto::Design& x = data.design;
    // Values of 8 bytes; beside sparse ones a row of 4 bytes, and a start of 4 bytes for each column.
    const tyto::Index bytes =
        x.is_sparse() ? 12 * x.stored_entries() + 4 * (x.cols() + 1) : 8 * x.rows() * x.cols();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("rows %td\ncols %td\nseconds %.3f\ncpu_seconds %.3f\npeak_rss_bytes %ld\nmatrix_bytes %td\n",
                x.rows(), x.cols(), seconds.count(), static_cast<double>(std::clock()) / CLOCKS_PER_SEC,
                usage.ru_maxrss * 1024L, bytes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
