// Products of dense matrices. Both factors are packed into panels of a few rows of op(a) or columns of op(b),
// and a tile of the result stays in registers while its panels go by (Goto and van de Geijn, 2008). Of a
// narrow product what can be read in place is not packed. An entry is the same sum in the same order either
// way.
#include <algorithm>
#include <array>
#include <new>

#include "tyto/math/kernels.h"

// Tiles are arrays of vectors, which targets whose vectors have no fixed size do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tyto/math/product_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tyto::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using VectorD = hn::Vec<D>;

constexpr Index kLanes = hn::MaxLanes(D());
// A tile has kVectors vectors of rows and kWidth columns: with 32 registers of 8 lanes 24 x 8, with 16 of 4
// lanes 12 x 4, with 2 lanes 4 x 4. The rest of the registers holds what is multiplied.
constexpr int kVectors = kLanes >= 4 ? 3 : static_cast<int>(4 / kLanes);
constexpr int kWidth = kLanes >= 8 ? 8 : 4;
constexpr Index kPanel = kVectors * kLanes;
// What is packed at a time: kDepth terms of each sum, kRows rows of op(a) (200 KB, for the second-level
// cache) and kColumns columns of op(b) (2 MB).
constexpr Index kDepth = 256;
constexpr Index kRows = 96;
constexpr Index kColumns = 960;
static_assert(kPanel % kWidth == 0 && kRows % kPanel == 0 && kColumns % kRows == 0);

// Where a tile goes: `rows` x `cols` of c, whose first entry is entry (row, col) of the result.
struct Tile {
  double* c;
  Index stride, rows, cols;
  Index row, col;
};

// In place: vector i gets lane i of all of them.
HWY_INLINE void transpose([[maybe_unused]] D d, [[maybe_unused]] std::array<VectorD, kLanes>& v) {
#if HWY_TARGET != HWY_SCALAR
  for (Index i = 0; i < kLanes; i += 2) {
    const VectorD a = v[i], b = v[i + 1];
    v[i] = hn::InterleaveLower(d, a, b);
    v[i + 1] = hn::InterleaveUpper(d, a, b);
  }
#endif
#if HWY_MAX_BYTES >= 32
  if constexpr (kLanes >= 4)
    for (Index i = 0; i < kLanes; i += 4)
      for (Index k = i; k < i + 2; ++k) {
        const VectorD a = v[k], b = v[k + 2];
        v[k] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        v[k + 2] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      }
#endif
#if HWY_MAX_BYTES >= 64
  if constexpr (kLanes >= 8)
    for (Index k = 0; k < 4; ++k) {
      const VectorD a = v[k], b = v[k + 4];
      v[k] = hn::ConcatLowerLower(d, b, a);
      v[k + 4] = hn::ConcatUpperUpper(d, b, a);
    }
#endif
}

// Packs lines first .. first + count - 1 of a factor whose lines lie one after the other, terms begin ..
// begin + depth - 1: to[t * kPanel + i] is term t of line i. The last line fills up a vector of lines: what
// is computed from it is never stored.
void pack_lines(const Factor& from, Index first, Index count, Index begin, Index depth, double* to) {
  const D d;
  for (Index i = 0; i < count; i += kLanes) {
    std::array<const double*, kLanes> line;
    for (Index k = 0; k < kLanes; ++k)
      line[k] = from.data + (first + std::min(i + k, count - 1)) * from.stride + begin;
    if (depth < kLanes) {
      for (Index t = 0; t < depth; ++t)
        for (Index k = 0; k < kLanes; ++k) to[t * kPanel + i + k] = line[k][t];
      continue;
    }
    for (Index next = 0; next < depth; next += kLanes) {
      const Index t = std::min(next, depth - kLanes);  // the last block overlaps the one before it
      std::array<VectorD, kLanes> block;
      for (Index k = 0; k < kLanes; ++k) block[k] = hn::LoadU(d, line[k] + t);
      transpose(d, block);
      for (Index k = 0; k < kLanes; ++k) hn::StoreU(block[k], d, to + (t + k) * kPanel + i);
    }
  }
  if constexpr (kWidth > kLanes) {  // the columns of a tile may be more than a vector
    if (const Index packed = (count + kLanes - 1) / kLanes * kLanes; packed % kWidth != 0)
      for (Index t = 0; t < depth; ++t) std::fill_n(to + t * kPanel + packed, kWidth - packed % kWidth, 0.0);
  }
}

