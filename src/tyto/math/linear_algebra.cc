#include "tyto/math/linear_algebra.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>

#include "tyto/math/kernels.h"

// The Fortran names are the same in every BLAS and LAPACK.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
            const double*, double*, const int*);
void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
}

#ifdef TYTO_STATIC_BLAS
// A serial OpenBLAS hands out its buffers without a lock: two threads may get the same one, and both a wrong
// product. The linker (--wrap) sends its requests here.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_blas_memory_alloc(int procedure);
void __real_blas_memory_free(void* buffer);

static std::mutex buffers;
// A process that is forked while another thread holds the lock would wait for it for ever.
[[maybe_unused]] static const int at_fork =
    pthread_atfork([] { buffers.lock(); }, [] { buffers.unlock(); }, [] { buffers.unlock(); });

void* __wrap_blas_memory_alloc(int procedure) {
  const std::lock_guard lock(buffers);
  return __real_blas_memory_alloc(procedure);
}
void __wrap_blas_memory_free(void* buffer) {
  const std::lock_guard lock(buffers);
  __real_blas_memory_free(buffer);
}
// NOLINTEND(bugprone-reserved-identifier)
}
#endif

namespace tyto {
namespace {

constexpr int kOne = 1;
constexpr double kUnit = 1;
// Rows up to which our own loops are faster than a LAPACK, and by which larger triangles are cut: the loops
// go across columns, which should stay in the cache.
constexpr Index kSmall = 96;

int narrow(Index i) { return static_cast<int>(i); }
int stride(const ConstMatrixView& a) { return narrow(std::max<Index>(a.outerStride(), 1)); }

// y <- y + factor a x
void add_product(double factor, const ConstMatrixView& a, const double* x, double* y) {
  if (a.size() == 0) return;
  const int m = narrow(a.rows()), n = narrow(a.cols()), lda = stride(a);
  dgemv_("N", &m, &n, &factor, a.data(), &lda, x, &kOne, &kUnit, y, &kOne);
}

// A triangle is small ones along its diagonal, and what is below each of them: f(first row, the small one,
// what is below).
template <class F>
void for_panels(const ConstMatrixView& a, F f) {
  const Index n = a.rows();
  for (Index begin = 0; begin < n; begin += kSmall) {
    const Index size = std::min(kSmall, n - begin), end = begin + size;
    f(begin, a.block(begin, begin, size, size), a.block(end, begin, n - end, size));
  }
}

}  // namespace

void transpose_product(const ConstMatrixView& a, const ConstMatrixView& b, double keep, MatrixView c) {
  if (c.size() == 0) return;
  const int m = narrow(c.rows()), n = narrow(c.cols()), k = narrow(a.rows());
  const int lda = stride(a), ldb = stride(b), ldc = narrow(std::max<Index>(c.outerStride(), 1));
  dgemm_("T", "N", &m, &n, &k, &kUnit, a.data(), &lda, b.data(), &ldb, &keep, c.data(), &ldc);
}

void product(const ConstMatrixView& a, const ConstMatrixView& b, MatrixView c) {
  c.setZero();
  if (c.size() == 0 || a.size() == 0) return;
  const int m = narrow(c.rows()), n = narrow(c.cols()), k = narrow(a.cols());
  const int lda = stride(a), ldb = stride(b), ldc = narrow(std::max<Index>(c.outerStride(), 1));
  dgemm_("N", "N", &m, &n, &k, &kUnit, a.data(), &lda, b.data(), &ldb, &kUnit, c.data(), &ldc);
}

void gram(const ConstMatrixView& a, double keep, MatrixView c) {
  if (c.size() == 0) return;
  const int n = narrow(c.rows()), k = narrow(a.rows()), lda = stride(a),
            ldc = narrow(std::max<Index>(c.outerStride(), 1));
  dsyrk_("L", "T", &n, &k, &kUnit, a.data(), &lda, &keep, c.data(), &ldc);
  c.triangularView<Eigen::StrictlyUpper>() = c.transpose();
}

void add_product(double factor, const ConstMatrixView& a, const Vector& x, Vector& y) {
  add_product(factor, a, x.data(), y.data());
}

void transpose_product(const ConstMatrixView& a, const Vector& x, Vector& y) {
  y.setZero(a.cols());
  if (a.size() == 0) return;
  const int m = narrow(a.rows()), n = narrow(a.cols()), lda = stride(a);
  dgemv_("T", &m, &n, &kUnit, a.data(), &lda, x.data(), &kOne, &kUnit, y.data(), &kOne);
}

bool cholesky(MatrixView a) {
  if (a.rows() <= kSmall) return kernels::cholesky(a.data(), a.outerStride(), a.rows());
  const int n = narrow(a.rows()), lda = narrow(a.outerStride());
  int info = 0;
  dpotrf_("L", &n, a.data(), &lda, &info);
  return info == 0 && a.diagonal().allFinite();  // NaN is not always seen
}

void cholesky_solve(const ConstMatrixView& factor, Vector& x) {
  solve_lower(factor, x);
  solve_lower_transposed(factor, x);
}

void solve_lower(const ConstMatrixView& a, Vector& x) {
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView& below) {
    double* part = x.data() + begin;
    kernels::solve_lower(panel.data(), panel.outerStride(), panel.rows(), part);
    add_product(-1, below, part, part + panel.rows());
  });
}

void solve_lower_transposed(const ConstMatrixView& a, Vector& x) {  // along columns: any size will do
  kernels::solve_lower_transposed(a.data(), a.outerStride(), a.rows(), x.data());
}

void multiply_lower(const ConstMatrixView& a, const Vector& x, Vector& out) {
  out.resize(x.size());
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView&) {
    kernels::multiply_lower(panel.data(), panel.outerStride(), panel.rows(), x.data() + begin,
                            out.data() + begin);
  });
  for_panels(a, [&](Index begin, const ConstMatrixView& panel, const ConstMatrixView& below) {
    add_product(1, below, x.data() + begin, out.data() + begin + panel.rows());
  });
}

}  // namespace tyto
