#include "tyto/math/kernels.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tyto/math/kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tyto::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using VectorD = hn::Vec<D>;

inline VectorD load(D d, const double* p) { return hn::LoadU(d, p); }
inline VectorD load(D d, const float* p) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p)); }
inline double sum(D d, VectorD v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

using DI = hn::RebindToSigned<D>;
using VectorI = hn::Vec<DI>;

// The chosen lanes, first. Highway 1.0.3 looks the order up in a table that g++ 12 copies for every vector.
#if HWY_ARCH_X86 && HWY_CAP_GE512
inline VectorD chosen_first(VectorD v, hn::Mask<D> chosen) {
  return VectorD{_mm512_maskz_compress_pd(chosen.raw, v.raw)};
}
inline VectorI chosen_first(VectorI v, hn::Mask<DI> chosen) {
  return VectorI{_mm512_maskz_compress_epi64(chosen.raw, v.raw)};
}
#else
template <class V, class Mask>
inline V chosen_first(V v, Mask chosen) {
  return hn::Compress(v, chosen);
}
#endif

// Writes the chosen lanes to `to`, and something behind them up to a full vector; returns how many they are.
// To store just these takes a hundred cycles on Zen 4.
template <class Tag, class V, class Mask, class T>
inline Index compress(Tag d, V v, Mask chosen, T* to) {
  hn::StoreU(chosen_first(v, chosen), d, to);
  return static_cast<Index>(hn::CountTrue(d, chosen));
}

// v[n - lanes .. n) with the entries before `done` replaced by 0: the last, partial vector of a sum, read
// without leaving the array. Needs n >= lanes.
inline VectorD last_entries(D d, const double* v, Index n, Index done) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto skip = hn::FirstN(d, static_cast<std::size_t>(lanes - (n - done)));
  return hn::IfThenZeroElse(skip, hn::LoadU(d, v + n - lanes));
}

template <class Scalar>
double dot_any(const Scalar* x, const double* v, Index n) {
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
    if (i < n) b = hn::MulAdd(load(d, x + n - lanes), last_entries(d, v, n, i), b);
    return sum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(x[i]) * v[i];
  return total;
}

template <class Scalar>
void dot4_any(const Scalar* const x[4], const double* v, Index n, double out[4]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (n < lanes) {
    for (int k = 0; k < 4; ++k) out[k] += dot_any(x[k], v, n);
    return;
  }
  const Scalar *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
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

template <class Scalar>
void dot4x2_any(const Scalar* const x[4], const double* v, const double* w, Index n, double out[8]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Scalar *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
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
  const Scalar* const rest[4] = {x0 + i, x1 + i, x2 + i, x3 + i};
  dot4_any(rest, v + i, n - i, out);
  dot4_any(rest, w + i, n - i, out + 4);
}

template <class Scalar>
void axpy_any(double factor, const Scalar* x, double* y, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD a = hn::Set(d, factor);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::MulAdd(a, load(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

// f(v_0) + f(v_1) + ... by vectors, and g likewise; both are 0 of `neutral`, which fills up the last one.
template <class Scalar, class F, class G>
Sums sums_of(const Scalar* x, Index n, double neutral, F f, G g) {
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
      a = hn::IfThenElse(done, a, load(d, x + n - lanes));
    } else {
      HWY_ALIGN double few[HWY_MAX_BYTES / sizeof(double)];
      for (Index k = 0; k < lanes; ++k) few[k] = k < n ? static_cast<double>(x[k]) : neutral;
      a = hn::Load(d, few);
    }
    f1 = f(f1, a), g1 = g(g1, a);
  }
  return {sum(d, hn::Add(f0, f1)), sum(d, hn::Add(g0, g1))};
}

template <class Scalar>
Sums sums_any(const Scalar* x, Index n, double center) {
  const VectorD all = hn::Set(D(), center);
  return sums_of(
      x, n, center, [&](VectorD total, VectorD v) { return hn::Add(total, hn::Sub(v, all)); },
      [&](VectorD total, VectorD v) {
        const VectorD off = hn::Sub(v, all);
        return hn::MulAdd(off, off, total);
      });
}

Magnitudes magnitudes_of(const double* v, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  VectorD a = hn::Zero(d), b = a, most = a;
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const VectorD p = hn::Abs(hn::LoadU(d, v + i)), q = hn::Abs(hn::LoadU(d, v + i + lanes));
    a = hn::Add(a, p), b = hn::Add(b, q), most = hn::Max(most, hn::Max(p, q));
  }
  Magnitudes result{sum(d, hn::Add(a, b)), hn::GetLane(hn::MaxOfLanes(d, most))};
  for (; i < n; ++i) {
    result.sum += std::abs(v[i]);
    result.largest = std::max(result.largest, std::abs(v[i]));
  }
  return result;
}

// What is not a number is no maximum.
void maxima_of(const double* v, Index n, Index block, double* out) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto larger = [](VectorD a, VectorD b) { return hn::IfThenElse(hn::Gt(a, b), a, b); };
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    VectorD most = hn::Zero(d), more = most;
    Index i = begin;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      most = larger(hn::Abs(hn::LoadU(d, v + i)), most);
      more = larger(hn::Abs(hn::LoadU(d, v + i + lanes)), more);
    }
    double largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, more)));
    for (; i < end; ++i) largest = std::abs(v[i]) > largest ? std::abs(v[i]) : largest;
    *out++ = largest;
  }
}