// The same where the terms of all lines lie one after the other: term t of line i is at data[t * stride + i].
void pack_terms(const Factor& from, Index first, Index count, Index begin, Index depth, double* to) {
  const D d;
  if (count == kPanel) {
    const double* source = from.data + begin * from.stride + first;
    for (Index t = 0; t < depth; ++t, source += from.stride, to += kPanel)
      for (Index v = 0; v < kPanel; v += kLanes) hn::StoreU(hn::LoadU(d, source + v), d, to + v);
    return;
  }
  constexpr Index kStep = std::max<Index>(kWidth, kLanes);
  const Index filled = (count + kStep - 1) / kStep * kStep;
  for (Index t = 0; t < depth; ++t) {
    const double* source = from.data + (begin + t) * from.stride + first;
    double* target = to + t * kPanel;
    std::copy_n(source, count, target);
    std::fill(target + count, target + filled, 0.0);
  }
}

void pack(const Factor& from, Index first, Index count, Index begin, Index depth, double* to) {
  for (Index i = 0; i < count; i += kPanel, to += kPanel * depth) {
    const Index lines = std::min(kPanel, count - i);
    if (from.lines_contiguous)
      pack_lines(from, first + i, lines, begin, depth, to);
    else
      pack_terms(from, first + i, lines, begin, depth, to);
  }
}

// How a sum of products joins what is there: keep * c + factor * sum.
struct Join {
  double keep, factor;
  bool lower;  // entries above the diagonal of the result stay as they are
};

HWY_INLINE VectorD joined(D d, const Join& how, VectorD sum, const double* c) {
  const VectorD scaled = hn::Mul(hn::Set(d, how.factor), sum);
  if (how.keep == 0) return scaled;
  return hn::Add(hn::Mul(hn::Set(d, how.keep), hn::LoadU(d, c)), scaled);
}

// Part of a tile, entry by entry, from sums by columns of `height` entries.
void store_part(const double* sums, Index height, const Join& how, const Tile& to) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i) {
      if (how.lower && to.row + i < to.col + j) continue;
      double& c = to.c[j * to.stride + i];
      const double scaled = how.factor * sums[j * height + i];
      c = how.keep == 0 ? scaled : how.keep * c + scaled;
    }
}

// The factors of a tile, as they are packed. Term t of row i of op(a) is at a[t * a_step + i].
struct PackedPair {
  const double *a, *b;
  Index depth;
  static constexpr Index a_step = kPanel;

  // A term of each of W columns of op(b).
  template <int W>
  struct Columns {
    Columns(const PackedPair& pair, Index /*cols*/) : b(pair.b) {}
    double operator[](int j) const { return b[j]; }
    void next() { b += kPanel; }
    const double* HWY_RESTRICT b;
  };
};

// The same with op(b), and perhaps op(a), where they are.
struct PairInPlace {
  const double *a, *b;
  Index depth;
  Index a_step;
  Index line, term;  // from a column of op(b) to the next, and from a term to the next

  // Columns past the last one are the last one again: what is computed from them is never stored.
  template <int W>
  struct Columns {
    Columns(const PairInPlace& pair, Index cols) : term(pair.term) {
      for (Index j = 0; j < W; ++j) b[j] = pair.b + std::min(j, cols - 1) * pair.line;
    }
    double operator[](int j) const { return b[j][at]; }
    void next() { at += term; }
    const double* b[W];
    Index term, at = 0;
  };
};

// A tile of V vectors of rows and W columns: all terms of its sums, in order, then into the result.
template <int V, int W, class Pair>
HWY_INLINE void multiply_tile(const Pair& of, const Join& how, const Tile& to) {
  const D d;
  VectorD sum[V][W];
  for (int v = 0; v < V; ++v)
    for (int j = 0; j < W; ++j) sum[v][j] = hn::Zero(d);
  const double* HWY_RESTRICT a = of.a;
  typename Pair::template Columns<W> b(of, to.cols);
  for (Index t = 0; t < of.depth; ++t, a += of.a_step, b.next()) {
    VectorD left[V];
    for (int v = 0; v < V; ++v) left[v] = hn::LoadU(d, a + v * kLanes);
    for (int j = 0; j < W; ++j) {
      const VectorD right = hn::Set(d, b[j]);
      for (int v = 0; v < V; ++v) sum[v][j] = hn::MulAdd(left[v], right, sum[v][j]);
    }
  }
  constexpr Index kHeight = V * kLanes;
  const bool crosses = how.lower && to.row < to.col + W - 1;
  if (to.rows == kHeight && to.cols == W && !crosses) {
    for (int j = 0; j < W; ++j)
      for (int v = 0; v < V; ++v) {
        double* c = to.c + j * to.stride + v * kLanes;
        hn::StoreU(joined(d, how, sum[v][j], c), d, c);
      }
    return;
  }
  HWY_ALIGN double sums[kHeight * W];
  for (int j = 0; j < W; ++j)
    for (int v = 0; v < V; ++v) hn::Store(sum[v][j], d, sums + j * kHeight + v * kLanes);
  store_part(sums, kHeight, how, to);
}

