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

Magnitudes magnitudes_of(const double* v, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  VectorD a = hn::Zero(d), b = a, most = a;
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const VectorD p = hn::Abs(hn::LoadU(d, v + i)), q = hn::Abs(hn::LoadU(d, v + i + lanes));
    a = hn::Add(a, p);
    b = hn::Add(b, q);
    most = hn::Max(most, hn::Max(p, q));
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

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {

static_assert(sizeof(Index) == 8);
HWY_EXPORT(magnitudes_of);
HWY_EXPORT(maxima_of);
HWY_EXPORT(count);
HWY_EXPORT(gather);
HWY_EXPORT(find);
HWY_EXPORT(zero);
HWY_EXPORT(grow_any);
HWY_EXPORT(bounds_any);

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
