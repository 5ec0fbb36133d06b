// What is computed from a column as it is stored: one set of loops, and a decoder for each type.
#include <algorithm>
#include <bit>
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
using D = hn::CappedTag<double, 8>;  // whose codes of two bits, four times, fit into 64
using VectorD = hn::Vec<D>;

inline double sum(D d, VectorD v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

// As many numbers as there are lanes.
inline VectorD load(D d, const double* p) { return hn::LoadU(d, p); }
inline VectorD load(D d, const float* p) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p)); }
template <class Integer>
inline VectorD load(D d, const Integer* p) {
  const hn::Rebind<std::int32_t, D> whole;
  return hn::PromoteTo(d, hn::PromoteTo(whole, hn::LoadU(hn::Rebind<Integer, D>(), p)));
}

// Codes of two bits, the first one lowest, in every lane: spread(). choose(): lane l is the value of code
// number k lanes + l. To shift a code down to its lane leaves others above it.
using DU = hn::RebindToUnsigned<D>;
#if HWY_ARCH_X86 && HWY_CAP_GE512
using Codes = hn::Vec<DU>;
using Values = VectorD;
inline Values values_of(const Genotypes& x) {  // twice: the index has a third bit, of the next code
  HWY_ALIGN const double values[8] = {2, x.filling, 1, 0, 2, x.filling, 1, 0};
  return hn::Load(D(), values);
}
inline Codes spread(std::uint64_t codes) { return hn::Set(DU(), codes); }
inline VectorD choose(Codes codes, int k, Values values) {
  const DU du;
  const Codes numbers = hn::Iota(du, static_cast<std::uint64_t>(8 * k));
  const Codes own = hn::Shr(codes, hn::Add(numbers, numbers));
  return hn::TableLookupLanes(values, hn::Indices512<double>{own.raw});
}
#elif HWY_TARGET == HWY_AVX2
using DF = hn::Repartition<float, D>;
using DH = hn::Repartition<std::uint32_t, D>;
using Codes = hn::Vec<DH>;
using Values = hn::Vec<DF>;
inline Values values_of(const Genotypes& x) {  // the lower halves of the four doubles, then the upper ones
  HWY_ALIGN std::uint32_t halves[8];
  const double values[4] = {2, x.filling, 1, 0};
  for (int k = 0; k < 4; ++k) {
    const auto bits = std::bit_cast<std::uint64_t>(values[k]);
    halves[k] = static_cast<std::uint32_t>(bits);
    halves[4 + k] = static_cast<std::uint32_t>(bits >> 32);
  }
  return hn::BitCast(DF(), hn::Load(DH(), halves));
}
inline Codes spread(std::uint64_t codes) { return hn::Set(DH(), static_cast<std::uint32_t>(codes)); }
inline VectorD choose(Codes codes, int k, Values values) {  // for both halves of each lane
  const DH dh;
  const auto numbers = hn::Iota(dh, 0);
  const auto upper = hn::And(numbers, hn::Set(dh, 1));
  const auto shifts = hn::Add(hn::Sub(numbers, upper), hn::Set(dh, static_cast<std::uint32_t>(8 * k)));
  const auto own = hn::And(hn::Shr(codes, shifts), hn::Set(dh, 3));
  const auto index = hn::Or(own, hn::ShiftLeft<2>(upper));
  return hn::BitCast(D(), hn::TableLookupLanes(values, hn::Indices256<float>{index.raw}));
}
#else
using Codes = hn::Vec<DU>;
using Values = double;  // the filling
inline Values values_of(const Genotypes& x) { return x.filling; }
inline Codes spread(std::uint64_t codes) { return hn::Set(DU(), codes); }
inline VectorD choose(Codes codes, int k, Values filling) {
  const D d;
  const DU du;
  const auto numbers = hn::Iota(du, hn::Lanes(d) * static_cast<std::uint64_t>(k));
  const auto own = hn::And(hn::Shr(codes, hn::Add(numbers, numbers)), hn::Set(du, 3));
  const auto is = [&](std::uint64_t code) { return hn::RebindMask(d, hn::Eq(own, hn::Set(du, code))); };
  const VectorD few = hn::IfThenElseZero(is(2), hn::Set(d, 1));
  return hn::IfThenElse(is(0), hn::Set(d, 2), hn::IfThenElse(is(1), hn::Set(d, filling), few));
}
#endif

// The entries of a column in double. at(i): those from row i on, one a lane. four(i): what the next four such
// vectors are made of; part(four, k): the k-th of them.
template <class C>
class Decoder {
 public:
  Decoder(D d, C x) : d_(d), x_(x) {}
  VectorD at(Index i) const { return load(d_, x_ + i); }
  C four(Index i) const { return x_ + i; }
  VectorD part(C four, int k) const { return load(d_, four + k * static_cast<Index>(hn::Lanes(d_))); }

