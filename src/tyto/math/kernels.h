#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tyto/base/types.h"

// The few hot loops, compiled for every instruction set of the platform and chosen at run time (Highway), so
// that a portable binary is fast too. Sums are in double, in an order
// that depends on the length and the instruction set alone.
namespace tyto::kernels {

// Genotypes at two bits each, as StoredType::kGenotype has them, from one row on.
struct Genotypes {
  const std::uint8_t* bytes;
  double filling;   // what a missing one counts as
  Index first = 0;  // number of the row among those of the first byte: 0 to 3

  int bits(Index i) const { return bytes[(first + i) / 4] >> (2 * ((first + i) % 4)) & 3; }
  double operator[](Index i) const {
    const std::array<double, 4> values{2, filling, 1, 0};
    return values[static_cast<std::size_t>(bits(i))];
  }
  Genotypes operator+(Index rows) const { return {bytes + (first + rows) / 4, filling, (first + rows) % 4}; }
};

// What a column may be: of the same numbers, all have the same results, to the bit.
template <class T, class... Of>
concept OneOf = (std::same_as<T, Of> || ...);
template <class T>
concept Column = OneOf<T, const double*, const float*, const std::int8_t*, const std::uint8_t*,
                       const std::int16_t*, Genotypes>;

template <Column C>
double dot(C x, const double* v, Index n);
// out[k] <- out[k] + x[k]'v for four columns: v is read once, and the four sums hide each other's latency.
template <Column C>
void dot4(const C* x, const double* v, Index n, double out[4]);
// The same for two vectors: out[k] with v, out[4 + k] with w. The columns are read once.
template <Column C>
void dot4x2(const C* x, const double* v, const double* w, Index n, double out[8]);
template <Column C>
void axpy(double a, C x, double* y, Index n);  // y <- y + a x
// out <- (x - shift) factor, and times the roots, where they are not null.
struct Change {
  double shift = 0, factor = 1;
  const double* roots = nullptr;
};
template <Column C>
void copy(C x, const Change& change, double* out, Index n);

struct Sums {
  double sum, squares;
};
template <Column C>
Sums sums(C x, Index n, double center);  // of x_i - center, and of their squares

inline double dot(const double* x, const double* v, Index n) { return dot<const double*>(x, v, n); }
inline void axpy(double a, const double* x, double* y, Index n) { axpy<const double*>(a, x, y, n); }

struct Magnitudes {
  double sum, largest;
};
Magnitudes magnitudes(const double* v, Index n);

// The largest |v_i| of each block of so many entries; the last one may be shorter.
void block_maxima(const double* v, Index n, Index block, double* out);
Index count_above(const double* v, Index n, double threshold);  // how many |v_i| >= threshold

// Writes the magnitudes |v_i| >= threshold to `out`, in order, and returns how many there are. `out` has room
// for n + kPadding, or is v itself.
constexpr Index kPadding = 64;
Index gather_above(const double* v, Index n, double threshold, double* out);
// Writes the numbers i with |v_i| >= threshold to `index`, which has room for n + kPadding, and returns how
// many there are.
Index find_above(const double* v, Index n, double threshold, Index* index);
// The same, and sets the other entries to 0.
Index zero_below(double* v, Index n, double threshold, Index* index);

// out_i <- factor times v_i, which is made larger in magnitude by (now - since_i) norm_i >= 0 first.
void grow(const double* v, const double* since, const double* norm, double now, double factor, double* out,
          Index n);

// out_i <- |a v_i| + b norm_i + c size_i, of factors and vectors that belong together.
struct Scaled {
  const double* v;
  double factor;
};
void bounds(Scaled v, Scaled norm, Scaled size, double* out, Index n);

// One factor of a product, as lines of `depth` terms: rows of the left factor, columns of the right one.
struct Factor {
  const double* data;
  Index stride;
  bool lines_contiguous;  // term t of line i is data[i * stride + t], otherwise data[t * stride + i]
};
// keep * c + factor * (the products of the lines of a with those of b); c is `rows` x `cols`, and not read
// where `keep` is 0. `lower`: of c only the lower triangle is computed and written. A sum of products has the
// same bits wherever it stands in c, whatever else is computed with it.
struct Product {
  Factor a, b;
  Index rows, cols, depth;
  double keep = 0, factor = 1;
  bool lower = false;
};
void multiply(const Product& product, double* c, Index stride);  // c by columns, `stride` apart

void mirror(double* c, Index stride, Index n);  // the upper triangle from the lower one

struct ColumnBlock {
  const double* data;
  Index stride, rows, cols;
};
void add_product(double factor, const ColumnBlock& a, const double* x, double* y);  // y <- y + factor a x

const char* instruction_set();  // that of the kernels that run on this processor, as Highway names it

// Small matrices, by columns `stride` apart, of which only the lower triangle counts: larger ones are cut
// into them.
bool cholesky(double* a, Index stride, Index n);  // a <- its Cholesky factor; false if it has none
// b <- b a^-T, of `rows` rows.
void solve_lower_right(const ColumnBlock& a, double* b, Index stride, Index rows);
void solve_lower(const double* a, Index stride, Index n, double* x);                        // x <- a^-1 x
void solve_lower_transposed(const double* a, Index stride, Index n, double* x);             // x <- a^-T x
void multiply_lower(const double* a, Index stride, Index n, const double* x, double* out);  // out <- a x

}  // namespace tyto::kernels