// A tile of the least height that holds its rows.
template <int W, class Pair>
HWY_INLINE void multiply_rows(const Pair& of, const Join& how, const Tile& to) {
  if (to.rows > 2 * kLanes)
    multiply_tile<kVectors, W>(of, how, to);
  else if (to.rows > kLanes)
    multiply_tile<2, W>(of, how, to);
  else
    multiply_tile<1, W>(of, how, to);
}

// At most kPanel rows and kWidth columns, in a tile of the least width that holds them.
template <class Pair>
void multiply_part(const Pair& of, const Join& how, const Tile& to) {
  if (how.lower && to.row + to.rows <= to.col) return;
  if (to.cols > kWidth / 2)
    multiply_rows<kWidth>(of, how, to);
  else if (to.cols > 2)
    multiply_rows<kWidth / 2>(of, how, to);
  else
    multiply_rows<2>(of, how, to);
}

// Rows of a packed block of op(a) times one slice of at most kWidth columns of a packed block of op(b).
void multiply_slice(const double* a, const double* b, Index depth, const Join& how, const Tile& block) {
  for (Index i = 0; i < block.rows; i += kPanel, a += kPanel * depth) {
    Tile to = block;
    to.c += i;
    to.row += i;
    to.rows = std::min(kPanel, block.rows - i);
    multiply_part(PackedPair{a, b, depth}, how, to);
  }
}

struct Buffers {
  Buffers(Index rows, Index cols, Index depth) : a(allocate(rows, depth)), b(allocate(cols, depth)) {}
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    ::operator delete[](a, kAlignment);
    ::operator delete[](b, kAlignment);
  }
  static constexpr std::align_val_t kAlignment{64};
  static double* allocate(Index lines, Index depth) {
    const Index panels = (lines + kPanel - 1) / kPanel;
    const auto bytes = static_cast<std::size_t>(panels * kPanel * depth) * sizeof(double);
    return static_cast<double*>(::operator new[](std::max<std::size_t>(bytes, 1), kAlignment));
  }
  double *a, *b;
};

void multiply_packed(const Product& p, double* c, Index stride) {
  const bool same = p.a.data == p.b.data && p.a.stride == p.b.stride && p.lower;
  const Index deepest = std::min(kDepth, p.depth);
  const Buffers packed(same && p.rows <= kColumns ? 0 : std::min(kRows, p.rows), std::min(kColumns, p.cols),
                       deepest);
  for (Index begin = 0; begin < p.depth; begin += kDepth) {
    const Index depth = std::min(kDepth, p.depth - begin);
    const Join how{begin == 0 ? p.keep : 1.0, p.factor, p.lower};
    for (Index left = 0; left < p.cols; left += kColumns) {
      const Index width = std::min(kColumns, p.cols - left);
      pack(p.b, left, width, begin, depth, packed.b);
      for (Index top = p.lower ? left : 0; top < p.rows; top += kRows) {
        const Index height = std::min(kRows, p.rows - top);
        const bool shared = same && top < left + width;
        const double* a = shared ? packed.b + (top - left) * depth : packed.a;
        if (!shared) pack(p.a, top, height, begin, depth, packed.a);
        for (Index j = 0; j < width; j += kWidth) {
          const double* b = packed.b + j / kPanel * kPanel * depth + j % kPanel;
          multiply_slice(a, b, depth, how,
                         {c + (left + j) * stride + top, stride, height, std::min<Index>(kWidth, width - j),
                          top, left + j});
        }
      }
    }
  }
}

