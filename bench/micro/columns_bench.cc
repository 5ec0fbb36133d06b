// What a core makes of columns in each type: gigabytes of decoded doubles per CPU second, 8 bytes an entry
// whatever it takes in memory; best of seven. Products in blocks of rows, as the storage makes them.
//
//   build/bench/tyto_columns_bench
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include "tyto/math/kernels.h"

namespace {

using tyto::Index;
namespace kernels = tyto::kernels;

constexpr Index kRowBlock = 8192;

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class F>
double rate(Index entries, F work) {
  double least = 1e9;
  for (int k = 0; k < 7; ++k) {
    const double start = cpu_seconds();
    work();
    least = std::min(least, cpu_seconds() - start);
  }
  return 8e-9 * static_cast<double>(entries) / least;
}

// column(j): the j-th column.
template <class Column>
void print_row(const char* name, Index rows, Index cols, Column column) {
  std::vector<double> v(static_cast<std::size_t>(rows)), w = v, y = v;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = static_cast<double>(i % 7) - 3.1;
    w[i] = static_cast<double>(i % 5) - 1.3;
  }
  const auto for_each_block = [&](Index step, auto use) {
    for (Index begin = 0; begin < rows; begin += kRowBlock)
      for (Index j = 0; j + step <= cols; j += step) use(j, begin, std::min(kRowBlock, rows - begin));
  };
  const auto four = [&](Index j, Index begin) {
    return std::array{column(j) + begin, column(j + 1) + begin, column(j + 2) + begin, column(j + 3) + begin};
  };
  std::array<double, 8> sums{};
  const Index entries = rows * cols;
  const double dot4 = rate(entries, [&] {
    for_each_block(4, [&](Index j, Index begin, Index length) {
      kernels::dot4(four(j, begin).data(), v.data() + begin, length, sums.data());
    });
  });
  const double dot4x2 = rate(2 * entries, [&] {
    for_each_block(4, [&](Index j, Index begin, Index length) {
      kernels::dot4x2(four(j, begin).data(), v.data() + begin, w.data() + begin, length, sums.data());
    });
  });
  const double axpy = rate(entries, [&] {
    for_each_block(1, [&](Index j, Index begin, Index length) {
      kernels::axpy(1e-9, column(j) + begin, y.data() + begin, length);
    });
  });
  const double copy = rate(entries, [&] {
    for_each_block(1, [&](Index j, Index begin, Index length) {
      kernels::copy(column(j) + begin, {0.5, 2}, y.data() + begin, length);
    });
  });
  fmt::print("{:>8} {:>8} {:>10.0f} {:>14.0f} {:>8.0f} {:>8.0f}\n", name, rows, dot4, dot4x2, axpy, copy);
}

template <class Scalar>
void print_numbers(const char* name, Index rows, Index cols) {
  std::vector<Scalar> x(static_cast<std::size_t>(rows * cols));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<Scalar>(k * 2654435761U >> 13 & 1);
  const Scalar* data = x.data();
  print_row(name, rows, cols, [&](Index j) { return data + j * rows; });
}

void print_genotypes(Index rows, Index cols) {
  const Index stride = (rows + 3) / 4;
  std::vector<std::uint8_t> x(static_cast<std::size_t>(stride * cols));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::uint8_t>(k * 2654435761U >> 13);
  print_row("genotype", rows, cols, [&](Index j) { return kernels::Genotypes{x.data() + j * stride, 0.7}; });
}

}  // namespace

int main() {
  fmt::print("{}\n{:>8} {:>8} {:>10} {:>14} {:>8} {:>8}\n", kernels::instruction_set(), "type", "rows",
             "products", "of 2 vectors", "axpy", "copy");
  for (const auto& [rows, cols] : {std::pair<Index, Index>{2000, 40000}, {400000, 200}}) {
    print_numbers<double>("double", rows, cols);
    print_numbers<float>("float", rows, cols);
    print_numbers<std::int16_t>("int16", rows, cols);
    print_numbers<std::int8_t>("int8", rows, cols);
    print_numbers<std::uint8_t>("uint8", rows, cols);
    print_genotypes(rows, cols);
  }
}
