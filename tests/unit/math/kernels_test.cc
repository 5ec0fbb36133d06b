#include "tyto/math/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/instruction_sets.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

constexpr Index kMost = 200;
constexpr Index kOffsets = 3;  // starts that no vector is aligned to

template <class Scalar>
std::vector<Scalar> random_array(Random& random, Index size) {
  std::vector<Scalar> result(static_cast<std::size_t>(size));
  for (Scalar& entry : result) entry = static_cast<Scalar>(random.normal());
  return result;
}

struct Sum {
  long double value = 0, magnitude = 0;
};
template <class Scalar>
Sum exact_dot(const Scalar* x, const double* v, Index n) {
  Sum sum;
  for (Index i = 0; i < n; ++i) {
    const long double term = static_cast<long double>(x[i]) * v[i];
    sum.value += term, sum.magnitude += std::abs(term);
  }
  return sum;
}

double tolerance(const Sum& sum) { return 1e-15 * static_cast<double>(sum.magnitude) * 4; }

template <class Scalar>
class Kernels : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Kernels, Scalars);

TYPED_TEST(Kernels, DotOfEverySize) {
  Random random(1);
  for (Index n = 0; n <= kMost; ++n)
    for (Index offset = 0; offset < kOffsets; ++offset) {
      // Arrays that end where the kernel must stop: a sanitizer sees what is read beyond.
      const auto x = random_array<TypeParam>(random, n + offset);
      const auto v = random_array<double>(random, n + offset);
      const Sum want = exact_dot(x.data() + offset, v.data() + offset, n);
      const double got = kernels::dot(x.data() + offset, v.data() + offset, n);
      EXPECT_NEAR(got, static_cast<double>(want.value), tolerance(want)) << n << " " << offset;
    }
}

TYPED_TEST(Kernels, Dot4AddsFourDots) {
  Random random(2);
  for (Index n = 0; n <= kMost; ++n) {
    std::array<std::vector<TypeParam>, 4> x;
    for (auto& column : x) column = random_array<TypeParam>(random, n + 1);
    const auto v = random_array<double>(random, n + 1);
    const std::array<const TypeParam*, 4> start{x[0].data() + 1, x[1].data() + 1, x[2].data() + 1,
                                                x[3].data() + 1};
    std::array<double, 4> out{1, -2, 0, 1e3};
    const std::array<double, 4> before = out;
    kernels::dot4(start.data(), v.data() + 1, n, out.data());
    for (std::size_t k = 0; k < 4; ++k) {
      const Sum want = exact_dot(start[k], v.data() + 1, n);
      EXPECT_NEAR(out[k], static_cast<double>(before[k] + want.value),
                  tolerance(want) + 1e-15 * std::abs(before[k]))
          << n << " " << k;
    }
  }
}

TYPED_TEST(Kernels, Dot4x2AddsEightDots) {
  Random random(12);
  for (Index n = 0; n <= kMost; ++n) {
    std::array<std::vector<TypeParam>, 4> x;
    for (auto& column : x) column = random_array<TypeParam>(random, n + 1);
    const std::array<std::vector<double>, 2> v{random_array<double>(random, n + 1),
                                               random_array<double>(random, n + 1)};
    const std::array<const TypeParam*, 4> start{x[0].data() + 1, x[1].data() + 1, x[2].data() + 1,
                                                x[3].data() + 1};
    std::array<double, 8> out{1, -2, 0, 1e3, 5, 0, -7, 3};
    const std::array<double, 8> before = out;
    kernels::dot4x2(start.data(), v[0].data() + 1, v[1].data() + 1, n, out.data());
    for (std::size_t k = 0; k < 8; ++k) {
      const Sum want = exact_dot(start[k % 4], v[k / 4].data() + 1, n);
      EXPECT_NEAR(out[k], static_cast<double>(before[k] + want.value),
                  tolerance(want) + 1e-15 * std::abs(before[k]))
          << n << " " << k;
    }
  }
}