// The same where op(b) is narrow: it is read in place, and so is op(a) where its rows lie one after the
// other.
void multiply_in_place(const Product& p, double* c, Index stride) {
  HWY_ALIGN double packed[kPanel * kDepth];
  const Index line = p.b.lines_contiguous ? p.b.stride : 1;
  const Index term = p.b.lines_contiguous ? 1 : p.b.stride;
  for (Index begin = 0; begin < p.depth; begin += kDepth) {
    const Index depth = std::min(kDepth, p.depth - begin);
    const Join how{begin == 0 ? p.keep : 1.0, p.factor, p.lower};
    for (Index top = 0; top < p.rows; top += kPanel) {
      const Index height = std::min(kPanel, p.rows - top);
      PairInPlace of{packed, nullptr, depth, kPanel, line, term};
      if (p.a.lines_contiguous || height < kPanel) {
        pack(p.a, top, height, begin, depth, packed);
      } else {
        of.a = p.a.data + begin * p.a.stride + top;
        of.a_step = p.a.stride;
      }
      for (Index left = 0; left < p.cols; left += kWidth) {
        const Index width = std::min<Index>(kWidth, p.cols - left);
        of.b = p.b.data + begin * term + left * line;
        multiply_part(of, how, {c + left * stride + top, stride, height, width, top, left});
      }
    }
  }
}

// The upper triangle from the lower one, in square blocks of a vector's width.
void mirror_lower(double* c, Index stride, Index n) {
  const D d;
  const Index whole = n / kLanes * kLanes;
  for (Index j = 0; j < n; j += kLanes) {
    for (Index i = j + kLanes; i < whole; i += kLanes) {
      std::array<VectorD, kLanes> block;
      for (Index k = 0; k < kLanes; ++k) block[k] = hn::LoadU(d, c + (j + k) * stride + i);
      transpose(d, block);
      for (Index k = 0; k < kLanes; ++k) hn::StoreU(block[k], d, c + (i + k) * stride + j);
    }
    const Index end = std::min(j + kLanes, n);
    for (Index i = j; i < end; ++i)
      for (Index k = j; k < i; ++k) c[i * stride + k] = c[k * stride + i];
    for (Index i = std::max(whole, end); i < n; ++i)
      for (Index k = j; k < end; ++k) c[i * stride + k] = c[k * stride + i];
  }
}

// y <- y + factor a x, four columns at a time: y is read and written once for them.
void add_columns(double factor, const ColumnBlock& block, const double* x, double* y) {
  const D d;
  const auto [a, stride, rows, cols] = block;
  Index j = 0;
  for (; j + 4 <= cols; j += 4) {
    const double *a0 = a + j * stride, *a1 = a0 + stride, *a2 = a1 + stride, *a3 = a2 + stride;
    const double x0 = factor * x[j], x1 = factor * x[j + 1], x2 = factor * x[j + 2], x3 = factor * x[j + 3];
    const VectorD f0 = hn::Set(d, x0), f1 = hn::Set(d, x1), f2 = hn::Set(d, x2), f3 = hn::Set(d, x3);
    Index i = 0;
    for (; i + kLanes <= rows; i += kLanes) {
      const VectorD odd = hn::MulAdd(f1, hn::LoadU(d, a1 + i), hn::Mul(f3, hn::LoadU(d, a3 + i)));
      const VectorD even = hn::MulAdd(f0, hn::LoadU(d, a0 + i), hn::LoadU(d, y + i));
      hn::StoreU(hn::Add(hn::MulAdd(f2, hn::LoadU(d, a2 + i), even), odd), d, y + i);
    }
    for (; i < rows; ++i) y[i] = (y[i] + x0 * a0[i] + x2 * a2[i]) + (x1 * a1[i] + x3 * a3[i]);
  }
  for (; j < cols; ++j) axpy(factor * x[j], a + j * stride, y, rows);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace tyto::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyto::kernels {
namespace {

// Rows or columns of a result up to which packing op(b) costs more than it saves.
constexpr Index kNarrow = 48;

}  // namespace

HWY_EXPORT(multiply_packed);
HWY_EXPORT(multiply_in_place);
HWY_EXPORT(mirror_lower);
HWY_EXPORT(add_columns);
HWY_EXPORT(target_name);

void multiply(const Product& product, double* c, Index stride) {
  if (std::min(product.rows, product.cols) <= kNarrow)
    HWY_DYNAMIC_DISPATCH(multiply_in_place)(product, c, stride);
  else
    HWY_DYNAMIC_DISPATCH(multiply_packed)(product, c, stride);
}
void mirror(double* c, Index stride, Index n) { HWY_DYNAMIC_DISPATCH(mirror_lower)(c, stride, n); }
void add_product(double factor, const ColumnBlock& a, const double* x, double* y) {
  HWY_DYNAMIC_DISPATCH(add_columns)(factor, a, x, y);
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace tyto::kernels
#endif
