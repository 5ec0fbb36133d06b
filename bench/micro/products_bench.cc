// Dense products and Cholesky factors in GFLOP/s of one thread, beside OpenBLAS where the build found one
// (apt-get install libopenblas-serial-dev). OpenBLAS chooses its kernels by the processor's name:
// OPENBLAS_CORETYPE tells it another one. CPU time, best of interleaved rounds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <functional>

#include "tyto/math/kernels.h"
#include "tyto/math/linear_algebra.h"

#ifdef TYTO_BENCH_BLAS
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
            const double*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
}
#endif

namespace tyto {
namespace {

constexpr double kOne = 1;
constexpr double kZero = 0;
constexpr int kRounds = 7;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of a call, from as many as take a hundredth of a second.
double seconds_of(const std::function<void()>& call) {
  for (int calls = 1;; calls *= 2) {
    const double begin = cpu_seconds();
    for (int k = 0; k < calls; ++k) call();
    const double seconds = cpu_seconds() - begin;
    if (seconds > 0.01) return seconds / calls;
  }
}

void compare(const char* what, double flops, const std::function<void()>& own,
             const std::function<void()>& blas) {
  double best = 1e300;
  double best_blas = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    best = std::min(best, seconds_of(own));
    if (blas) best_blas = std::min(best_blas, seconds_of(blas));
  }
  std::printf("%-28s %8.1f", what, 1e-9 * flops / best);
  if (blas) std::printf(" %8.1f", 1e-9 * flops / best_blas);
  std::printf("\n");
}

void compare_gram(int n, int k) {
  const Matrix a = Matrix::Random(n, k);
  Matrix c(k, k);
  std::function<void()> blas;
#ifdef TYTO_BENCH_BLAS
  blas = [&] {
    dsyrk_("L", "T", &k, &n, &kOne, a.data(), &n, &kZero, c.data(), &k);
    kernels::mirror(c.data(), k, k);
  };
#endif
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "A'A, A %d x %d", n, k);
  compare(
      name.data(), 1.0 * n * k * k, [&] { gram(a, 0, c); }, blas);
}

void compare_product(int n, int k, int m) {
  const Matrix a = Matrix::Random(n, k);
  const Matrix b = Matrix::Random(n, m);
  Matrix c(k, m);
  std::function<void()> blas;
#ifdef TYTO_BENCH_BLAS
  blas = [&] { dgemm_("T", "N", &k, &m, &n, &kOne, a.data(), &n, b.data(), &n, &kZero, c.data(), &k); };
#endif
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "A'B, %d x %d, %d columns", n, k, m);
  compare(
      name.data(), 2.0 * n * k * m, [&] { transpose_product(a, b, 0, c); }, blas);
}

void compare_cholesky(int n) {
  const Matrix root = Matrix::Random(n + 10, n);
  const Matrix a = root.transpose() * root;
  Matrix factor;
  std::function<void()> blas;
#ifdef TYTO_BENCH_BLAS
  blas = [&] {
    int info = 0;
    factor = a;
    dpotrf_("L", &n, factor.data(), &n, &info);
  };
#endif
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "Cholesky, %d (with a copy)", n);
  compare(
      name.data(), 1.0 / 3 * n * n * n,
      [&] {
        factor = a;
        cholesky(factor);
      },
      blas);
}

}  // namespace
}  // namespace tyto

int main() {
  std::printf("%-28s %8s", tyto::kernels::instruction_set(), "own");
#ifdef TYTO_BENCH_BLAS
  std::printf(" %8s", "OpenBLAS");
#endif
  std::printf("\n");
  for (const auto [n, k] : {std::array{62, 32}, {62, 500}, {200, 128}, {2000, 32}, {2000, 500}, {2000, 2000}})
    tyto::compare_gram(n, k);
  for (const auto [n, k, m] :
       {std::array{200, 500, 500}, {256, 1000, 128}, {256, 120, 40}, {256, 50, 20}, {20000, 128, 128}})
    tyto::compare_product(n, k, m);
  for (const int n : {50, 100, 200, 500, 1000, 2000}) tyto::compare_cholesky(n);
}
