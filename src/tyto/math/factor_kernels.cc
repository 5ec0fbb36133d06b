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

// Rows are taken a vector at a time, and each is stored once: what was stored in another way a moment ago is
// slow to load.

// v minus x_0 a_0 + x_1 a_1 + ..., where a_k are the chosen rows of the first `count` columns, and x_k are
// `step` apart in memory.
template <class Mask>
inline VectorD without(VectorD v, Mask rows, const double* a, Index stride, const double* x, Index step,
                       Index count) {
  const D d;
  const auto column = [&](Index k) { return hn::MaskedLoad(rows, d, a + k * stride); };
  const auto factor = [&](Index k) { return hn::Set(d, x[k * step]); };
  VectorD u = hn::Zero(d), w = u, z = u;
  Index k = 0;
  for (; k + 4 <= count; k += 4) {
    v = hn::NegMulAdd(column(k), factor(k), v);
    u = hn::NegMulAdd(column(k + 1), factor(k + 1), u);
    w = hn::NegMulAdd(column(k + 2), factor(k + 2), w);
    z = hn::NegMulAdd(column(k + 3), factor(k + 3), z);
  }
  for (; k < count; ++k) v = hn::NegMulAdd(column(k), factor(k), v);
  return hn::Add(hn::Add(v, u), hn::Add(w, z));
}

// Column by column: what the columns before it take out, then its own pivot.
bool factorise(double* a, Index stride, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < n; ++j) {
    double* column = a + j * stride;
    VectorD inverse = hn::Zero(d);
    for (Index i = j; i < n; i += lanes) {
      const auto rows = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, n - i)));
      VectorD v = without(hn::MaskedLoad(rows, d, column + i), rows, a + i, stride, a + j, stride, j);
      if (i == j) {
        const double pivot = hn::GetLane(v);
        if (!(pivot > 0)) return false;
        inverse = hn::Set(d, 1 / std::sqrt(pivot));
      }
      hn::BlendedStore(hn::Mul(v, inverse), rows, d, column + i);
    }
  }
  return true;
}

// A block of rows: what the x before it take out, then among themselves. Divisions wait for nothing.
void solve_factor(const double* a, Index stride, Index n, double* x) {
  const D d;
  const hn::RebindToSigned<D> numbers;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < n; j += lanes) {
    const Index count = std::min(lanes, n - j);
    const auto rows = hn::FirstN(d, static_cast<std::size_t>(count));
    VectorD v = without(hn::MaskedLoad(rows, d, x + j), rows, a + j, stride, x, 1, j);
    for (Index k = 0; k < count; ++k) {
      const double* column = a + (j + k) * stride + j;
      const auto known = hn::FirstN(d, static_cast<std::size_t>(k)),
                 below = hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(k + 1)), rows);
      const VectorD here = hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::Set(numbers, k)));
      const VectorD value = hn::Mul(here, hn::Set(d, 1 / column[k]));
      v = hn::IfThenElse(
          known, v, hn::IfThenElse(below, hn::NegMulAdd(hn::MaskedLoad(below, d, column), value, v), value));
    }
    hn::BlendedStore(v, rows, d, x + j);
  }
}

void solve_transposed_factor(const double* a, Index stride, Index n, double* x) {
  for (Index j = (n - 1) / 4 * 4; j >= 0; j -= 4) {
    const Index end = std::min(j + 4, n);
    double products[4] = {0, 0, 0, 0};
    if (end < n) {
      const double* first = a + j * stride + end;
      const double* const four[4] = {first, first + stride, first + 2 * stride, first + 3 * stride};
      dot4(four, x + end, n - end, products);
    }
    for (Index k = end - 1; k >= j; --k) {
      x[k] = (x[k] - products[k - j]) * (1 / a[k * stride + k]);
      for (Index i = j; i < k; ++i) products[i - j] += a[i * stride + k] * x[k];
    }
  }
}

void multiply_factor(const double* a, Index stride, Index n, const double* x, double* out) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < n; j += lanes) {
    const Index count = std::min(lanes, n - j);
    const auto rows = hn::FirstN(d, static_cast<std::size_t>(count));
    VectorD v = without(hn::Zero(d), rows, a + j, stride, x, 1, j);
    for (Index k = j; k < j + count; ++k) {
      const auto below = hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(k - j)), rows);
      v = hn::NegMulAdd(hn::MaskedLoad(below, d, a + k * stride + j), hn::Set(d, x[k]), v);
    }
    hn::BlendedStore(hn::Neg(v), rows, d, out + j);
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