 private:
  D d_;
  C x_;
};

template <>
class Decoder<Genotypes> {
 public:
  Decoder(D d, const Genotypes& x) : lanes_(static_cast<Index>(hn::Lanes(d))), x_(x), values_(values_of(x)) {}

  VectorD at(Index i) const {  // reads the bytes of these rows only
    const Index begin = x_.first + i;
    const Index last = begin + lanes_ - 1;
    std::uint64_t codes = 0;
    for (Index byte = last / 4; byte >= begin / 4; --byte) codes = codes << 8 | x_.bytes[byte];
    return choose(spread(codes >> (2 * (begin % 4))), 0, values_);
  }
  Codes four(Index i) const {  // i: a multiple of 4
    const std::uint8_t* from = x_.bytes + i / 4;
    const Index bytes = std::min<Index>(lanes_, 8);
    std::uint64_t codes = 0;
    std::memcpy(&codes, from, static_cast<std::size_t>(bytes));
    if (x_.first > 0)
      codes = codes >> (2 * x_.first) | std::uint64_t{from[bytes]} << (8 * bytes - 2 * x_.first);
    return spread(codes);
  }
  VectorD part(Codes four, int k) const { return choose(four, k, values_); }

 private:
  Index lanes_;
  Genotypes x_;
  Values values_;
};

// v[n - lanes .. n) with the entries before `done` replaced by 0: the last, partial vector of a sum, read
// without leaving the array. Needs n >= lanes.
inline VectorD last_entries(D d, const double* v, Index n, Index done) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto skip = hn::FirstN(d, static_cast<std::size_t>(lanes - (n - done)));
  return hn::IfThenZeroElse(skip, hn::LoadU(d, v + n - lanes));
}

template <Column C>
double dot_of(C column, const double* v, Index n) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Decoder<C> x(d, column);
  VectorD a = hn::Zero(d), b = a, c = a, e = a;
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto four = x.four(i);
    a = hn::MulAdd(x.part(four, 0), hn::LoadU(d, v + i), a);
    b = hn::MulAdd(x.part(four, 1), hn::LoadU(d, v + i + lanes), b);
    c = hn::MulAdd(x.part(four, 2), hn::LoadU(d, v + i + 2 * lanes), c);
    e = hn::MulAdd(x.part(four, 3), hn::LoadU(d, v + i + 3 * lanes), e);
  }
  for (; i + lanes <= n; i += lanes) a = hn::MulAdd(x.at(i), hn::LoadU(d, v + i), a);
  if (n >= lanes) {
    if (i < n) b = hn::MulAdd(x.at(n - lanes), last_entries(d, v, n, i), b);
    return sum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(column[i]) * v[i];
  return total;
}

template <Column C>
void dot4_of(const C* columns, const double* v, Index n, double out[4]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  if (n < lanes) {
    for (int k = 0; k < 4; ++k) out[k] += dot_of(columns[k], v, n);
    return;
  }
  const Decoder<C> x0(d, columns[0]), x1(d, columns[1]), x2(d, columns[2]), x3(d, columns[3]);
  VectorD a = hn::Zero(d), b = a, c = a, e = a;
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto y0 = x0.four(i), y1 = x1.four(i), y2 = x2.four(i), y3 = x3.four(i);
    for (int k = 0; k < 4; ++k) {
      const VectorD vi = hn::LoadU(d, v + i + k * lanes);
      a = hn::MulAdd(x0.part(y0, k), vi, a);
      b = hn::MulAdd(x1.part(y1, k), vi, b);
      c = hn::MulAdd(x2.part(y2, k), vi, c);
      e = hn::MulAdd(x3.part(y3, k), vi, e);
    }
  }
  const auto add = [&](Index row, VectorD vi) {
    a = hn::MulAdd(x0.at(row), vi, a);
    b = hn::MulAdd(x1.at(row), vi, b);
    c = hn::MulAdd(x2.at(row), vi, c);
    e = hn::MulAdd(x3.at(row), vi, e);
  };
  for (; i + lanes <= n; i += lanes) add(i, hn::LoadU(d, v + i));
  if (i < n) add(n - lanes, last_entries(d, v, n, i));
  out[0] += sum(d, a);
  out[1] += sum(d, b);
  out[2] += sum(d, c);
  out[3] += sum(d, e);
}