TYPED_TEST(Kernels, AxpyOfEverySizeTouchesNothingElse) {
  Random random(3);
  for (Index n = 0; n <= kMost; ++n)
    for (Index offset = 0; offset < kOffsets; ++offset) {
      const auto x = random_array<TypeParam>(random, n + offset);
      std::vector<double> y = random_array<double>(random, n + offset + 2);
      const std::vector<double> before = y;
      kernels::axpy(1.25, x.data() + offset, y.data() + offset, n);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const Index k = static_cast<Index>(i) - offset;
        const double added = k >= 0 && k < n ? 1.25 * static_cast<double>(x[i]) : 0;
        EXPECT_NEAR(y[i], before[i] + added, 4e-16 * (std::abs(before[i]) + std::abs(added)));
        if (added == 0) {
          EXPECT_EQ(y[i], before[i]);
        }
      }
    }
}

TYPED_TEST(Kernels, SumsOfEverySize) {
  Random random(3);
  for (Index n = 0; n <= kMost; ++n) {
    const auto x = random_array<TypeParam>(random, n);
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    for (const double center : {0.0, 7.5}) {  // padding of the last vector must not count
      std::vector<double> off(x.begin(), x.end());
      for (double& value : off) value -= center;
      const Sum sum = exact_dot(off.data(), ones.data(), n), squares = exact_dot(off.data(), off.data(), n);
      const kernels::Sums got = kernels::sums(x.data(), n, center);
      EXPECT_NEAR(got.sum, static_cast<double>(sum.value), tolerance(sum)) << n;
      EXPECT_NEAR(got.squares, static_cast<double>(squares.value), tolerance(squares)) << n;
    }
  }
}

// A column as it is stored, from row `offset` on, and the same numbers in double. Its memory ends where the
// column does: a sanitizer sees what is read beyond.
template <class Scalar>
struct Stored {
  Stored(Random& random, Index rows, Index offset) : own(static_cast<std::size_t>(rows + offset)) {
    for (Scalar& entry : own) entry = static_cast<Scalar>(random.uniform(0, 127));
    column = own.data() + offset;
    wide.assign(own.begin() + offset, own.end());
  }
  std::vector<Scalar> own;
  std::vector<double> wide;
  const Scalar* column;
};
template <>
struct Stored<kernels::Genotypes> {
  Stored(Random& random, Index rows, Index offset) : own(static_cast<std::size_t>((rows + offset + 3) / 4)) {
    for (std::uint8_t& byte : own) byte = static_cast<std::uint8_t>(random.between(0, 255));
    const std::array<double, 4> values{2, 0.3, 1, 0};
    for (Index i = offset; i < rows + offset; ++i)
      wide.push_back(
          values[static_cast<std::size_t>(own[static_cast<std::size_t>(i / 4)] >> (2 * (i % 4)) & 3)]);
    column = kernels::Genotypes{own.data(), 0.3} + offset;
  }
  std::vector<std::uint8_t> own;
  std::vector<double> wide;
  kernels::Genotypes column;
};

template <class Scalar>
class StoredColumns : public testing::Test {};
using Narrow = testing::Types<float, std::int8_t, std::uint8_t, std::int16_t, kernels::Genotypes>;
TYPED_TEST_SUITE(StoredColumns, Narrow);

TYPED_TEST(StoredColumns, GiveTheBitsOfDouble) {
  using Column = decltype(Stored<TypeParam>::column);
  for_every_instruction_set([] {
    Random random(4);
    for (Index n = 0; n <= kMost; ++n)
      for (Index offset = 0; offset < 4; ++offset) {
        SCOPED_TRACE(testing::Message() << n << " rows, from row " << offset);
        const Stored<TypeParam> x[4] = {
            {random, n, offset}, {random, n, 0}, {random, n, 3 - offset}, {random, n, 1}};
        const auto v = random_array<double>(random, n), w = random_array<double>(random, n);
        EXPECT_EQ(kernels::dot(x[0].column, v.data(), n), kernels::dot(x[0].wide.data(), v.data(), n));
        const Column columns[4] = {x[0].column, x[1].column, x[2].column, x[3].column};
        const double* const wides[4] = {x[0].wide.data(), x[1].wide.data(), x[2].wide.data(),
                                        x[3].wide.data()};
        std::array<double, 8> out{1, -2, 0, 1e3, 5, 0, -7, 3}, want = out;
        kernels::dot4(columns, v.data(), n, out.data());
        kernels::dot4(wides, v.data(), n, want.data());
        EXPECT_EQ(out, want);
        kernels::dot4x2(columns, v.data(), w.data(), n, out.data());
        kernels::dot4x2(wides, v.data(), w.data(), n, want.data());
        EXPECT_EQ(out, want);
        for (const double center : {0.0, 7.5}) {
          const kernels::Sums sums = kernels::sums(x[0].column, n, center);
          const kernels::Sums sums_wide = kernels::sums(std::as_const(x[0].wide).data(), n, center);
          EXPECT_EQ(sums.sum, sums_wide.sum);
          EXPECT_EQ(sums.squares, sums_wide.squares);
        }
        std::vector<double> a = v, b = v;
        kernels::axpy(0.3, x[0].column, a.data(), n);
        kernels::axpy(0.3, x[0].wide.data(), b.data(), n);
        EXPECT_EQ(a, b);
      }
  });
}

