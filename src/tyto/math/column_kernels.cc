// What is computed from a column as it is stored: one set of loops, and a decoder for each type.
#include <array>
#include <cstring>
#include <tuple>

#include "tyto/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tyto/math/column_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef TYTO_COLUMN_KERNELS
#define TYTO_COLUMN_KERNELS
namespace tyto::kernels {

template <Column C>
struct ColumnKernels {
  double (*dot)(C x, const double* v, Index n);
  void (*dot4)(const C* x, const double* v, Index n, double* out);
  void (*dot4x2)(const C* x, const double* v, const double* w, Index n, double* out);
  void (*axpy)(double a, C x, double* y, Index n);
  void (*copy)(C x, const Change& change, double* out, Index n);
  Sums (*sums)(C x, Index n, double center);
};
template <Column... C>
using KernelsOf = std::tuple<ColumnKernels<C>...>;
using AllKernels = KernelsOf<const double*, const float*, const std::int8_t*, const std::uint8_t*,
                             const std::int16_t*, Genotypes>;

}  // namespace tyto::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tyto::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using VectorD = hn::Vec<D>;

inline double sum(D d, VectorD v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

// The entries of a column from one on, as many as there are lanes.
inline VectorD load(D d, const double* p) { return hn::LoadU(d, p); }
inline VectorD load(D d, const float* p) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p)); }
template <class Integer>
inline VectorD load(D d, const Integer* p) {
  const hn::Rebind<std::int32_t, D> whole;
  return hn::PromoteTo(d, hn::PromoteTo(whole, hn::LoadU(hn::Rebind<Integer, D>(), p)));
}

inline VectorD load(D d, const Genotypes& x) {
  HWY_ALIGN double few[HWY_MAX_BYTES / sizeof(double)];
  for (Index k = 0; k < static_cast<Index>(hn::Lanes(d)); ++k) few[k] = x[k];
  return hn::Load(d, few);
}

// v[n - lanes .. n) with the entries before `done` replaced by 0: the last, partial vector of a sum, read
// without leaving the array. Needs n >= lanes.
inline VectorD last_entries(D d, const double* v, Index n, Index done) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto skip = hn::FirstN(d, static_cast<std::size_t>(lanes - (n - done)));
  return hn::IfThenZeroElse(skip, hn::LoadU(d, v + n - lanes));
}

template <Column C>
double dot_of(C x, const double* v, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  VectorD a = hn::Zero(d), b = a, c = a, e = a;
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::MulAdd(load(d, x + i), hn::LoadU(d, v + i), a);
    b = hn::MulAdd(load(d, x + i + lanes), hn::LoadU(d, v + i + lanes), b);
    c = hn::MulAdd(load(d, x + i + 2 * lanes), hn::LoadU(d, v + i + 2 * lanes), c);
    e = hn::MulAdd(load(d, x + i + 3 * lanes), hn::LoadU(d, v + i + 3 * lanes), e);
  }
  for (; i + lanes <= n; i += lanes) a = hn::MulAdd(load(d, x + i), hn::LoadU(d, v + i), a);
  if (n >= lanes) {
    if (i < n) b = hn::MulAdd(load(d, x + (n - lanes)), last_entries(d, v, n, i), b);
    return sum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(x[i]) * v[i];
  return total;
}

template <Column C>
void dot4_of(const C* x, const double* v, Index n, double out[4]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (n < lanes) {
    for (int k = 0; k < 4; ++k) out[k] += dot_of(x[k], v, n);
    return;
  }
  const C x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
  VectorD a = hn::Zero(d), b = a, c = a, e = a;
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD vi = hn::LoadU(d, v + i);
    a = hn::MulAdd(load(d, x0 + i), vi, a);
    b = hn::MulAdd(load(d, x1 + i), vi, b);
    c = hn::MulAdd(load(d, x2 + i), vi, c);
    e = hn::MulAdd(load(d, x3 + i), vi, e);
  }
  if (i < n) {
    const VectorD vi = last_entries(d, v, n, i);
    i = n - lanes;
    a = hn::MulAdd(load(d, x0 + i), vi, a);
    b = hn::MulAdd(load(d, x1 + i), vi, b);
    c = hn::MulAdd(load(d, x2 + i), vi, c);
    e = hn::MulAdd(load(d, x3 + i), vi, e);
  }
  out[0] += sum(d, a), out[1] += sum(d, b), out[2] += sum(d, c), out[3] += sum(d, e);
}

template <Column C>
void dot4x2_of(const C* x, const double* v, const double* w, Index n, double out[8]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const C x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
  VectorD a = hn::Zero(d), b = a, c = a, e = a, f = a, g = a, h = a, k = a;
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD vi = hn::LoadU(d, v + i), wi = hn::LoadU(d, w + i);
    const VectorD y0 = load(d, x0 + i), y1 = load(d, x1 + i), y2 = load(d, x2 + i), y3 = load(d, x3 + i);
    a = hn::MulAdd(y0, vi, a), b = hn::MulAdd(y1, vi, b), c = hn::MulAdd(y2, vi, c);
    e = hn::MulAdd(y3, vi, e), f = hn::MulAdd(y0, wi, f), g = hn::MulAdd(y1, wi, g);
    h = hn::MulAdd(y2, wi, h), k = hn::MulAdd(y3, wi, k);
  }
  out[0] += sum(d, a), out[1] += sum(d, b), out[2] += sum(d, c), out[3] += sum(d, e);
  out[4] += sum(d, f), out[5] += sum(d, g), out[6] += sum(d, h), out[7] += sum(d, k);
  if (i == n) return;
  const C rest[4] = {x0 + i, x1 + i, x2 + i, x3 + i};
  dot4_of(rest, v + i, n - i, out);
  dot4_of(rest, w + i, n - i, out + 4);
}

