// How time and memory grow with the problem: one strength, cold, on simulated data of one shape after the
// other.
//
//   build/bench/tyto_growth dense|sparse|tall [weights] [strength]
//
// dense: 200 rows, 20k to 1M columns; sparse: 2000 rows, density .001, 20k to 2M columns; tall: 500 columns,
// 20k and 200k rows. Prints CPU seconds of solving, the median of seven fits, and the peak memory beyond X in
// vectors of length p: of the process, and without the program, which is the same for any p: pages of files,
// and what there is before any data. X is made in large pages, as the readers of files do.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tyto/all.h"
#include "tyto/base/huge_pages.h"

namespace {

using tyto::Index;
using tyto::Vector;

struct Shape {
  Index n, p;
  double density;
};

tyto::Design dense(const Shape& shape, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Eigen::MatrixXd x(shape.n, shape.p);
  tyto::prefer_huge_pages(x);
  Vector previous(shape.n);
  for (Index i = 0; i < shape.n; ++i) previous[i] = normal(random);
  for (Index j = 0; j < shape.p; ++j) {  // neighbours correlate by .5
    for (Index i = 0; i < shape.n; ++i) previous[i] = 0.5 * previous[i] + std::sqrt(0.75) * normal(random);
    x.col(j) = previous;
  }
  return tyto::Design::dense(std::move(x));
}

tyto::Design sparse(const Shape& shape, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::poisson_distribution<int> count(shape.density * static_cast<double>(shape.n));
  std::uniform_int_distribution<std::int32_t> row(0, static_cast<std::int32_t>(shape.n - 1));
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x(shape.n, shape.p);
  x.reserve(static_cast<Index>(shape.density * static_cast<double>(shape.n * shape.p) * 1.1) + shape.p);
  const auto room = static_cast<std::size_t>(x.data().allocatedSize());
  tyto::prefer_huge_pages(x.valuePtr(), sizeof(double) * room);
  tyto::prefer_huge_pages(x.innerIndexPtr(), sizeof(std::int32_t) * room);
  std::vector<std::int32_t> rows;
  for (Index j = 0; j < shape.p; ++j) {
    rows.clear();
    for (int k = std::max(1, count(random)); k > 0; --k) rows.push_back(row(random));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    x.startVec(j);
    for (const std::int32_t i : rows) x.insertBack(i, j) = normal(random);
  }
  x.finalize();
  return tyto::Design::sparse(x);
}

double resident_bytes(const char* field) {  // VmHWM: at the peak; RssFile: of files; RssAnon: of none
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(line.find(':') + 1));
  return 0;
}

void run(const Shape& shape, const std::string& weights, double strength, double at_start) {
  std::mt19937_64 random(1);
  const bool is_sparse = shape.density < 1;
  const tyto::Design raw = is_sparse ? sparse(shape, random) : dense(shape, random);
  std::normal_distribution<double> normal;
  Vector beta = Vector::Zero(shape.p), signal, y(shape.n);
  for (int k = 0; k < 20; ++k)
    beta[static_cast<Index>(random() % static_cast<std::uint64_t>(shape.p))] = 2 + normal(random);
  raw.multiply(beta, signal);
  for (Index i = 0; i < shape.n; ++i) y[i] = normal(random);
  y = signal + y * (0.5 * signal.norm() / y.norm());
  beta.resize(0);
  const double x_bytes =
      is_sparse ? 12.0 * static_cast<double>(raw.stored_entries()) + 4.0 * static_cast<double>(shape.p)
                : 8.0 * static_cast<double>(shape.n * shape.p);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
  const auto task = tyto::make_regression(raw, y, {.weights = weights, .strength = strength});
  const tyto::Fit fit = tyto::fit(task.problem);
  const double peak = resident_bytes("VmHWM"), program = resident_bytes("RssFile") + at_start,
               extra = peak - 1.3 * x_bytes;
  std::vector<double> seconds{fit.cpu_seconds};
  while (seconds.size() < 7) seconds.push_back(tyto::fit(task.problem).cpu_seconds);
  std::ranges::nth_element(seconds, seconds.begin() + 3);
  fmt::print(
      "{:>8} x {:<8} {:9.5f} s  {:6.2f} passes  {:5} non-zeros  gap {:.1e}  X {:7.1f} MB, peak {:7.1f} MB: "
      "1.3 X and {:.1f} vectors, {:.1f} without the program\n",
      shape.n, shape.p, seconds[3], fit.passes, (fit.solution.beta.array() != 0).count(),
      fit.certificate.relative_gap(), x_bytes / 1e6, peak / 1e6, extra / (8.0 * static_cast<double>(shape.p)),
      (extra - program) / (8.0 * static_cast<double>(shape.p)));
}

}  // namespace

int main(int argc, char** argv) {
  const double at_start = resident_bytes("RssAnon");
  const std::string kind = argc > 1 ? argv[1] : "dense", weights = argc > 2 ? argv[2] : "bh";
  const double strength = argc > 3 ? std::stod(argv[3]) : 0.3;
  std::vector<Shape> shapes{{200, 20'000, 1}, {200, 200'000, 1}, {200, 1'000'000, 1}};
  if (kind == "sparse") shapes = {{2000, 20'000, .001}, {2000, 200'000, .001}, {2000, 2'000'000, .001}};
  if (kind == "tall") shapes = {{20'000, 500, 1}, {200'000, 500, 1}};
  for (const Shape& shape : shapes) run(shape, weights, strength, at_start);
}