Index count(const double* v, Index n, double threshold) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD bound = hn::Set(d, threshold);
  Index result = 0, i = 0;
  for (; i + lanes <= n; i += lanes)
    result += static_cast<Index>(hn::CountTrue(d, hn::Ge(hn::Abs(hn::LoadU(d, v + i)), bound)));
  for (; i < n; ++i) result += std::abs(v[i]) >= threshold ? 1 : 0;
  return result;
}

Index gather(const double* v, Index n, double threshold, double* out) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD bound = hn::Set(d, threshold);
  Index count = 0, i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD a = hn::Abs(hn::LoadU(d, v + i));
    count += compress(d, a, hn::Ge(a, bound), out + count);
  }
  for (; i < n; ++i)
    if (const double a = std::abs(v[i]); a >= threshold) out[count++] = a;
  return count;
}

// The numbers of the entries with |v_i| >= threshold; write(i, above, v_i) sees all, by vectors.
template <class Write>
Index find_any(const double* v, Index n, double threshold, Index* index, Write write) {
  const D d;
  const DI di;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD bound = hn::Set(d, threshold);
  auto number = hn::Iota(di, 0);
  const auto step = hn::Set(di, lanes);
  auto* out = reinterpret_cast<hn::TFromD<decltype(di)>*>(index);
  Index count = 0, i = 0;
  for (; i + lanes <= n; i += lanes, number = hn::Add(number, step)) {
    const VectorD a = hn::LoadU(d, v + i);
    const auto above = hn::Ge(hn::Abs(a), bound);
    write(i, above, a);
    if (hn::AllFalse(d, above)) continue;
    count += compress(di, number, hn::RebindMask(di, above), out + count);
  }
  for (; i < n; ++i)
    if (std::abs(v[i]) >= threshold) index[count++] = i;
  return count;
}

Index find(const double* v, Index n, double threshold, Index* index) {
  return find_any(v, n, threshold, index, [](auto...) {});
}

Index zero(double* v, Index n, double threshold, Index* index) {
  const D d;
  const Index count = find_any(v, n, threshold, index, [&](Index i, auto above, auto a) {
    hn::StoreU(hn::IfThenElseZero(above, a), d, v + i);
  });
  for (Index i = n - n % static_cast<Index>(hn::Lanes(d)); i < n; ++i)
    if (!(std::abs(v[i]) >= threshold)) v[i] = 0;
  return count;
}

void grow_any(const double* v, const double* since, const double* norm, double now, double factor,
              double* out, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD until = hn::Set(d, now), times = hn::Set(d, factor);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD a = hn::LoadU(d, v + i);
    const VectorD more = hn::Mul(hn::Sub(until, hn::LoadU(d, since + i)), hn::LoadU(d, norm + i));
    hn::StoreU(hn::Mul(times, hn::Add(a, hn::CopySignToAbs(more, a))), d, out + i);
  }
  for (; i < n; ++i) out[i] = factor * (v[i] + std::copysign((now - since[i]) * norm[i], v[i]));
}

void bounds_any(Scaled v, Scaled norm, Scaled size, double* out, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const VectorD a = hn::Set(d, v.factor), b = hn::Set(d, norm.factor), c = hn::Set(d, size.factor);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VectorD reach = hn::MulAdd(b, hn::LoadU(d, norm.v + i), hn::Mul(c, hn::LoadU(d, size.v + i)));
    hn::StoreU(hn::Add(hn::Abs(hn::Mul(a, hn::LoadU(d, v.v + i))), reach), d, out + i);
  }
  for (; i < n; ++i)
    out[i] = std::abs(v.factor * v.v[i]) + (norm.factor * norm.v[i] + size.factor * size.v[i]);
}

