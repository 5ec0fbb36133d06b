// Small matrices: their Cholesky factors and triangular systems.
#include <algorithm>
#include <cmath>
#include <limits>

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
// slow to load. The last vector may have fewer rows; not every instruction set can leave out the others
// without touching what is behind them, or where nothing is aligned.
inline VectorD load(D d, const double* from, Index count) {
  if (count == static_cast<Index>(hn::Lanes(d))) return hn::LoadU(d, from);
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#else
  HWY_ALIGN double few[HWY_MAX_BYTES / sizeof(double)] = {};
  std::copy_n(from, count, few);
  return hn::Load(d, few);
#endif
}
inline void store(D d, VectorD v, double* to, Index count) {
  if (count == static_cast<Index>(hn::Lanes(d))) return hn::StoreU(v, d, to);
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
  HWY_ALIGN double few[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(v, d, few);
  std::copy_n(few, count, to);
#endif
}

// v minus x_0 a_0 + x_1 a_1 + ..., where a_k are `rows` rows of the first `count` columns, and x_k are `step`
// apart in memory.
inline VectorD without(VectorD v, Index rows, const double* a, Index stride, const double* x, Index step,
                       Index count) {
  const D d;
  const auto column = [&](Index k) { return load(d, a + k * stride, rows); };
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
      const Index rows = std::min(lanes, n - i);
      const VectorD v = without(load(d, column + i, rows), rows, a + i, stride, a + j, stride, j);
      if (i == j) {
        const double pivot = hn::GetLane(v);
        if (!(pivot > 0 && pivot <= std::numeric_limits<double>::max())) return false;
        inverse = hn::Set(d, 1 / std::sqrt(pivot));
      }
      store(d, hn::Mul(v, inverse), column + i, rows);
    }
  }
  return true;
}

// A vector of rows at a time: each of its columns without what the columns before it take out.
void solve_factor_right(const ColumnBlock& a, double* b, Index stride, Index rows) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < rows; i += lanes) {
    const Index height = std::min(lanes, rows - i);
    for (Index j = 0; j < a.cols; ++j) {
      double* column = b + j * stride + i;
      const VectorD v = without(load(d, column, height), height, b + i, stride, a.data + j, a.stride, j);
      store(d, hn::Mul(v, hn::Set(d, 1 / a.data[j * a.stride + j])), column, height);
    }
  }
}

// A block of rows: what the x before it take out, then among themselves. Divisions wait for nothing.
void solve_factor(const double* a, Index stride, Index n, double* x) {
  const D d;
  const hn::RebindToSigned<D> numbers;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j < n; j += lanes) {
    const Index rows = std::min(lanes, n - j);
    VectorD v = without(load(d, x + j, rows), rows, a + j, stride, x, 1, j);
    for (Index k = 0; k < rows; ++k) {
      const double* column = a + (j + k) * stride + j;
      const auto known = hn::FirstN(d, static_cast<std::size_t>(k)),
                 done = hn::FirstN(d, static_cast<std::size_t>(k + 1));
      const VectorD here = hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::Set(numbers, k)));
      const VectorD value = hn::Mul(here, hn::Set(d, 1 / column[k]));
      const VectorD rest = hn::NegMulAdd(load(d, column, rows), value, v);
      v = hn::IfThenElse(known, v, hn::IfThenElse(done, value, rest));
    }
    store(d, v, x + j, rows);
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
    const Index rows = std::min(lanes, n - j);
    VectorD v = without(hn::Zero(d), rows, a + j, stride, x, 1, j);
    for (Index k = 0; k < rows; ++k) {
      const auto above = hn::FirstN(d, static_cast<std::size_t>(k));
      const VectorD column = hn::IfThenZeroElse(above, load(d, a + (j + k) * stride + j, rows));
      v = hn::NegMulAdd(column, hn::Set(d, x[j + k]), v);
    }
    store(d, hn::Neg(v), out + j, rows);
  }
}

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {

HWY_EXPORT(factorise);
HWY_EXPORT(solve_factor_right);
HWY_EXPORT(solve_factor);
HWY_EXPORT(solve_transposed_factor);
HWY_EXPORT(multiply_factor);

bool cholesky(double* a, Index stride, Index n) { return HWY_DYNAMIC_DISPATCH(factorise)(a, stride, n); }
void solve_lower_right(const ColumnBlock& a, double* b, Index stride, Index rows) {
  HWY_DYNAMIC_DISPATCH(solve_factor_right)(a, b, stride, rows);
}
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
