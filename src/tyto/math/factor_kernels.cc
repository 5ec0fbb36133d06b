// Small matrices: their Cholesky factors and triangular systems.
#include <algorithm>
#include <cmath>

#include "tyto/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tyto/math/factor_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tyto::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using VectorD = hn::Vec<D>;

// y <- y + a_0 x_0 + ... + a_3 x_3 for four columns of a matrix, one after the other in memory.
inline void add4(const double a[4], const double* x, Index stride, double* y, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD a0 = hn::Set(d, a[0]), a1 = hn::Set(d, a[1]), a2 = hn::Set(d, a[2]), a3 = hn::Set(d, a[3]);
  const double *x0 = x, *x1 = x + stride, *x2 = x + 2 * stride, *x3 = x + 3 * stride;
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    VectorD v = hn::MulAdd(a0, hn::LoadU(d, x0 + i), hn::LoadU(d, y + i));
    v = hn::MulAdd(a1, hn::LoadU(d, x1 + i), v);
    v = hn::MulAdd(a2, hn::LoadU(d, x2 + i), v);
    hn::StoreU(hn::MulAdd(a3, hn::LoadU(d, x3 + i), v), d, y + i);
  }
  if (i == n) return;
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(n - i));
  VectorD v = hn::MulAdd(a0, hn::MaskedLoad(rest, d, x0 + i), hn::MaskedLoad(rest, d, y + i));
  v = hn::MulAdd(a1, hn::MaskedLoad(rest, d, x1 + i), v);
  v = hn::MulAdd(a2, hn::MaskedLoad(rest, d, x2 + i), v);
  hn::BlendedStore(hn::MulAdd(a3, hn::MaskedLoad(rest, d, x3 + i), v), rest, d, y + i);
}

// Column by column: what the columns before it take out, four of them at a time, then its own pivot.
bool factorise(double* a, Index stride, Index n) {
  for (Index j = 0; j < n; ++j) {
    double* column = a + j * stride;
    Index k = 0;
    for (; k + 4 <= j; k += 4) {
      const double* x = a + k * stride + j;
      const double factors[4] = {-x[0], -x[stride], -x[2 * stride], -x[3 * stride]};
      add4(factors, x, stride, column + j, n - j);
    }
    for (; k < j; ++k) {
      const double* x = a + k * stride;
      for (Index i = n - 1; i >= j; --i) column[i] -= x[j] * x[i];
    }
    if (!(column[j] > 0)) return false;
    column[j] = std::sqrt(column[j]);
    const double inverse = 1 / column[j];
    for (Index i = j + 1; i < n; ++i) column[i] *= inverse;
  }
  return true;
}

// Four columns, then what they take out of the rest.
void solve_factor(const double* a, Index stride, Index n, double* x) {
  for (Index j = 0; j < n; j += 4) {
    const Index end = std::min(j + 4, n);
    for (Index k = j; k < end; ++k) {
      x[k] /= a[k * stride + k];
      for (Index i = k + 1; i < end; ++i) x[i] -= a[k * stride + i] * x[k];
    }
    if (end == n) return;
    const double factors[4] = {-x[j], -x[j + 1], -x[j + 2], -x[j + 3]};
    add4(factors, a + j * stride + end, stride, x + end, n - end);
  }
}

void solve_transposed_factor(const double* a, Index stride, Index n, double* x) {
  for (Index j = (n - 1) / 4 * 4; j >= 0; j -= 4) {
    const Index end = std::min(j + 4, n);
    if (end < n) {
      const double* first = a + j * stride + end;
      const double* const four[4] = {first, first + stride, first + 2 * stride, first + 3 * stride};
      double products[4] = {0, 0, 0, 0};
      dot4(four, x + end, n - end, products);
      for (Index k = 0; k < 4; ++k) x[j + k] -= products[k];
    }
    for (Index k = end - 1; k >= j; --k) {
      for (Index i = k + 1; i < end; ++i) x[k] -= a[k * stride + i] * x[i];
      x[k] /= a[k * stride + k];
    }
  }
}

void multiply_factor(const double* a, Index stride, Index n, const double* x, double* out) {
  for (Index i = 0; i < n; ++i) out[i] = 0;
  for (Index j = 0; j < n; j += 4) {
    const Index end = std::min(j + 4, n);
    for (Index k = j; k < end; ++k)
      for (Index i = k; i < end; ++i) out[i] += a[k * stride + i] * x[k];
    if (end < n) add4(x + j, a + j * stride + end, stride, out + end, n - end);
  }
}

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {

HWY_EXPORT(factorise);
HWY_EXPORT(solve_factor);
HWY_EXPORT(solve_transposed_factor);
HWY_EXPORT(multiply_factor);

bool cholesky(double* a, Index stride, Index n) { return HWY_DYNAMIC_DISPATCH(factorise)(a, stride, n); }
void solve_lower(const double* a, Index stride, Index n, double* x) {
  HWY_DYNAMIC_DISPATCH(solve_factor)(a, stride, n, x);
}
void solve_lower_transposed(const double* a, Index stride, Index n, double* x) {
  HWY_DYNAMIC_DISPATCH(solve_transposed_factor)(a, stride, n, x);
}
void multiply_lower(const double* a, Index stride, Index n, const double* x, double* out) {
  HWY_DYNAMIC_DISPATCH(multiply_factor)(a, stride, n, x, out);
}

}  // namespace tyto::kernels
#endif