double dot_double(const double* x, const double* v, Index n) { return dot_any(x, v, n); }
double dot_float(const float* x, const double* v, Index n) { return dot_any(x, v, n); }
void dot4_double(const double* const x[4], const double* v, Index n, double out[4]) {
  dot4_any(x, v, n, out);
}
void dot4_float(const float* const x[4], const double* v, Index n, double out[4]) { dot4_any(x, v, n, out); }
void dot4x2_double(const double* const x[4], const double* v, const double* w, Index n, double out[8]) {
  dot4x2_any(x, v, w, n, out);
}
void dot4x2_float(const float* const x[4], const double* v, const double* w, Index n, double out[8]) {
  dot4x2_any(x, v, w, n, out);
}
void axpy_double(double a, const double* x, double* y, Index n) { axpy_any(a, x, y, n); }
void axpy_float(double a, const float* x, double* y, Index n) { axpy_any(a, x, y, n); }
Sums sums_double(const double* x, Index n, double center) { return sums_any(x, n, center); }
Sums sums_float(const float* x, Index n, double center) { return sums_any(x, n, center); }

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {

static_assert(sizeof(Index) == 8);
HWY_EXPORT(dot_double);
HWY_EXPORT(dot_float);
HWY_EXPORT(dot4_double);
HWY_EXPORT(dot4_float);
HWY_EXPORT(dot4x2_double);
HWY_EXPORT(dot4x2_float);
HWY_EXPORT(axpy_double);
HWY_EXPORT(axpy_float);
HWY_EXPORT(sums_double);
HWY_EXPORT(sums_float);
HWY_EXPORT(magnitudes_of);
HWY_EXPORT(maxima_of);
HWY_EXPORT(count);
HWY_EXPORT(gather);
HWY_EXPORT(find);
HWY_EXPORT(zero);
HWY_EXPORT(grow_any);
HWY_EXPORT(bounds_any);

double dot(const double* x, const double* v, Index n) { return HWY_DYNAMIC_DISPATCH(dot_double)(x, v, n); }
double dot(const float* x, const double* v, Index n) { return HWY_DYNAMIC_DISPATCH(dot_float)(x, v, n); }
void dot4(const double* const x[4], const double* v, Index n, double out[4]) {
  HWY_DYNAMIC_DISPATCH(dot4_double)(x, v, n, out);
}
void dot4(const float* const x[4], const double* v, Index n, double out[4]) {
  HWY_DYNAMIC_DISPATCH(dot4_float)(x, v, n, out);
}
void dot4x2(const double* const x[4], const double* v, const double* w, Index n, double out[8]) {
  HWY_DYNAMIC_DISPATCH(dot4x2_double)(x, v, w, n, out);
}
void dot4x2(const float* const x[4], const double* v, const double* w, Index n, double out[8]) {
  HWY_DYNAMIC_DISPATCH(dot4x2_float)(x, v, w, n, out);
}
void axpy(double a, const double* x, double* y, Index n) { HWY_DYNAMIC_DISPATCH(axpy_double)(a, x, y, n); }
void axpy(double a, const float* x, double* y, Index n) { HWY_DYNAMIC_DISPATCH(axpy_float)(a, x, y, n); }
Sums sums(const double* x, Index n, double center) { return HWY_DYNAMIC_DISPATCH(sums_double)(x, n, center); }
Sums sums(const float* x, Index n, double center) { return HWY_DYNAMIC_DISPATCH(sums_float)(x, n, center); }
Magnitudes magnitudes(const double* v, Index n) { return HWY_DYNAMIC_DISPATCH(magnitudes_of)(v, n); }
void block_maxima(const double* v, Index n, Index block, double* out) {
  HWY_DYNAMIC_DISPATCH(maxima_of)(v, n, block, out);
}
Index count_above(const double* v, Index n, double threshold) {
  return HWY_DYNAMIC_DISPATCH(count)(v, n, threshold);
}
Index gather_above(const double* v, Index n, double threshold, double* out) {
  return HWY_DYNAMIC_DISPATCH(gather)(v, n, threshold, out);
}
Index find_above(const double* v, Index n, double threshold, Index* index) {
  return HWY_DYNAMIC_DISPATCH(find)(v, n, threshold, index);
}
Index zero_below(double* v, Index n, double threshold, Index* index) {
  return HWY_DYNAMIC_DISPATCH(zero)(v, n, threshold, index);
}
void grow(const double* v, const double* since, const double* norm, double now, double factor, double* out,
          Index n) {
  HWY_DYNAMIC_DISPATCH(grow_any)(v, since, norm, now, factor, out, n);
}
void bounds(Scaled v, Scaled norm, Scaled size, double* out, Index n) {
  HWY_DYNAMIC_DISPATCH(bounds_any)(v, norm, size, out, n);
}

}  // namespace tyto::kernels
#endif