TYPED_TEST(StoredColumns, AreCopied) {
  for_every_instruction_set([] {
    Random random(5);
    for (Index n = 0; n <= 70; ++n)
      for (Index offset = 0; offset < 4; ++offset) {
        const Stored<TypeParam> x(random, n, offset);
        const auto roots = random_array<double>(random, n);
        for (const double* times : {static_cast<const double*>(nullptr), roots.data()}) {
          std::vector<double> out(static_cast<std::size_t>(n) + 1, 99);
          kernels::copy(x.column, {0.5, 1.1, times}, out.data(), n);
          for (std::size_t i = 0; i < x.wide.size(); ++i) {
            const double plain = (x.wide[i] - 0.5) * 1.1;
            EXPECT_EQ(out[i], times ? plain * times[i] : plain);
          }
          EXPECT_EQ(out.back(), 99);
        }
      }
  });
}

TEST(Kernels, MagnitudesOfEverySize) {
  Random random(5);
  for (Index n = 0; n <= kMost; ++n) {
    const auto v = random_array<double>(random, n + 1);
    long double sum = 0, largest = 0;
    for (Index i = 1; i <= n; ++i) {
      const long double magnitude = std::abs(v[static_cast<std::size_t>(i)]);
      sum += magnitude, largest = std::max(largest, magnitude);
    }
    const auto got = kernels::magnitudes(v.data() + 1, n);
    EXPECT_NEAR(got.sum, static_cast<double>(sum), 1e-15 * 4 * static_cast<double>(sum)) << n;
    EXPECT_EQ(got.largest, static_cast<double>(largest)) << n;
  }
}

// Few distinct magnitudes, so that many are equal to the threshold.
std::vector<double> coarse_array(Random& random, Index size) {
  std::vector<double> result(static_cast<std::size_t>(size));
  for (double& entry : result) entry = static_cast<double>(random.between(-4, 4)) / 2;
  return result;
}

TEST(Kernels, GatherAboveKeepsOrderAndTiesAlsoInPlace) {
  Random random(6);
  for (Index n = 0; n <= kMost; ++n)
    for (const double threshold : {0.0, 0.5, 1.0, 100.0}) {
      std::vector<double> v = coarse_array(random, n), want;
      for (const double entry : v)
        if (std::abs(entry) >= threshold) want.push_back(std::abs(entry));
      std::vector<double> out(v.size() + kernels::kPadding, -1);
      out.resize(static_cast<std::size_t>(kernels::gather_above(v.data(), n, threshold, out.data())));
      EXPECT_EQ(out, want) << n << " " << threshold;
      v.resize(static_cast<std::size_t>(kernels::gather_above(v.data(), n, threshold, v.data())));
      EXPECT_EQ(v, want) << n << " " << threshold;
    }
}

TEST(Kernels, ZeroBelowKeepsTheOthersAndNumbersThem) {
  Random random(7);
  for (Index n = 0; n <= kMost; ++n)
    for (const double threshold : {0.0, 0.5, 1.0, 100.0}) {
      std::vector<double> v = coarse_array(random, n), want = v;
      std::vector<Index> numbers;
      for (Index i = 0; i < n; ++i) {
        double& entry = want[static_cast<std::size_t>(i)];
        if (std::abs(entry) >= threshold)
          numbers.push_back(i);
        else
          entry = 0;
      }
      std::vector<Index> index(v.size() + kernels::kPadding, -1);
      index.resize(static_cast<std::size_t>(kernels::zero_below(v.data(), n, threshold, index.data())));
      EXPECT_EQ(v, want) << n << " " << threshold;
      EXPECT_EQ(index, numbers) << n << " " << threshold;
    }
}

}  // namespace
}  // namespace tyto