template <Column C>
void dot4x2_of(const C* columns, const double* v, const double* w, Index n, double out[8]) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Decoder<C> x0(d, columns[0]), x1(d, columns[1]), x2(d, columns[2]), x3(d, columns[3]);
  VectorD a = hn::Zero(d), b = a, c = a, e = a, f = a, g = a, h = a, k = a;
  const auto add = [&](Index i, VectorD y0, VectorD y1, VectorD y2, VectorD y3) {
    const VectorD vi = hn::LoadU(d, v + i), wi = hn::LoadU(d, w + i);
    a = hn::MulAdd(y0, vi, a);
    b = hn::MulAdd(y1, vi, b);
    c = hn::MulAdd(y2, vi, c);
    e = hn::MulAdd(y3, vi, e);
    f = hn::MulAdd(y0, wi, f);
    g = hn::MulAdd(y1, wi, g);
    h = hn::MulAdd(y2, wi, h);
    k = hn::MulAdd(y3, wi, k);
  };
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto y0 = x0.four(i), y1 = x1.four(i), y2 = x2.four(i), y3 = x3.four(i);
    for (int q = 0; q < 4; ++q)
      add(i + q * lanes, x0.part(y0, q), x1.part(y1, q), x2.part(y2, q), x3.part(y3, q));
  }
  for (; i + lanes <= n; i += lanes) add(i, x0.at(i), x1.at(i), x2.at(i), x3.at(i));
  const VectorD sums[8] = {a, b, c, e, f, g, h, k};
  for (int q = 0; q < 8; ++q) out[q] += sum(d, sums[q]);
  if (i == n) return;
  const C rest[4] = {columns[0] + i, columns[1] + i, columns[2] + i, columns[3] + i};
  dot4_of(rest, v + i, n - i, out);
  dot4_of(rest, w + i, n - i, out + 4);
}

// f(i, entries from row i on) for all full vectors of a column; returns the row after them.
template <Column C, class F>
Index for_each_vector(C column, Index n, F f) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Decoder<C> x(d, column);
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto four = x.four(i);
    for (int k = 0; k < 4; ++k) f(i + k * lanes, x.part(four, k));
  }
  for (; i + lanes <= n; i += lanes) f(i, x.at(i));
  return i;
}

template <Column C>
void axpy_of(double factor, C x, double* y, Index n) {
  const D d;
  const VectorD a = hn::Set(d, factor);
  const Index done = for_each_vector(x, n, [&](Index i, VectorD entries) {
    hn::StoreU(hn::MulAdd(a, entries, hn::LoadU(d, y + i)), d, y + i);
  });
  for (Index i = done; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

template <Column C>
void copy_of(C x, const Change& change, double* out, Index n) {
  const D d;
  const auto [shift, factor, roots] = change;
  const VectorD shifts = hn::Set(d, shift), factors = hn::Set(d, factor);
  const auto changed = [&](VectorD entries) { return hn::Mul(hn::Sub(entries, shifts), factors); };
  const Index done =
      roots == nullptr
          ? for_each_vector(x, n, [&](Index i, VectorD entries) { hn::StoreU(changed(entries), d, out + i); })
          : for_each_vector(x, n, [&](Index i, VectorD entries) {
              hn::StoreU(hn::Mul(changed(entries), hn::LoadU(d, roots + i)), d, out + i);
            });
  for (Index i = done; i < n; ++i) {
    out[i] = (static_cast<double>(x[i]) - shift) * factor;
    if (roots != nullptr) out[i] *= roots[i];
  }
}

template <Column C>
Sums sums_of(C column, Index n, double center) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Decoder<C> x(d, column);
  const VectorD centers = hn::Set(d, center);
  VectorD a = hn::Zero(d), b = a, c = a, e = a;
  const auto add = [&](VectorD entries, VectorD& total, VectorD& squares) {
    const VectorD off = hn::Sub(entries, centers);
    total = hn::Add(total, off);
    squares = hn::MulAdd(off, off, squares);
  };
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto four = x.four(i);
    add(x.part(four, 0), a, c);
    add(x.part(four, 1), b, e);
    add(x.part(four, 2), a, c);
    add(x.part(four, 3), b, e);
  }
  for (; i + lanes <= n; i += lanes) add(x.at(i), a, c);
  Sums result{sum(d, hn::Add(a, b)), sum(d, hn::Add(c, e))};
  for (; i < n; ++i) {
    const double off = static_cast<double>(column[i]) - center;
    result.sum += off;
    result.squares += off * off;
  }
  return result;
}

template <Column C>
constexpr ColumnKernels<C> kernels_of() {
  return {dot_of<C>, dot4_of<C>, dot4x2_of<C>, axpy_of<C>, copy_of<C>, sums_of<C>};
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