template <Column C>
void axpy_of(double factor, C x, double* y, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD a = hn::Set(d, factor);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::MulAdd(a, load(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

// f(v_0) + f(v_1) + ... by vectors, and g likewise; both are 0 of `neutral`, which fills up the last one.
template <Column C, class F, class G>
Sums sums_of(C x, Index n, double neutral, F f, G g) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  VectorD f0 = hn::Zero(d), f1 = f0, g0 = f0, g1 = f0;
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const VectorD a = load(d, x + i), b = load(d, x + i + lanes);
    f0 = f(f0, a), f1 = f(f1, b), g0 = g(g0, a), g1 = g(g1, b);
  }
  for (; i + lanes <= n; i += lanes) {
    const VectorD a = load(d, x + i);
    f0 = f(f0, a), g0 = g(g0, a);
  }
  if (i < n) {
    VectorD a = hn::Set(d, neutral);
    if (n >= lanes) {
      const auto done = hn::FirstN(d, static_cast<std::size_t>(lanes - (n - i)));
      a = hn::IfThenElse(done, a, load(d, x + (n - lanes)));
    } else {
      HWY_ALIGN double few[HWY_MAX_BYTES / sizeof(double)];
      for (Index k = 0; k < lanes; ++k) few[k] = k < n ? static_cast<double>(x[k]) : neutral;
      a = hn::Load(d, few);
    }
    f1 = f(f1, a), g1 = g(g1, a);
  }
  return {sum(d, hn::Add(f0, f1)), sum(d, hn::Add(g0, g1))};
}

template <Column C>
Sums sums_about(C x, Index n, double center) {
  const VectorD all = hn::Set(D(), center);
  return sums_of(
      x, n, center, [&](VectorD total, VectorD v) { return hn::Add(total, hn::Sub(v, all)); },
      [&](VectorD total, VectorD v) {
        const VectorD off = hn::Sub(v, all);
        return hn::MulAdd(off, off, total);
      });
}

template <Column C>
void copy_of(C x, const Change& change, double* out, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD shift = hn::Set(d, change.shift), factor = hn::Set(d, change.factor);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD value = hn::Mul(hn::Sub(load(d, x + i), shift), factor);
    hn::StoreU(change.roots ? hn::Mul(value, hn::LoadU(d, change.roots + i)) : value, d, out + i);
  }
  for (; i < n; ++i) {
    out[i] = (static_cast<double>(x[i]) - change.shift) * change.factor;
    if (change.roots) out[i] *= change.roots[i];
  }
}

template <Column C>
constexpr ColumnKernels<C> kernels_of() {
  return {dot_of<C>, dot4_of<C>, dot4x2_of<C>, axpy_of<C>, copy_of<C>, sums_about<C>};
}
template <Column... C>
constexpr KernelsOf<C...> kernels_of(const KernelsOf<C...>*) {
  return {kernels_of<C>()...};
}

const AllKernels* all_kernels() {
  static constexpr AllKernels kAll = kernels_of(static_cast<const AllKernels*>(nullptr));
  return &kAll;
}

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {

HWY_EXPORT(all_kernels);

template <Column C>
static const ColumnKernels<C>& chosen() {
  return std::get<ColumnKernels<C>>(*HWY_DYNAMIC_DISPATCH(all_kernels)());
}

template <Column C>
double dot(C x, const double* v, Index n) {
  return chosen<C>().dot(x, v, n);
}
template <Column C>
void dot4(const C* x, const double* v, Index n, double out[4]) {
  chosen<C>().dot4(x, v, n, out);
}
template <Column C>
void dot4x2(const C* x, const double* v, const double* w, Index n, double out[8]) {
  chosen<C>().dot4x2(x, v, w, n, out);
}
template <Column C>
void axpy(double a, C x, double* y, Index n) {
  chosen<C>().axpy(a, x, y, n);
}
template <Column C>
void copy(C x, const Change& change, double* out, Index n) {
  chosen<C>().copy(x, change, out, n);
}
template <Column C>
Sums sums(C x, Index n, double center) {
  return chosen<C>().sums(x, n, center);
}

#define TYTO_COLUMN(C)                                                          \
  template double dot(C, const double*, Index);                                 \
  template void dot4(const C*, const double*, Index, double*);                  \
  template void dot4x2(const C*, const double*, const double*, Index, double*); \
  template void axpy(double, C, double*, Index);                                \
  template void copy(C, const Change&, double*, Index);                         \
  template Sums sums(C, Index, double);

using Double = const double*;
using Float = const float*;
using Int8 = const std::int8_t*;
using Uint8 = const std::uint8_t*;
using Int16 = const std::int16_t*;
TYTO_COLUMN(Double)
TYTO_COLUMN(Float)
TYTO_COLUMN(Int8)
TYTO_COLUMN(Uint8)
TYTO_COLUMN(Int16)
TYTO_COLUMN(Genotypes)
#undef TYTO_COLUMN

}  // namespace tyto::kernels
#endif
