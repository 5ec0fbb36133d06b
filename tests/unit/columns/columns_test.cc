// Law: whatever the storage, every operation gives what a plain matrix gives.
#include "tyto/columns/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/columns/stored_type.h"

namespace tyto {
namespace {

using naive::Real;
using Stored = std::shared_ptr<const Columns>;

template <class Scalar>
Stored dense(const Eigen::MatrixXd& x) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const auto owner = std::make_shared<const Matrix>(x.cast<Scalar>());
  return dense_columns(DenseView<Scalar>{owner->data(), x.rows(), x.cols()}, owner);
}

// A filling for each column, that no other entry has.
double filling(Index column) { return 0.3 + 0.25 * static_cast<double>(column % 5); }

// Four codes a byte; there is more room between columns than they take.
Stored genotypes(const Eigen::MatrixXd& x) {
  struct Owner {
    std::vector<std::byte> bytes;
    std::vector<double> filling;
  };
  const auto owner = std::make_shared<Owner>();
  const Index stride = column_bytes(StoredType::kGenotype, x.rows()) + 3;
  owner->bytes.assign(static_cast<std::size_t>(stride * x.cols()), std::byte{0xa7});
  for (Index j = 0; j < x.cols(); ++j) {
    owner->filling.push_back(filling(j));
    for (Index i = 0; i < x.rows(); ++i) {
      std::byte& byte = owner->bytes[static_cast<std::size_t>(j * stride + i / 4)];
      const unsigned code = x(i, j) == 2 ? 0 : x(i, j) == 1 ? 2 : x(i, j) == 0 ? 3 : 1;
      const auto shift = static_cast<int>(2 * (i % 4));
      byte = (byte & ~(std::byte{3} << shift)) | (std::byte(code) << shift);
    }
  }
  return stored_columns(
      {StoredType::kGenotype, owner->bytes.data(), x.rows(), x.cols(), stride, owner->filling}, owner);
}

template <class Scalar, class StorageIndex>
Stored sparse(const Eigen::MatrixXd& x) {
  struct Owner {
    std::vector<Scalar> value;
    std::vector<StorageIndex> row, start{0};
  };
  const auto owner = std::make_shared<Owner>();
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i)
      if (x(i, j) != 0) {
        owner->value.push_back(static_cast<Scalar>(x(i, j)));
        owner->row.push_back(static_cast<StorageIndex>(i));
      }
    owner->start.push_back(static_cast<StorageIndex>(owner->row.size()));
  }
  return sparse_columns(SparseView<Scalar, StorageIndex>{owner->value.data(), owner->row.data(),
                                                         owner->start.data(), x.rows(), x.cols()},
                        owner);
}

struct Storage {
  const char* name;
  Stored (*make)(const Eigen::MatrixXd&);
  bool sparse;
  void (*restrict_to)(Eigen::MatrixXd& x) = [](Eigen::MatrixXd&) {};  // entries that it holds
};

// From least to most; floats are left as they are.
template <class Scalar>
void whole_numbers(Eigen::MatrixXd& x) {
  const double least = std::numeric_limits<Scalar>::min(), most = std::numeric_limits<Scalar>::max();
  for (double& entry : x.reshaped()) entry = std::clamp(std::round(entry * most / 2), least, most);
}
// Missing ones, which are a column's filling, too.
void genotype_numbers(Eigen::MatrixXd& x) {
  for (Index j = 0; j < x.cols(); ++j)
    for (double& entry : x.col(j)) entry = entry > 0.5 ? 2 : entry > 0 ? 1 : entry < -1 ? filling(j) : 0;
}

constexpr Storage kStorages[] = {{"double", dense<double>, false},
                                 {"float", dense<float>, false},
                                 {"int8", dense<std::int8_t>, false, whole_numbers<std::int8_t>},
                                 {"uint8", dense<std::uint8_t>, false, whole_numbers<std::uint8_t>},
                                 {"int16", dense<std::int16_t>, false, whole_numbers<std::int16_t>},
                                 {"genotype", genotypes, false, genotype_numbers},
                                 {"sparse_double_32", sparse<double, std::int32_t>, true},
                                 {"sparse_double_64", sparse<double, std::int64_t>, true},
                                 {"sparse_float_32", sparse<float, std::int32_t>, true},
                                 {"sparse_float_64", sparse<float, std::int64_t>, true}};

// Of all sizes, around those of blocks and chunks, with numbers that a float holds: some columns are empty,
// full, or constant.
std::vector<Eigen::MatrixXd> matrices() {
  std::vector<Eigen::MatrixXd> result;
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0},
                                                                       {0, 3},
                                                                       {3, 5},
                                                                       {5, 4},
                                                                       {9, 6},
                                                                       {3, 0},
                                                                       {1, 1},
                                                                       {2, 5},
                                                                       {7, 4},
                                                                       {33, 71},
                                                                       {128, 3},
                                                                       {256, 9},
                                                                       {300, 6},
                                                                       {8195, 5}}) {
    Random random(static_cast<std::uint64_t>(1000 * rows + cols));
    Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    if (cols > 2) x.col(1).setZero();
    if (cols > 3) x.col(2).setConstant(0.1F);
    if (cols > 4) x.col(4) = random_float_exact(random, rows, 1, 1);
    result.push_back(x);
  }
  return result;
}

// None, one, all, backwards, and some of them more than once.
std::vector<std::vector<Index>> lists(Index cols) {
  std::vector<std::vector<Index>> result{{}};
  if (cols == 0) return result;
  std::vector<Index> all(static_cast<std::size_t>(cols));
  std::iota(all.begin(), all.end(), Index{0});
  result.push_back({cols - 1});
  result.push_back(all);
  result.emplace_back(all.rbegin(), all.rend());
  result.push_back({0, cols / 2, 0, 0, cols - 1, cols / 2, 0});
  return result;
}

std::vector<RowRange> ranges(Index rows) {
  return {{0, rows}, {rows / 3, rows / 2}, {rows, 0}, {rows / 2, 0}};
}

class EveryStorage : public testing::TestWithParam<Storage> {
 protected:
  // check(x, the same stored, a list of columns), for all of them.
  template <class Check>
  static void for_each_case(Check check) {
    for (Eigen::MatrixXd& x : matrices()) {
      GetParam().restrict_to(x);
      const Stored stored = GetParam().make(x);
      ASSERT_EQ(stored->rows(), x.rows());
      ASSERT_EQ(stored->cols(), x.cols());
      for (const std::vector<Index>& columns : lists(x.cols())) {
        SCOPED_TRACE(testing::Message()
                     << x.rows() << " x " << x.cols() << ", " << columns.size() << " columns");
        check(x, *stored, columns);
      }
    }
  }
};

TEST_P(EveryStorage, CountsItsEntries) {
  const bool sparse = GetParam().sparse;
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    EXPECT_EQ(stored.is_sparse(), sparse);
    EXPECT_EQ(stored.entries(), sparse ? (x.array() != 0).count() : x.size());
    Index want = 0;
    for (const Index j : columns) want += sparse ? (x.col(j).array() != 0).count() : x.rows();
    EXPECT_EQ(stored.entries(columns), want);
  });
}

// Some or several vectors: the same but for the order of sums.
TEST_P(EveryStorage, Correlates) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    Random random(3);
    for (const Index vectors : {0, 1, 2, 5}) {
      const Eigen::MatrixXd v = random_matrix(random, x.rows(), vectors);
      Eigen::MatrixXd several = Eigen::MatrixXd::Constant(std::ssize(columns), vectors, 99);
      stored.correlate_all(columns, v, several);
      for (Index c = 0; c < vectors; ++c) {
        Vector one = Vector::Constant(std::ssize(columns) + 1, 99);
        stored.correlate(columns, v.col(c).data(), one.data());
        for (Index k = 0; k < std::ssize(columns); ++k) {
          const Vector column = x.col(columns[static_cast<std::size_t>(k)]);
          const double want = real(naive::dot(naive::reals(column), naive::reals(v.col(c))));
          const double size = 1e-14 * (1 + column.norm() * v.col(c).norm());
          EXPECT_NEAR(one[k], want, size);
          EXPECT_NEAR(several(k, c), want, size);
        }
        EXPECT_EQ(one[std::ssize(columns)], 99);
      }
    }
  });
}

// Adds to what is there, and to no other rows.
TEST_P(EveryStorage, Combines) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    Random random(4);
    const Vector factors = random_vector(random, std::ssize(columns));
    const Vector before = random_vector(random, x.rows());
    for (const auto& [begin, length] : ranges(x.rows())) {
      Vector eta = before;
      stored.combine(columns, factors.data(), {begin, length}, eta.data());
      for (Index i = 0; i < x.rows(); ++i) {
        const bool inside = i >= begin && i < begin + length;
        Real want = before[i], size = 1;
        for (std::size_t k = 0; inside && k < columns.size(); ++k) {
          const Real term = Real{factors[static_cast<Index>(k)]} * x(i, columns[k]);
          want += term;
          size += std::abs(term);
        }
        if (inside)
          EXPECT_NEAR(eta[i], real(want), 1e-14 * real(size));
        else
          EXPECT_EQ(eta[i], before[i]);
      }
    }
  });
}

struct NaiveMoments {
  Real mean = 0, deviation = 0, squares = 0;
};
NaiveMoments naive_moments(const Vector& column, const Vector& weights, bool center) {
  NaiveMoments result;
  Real total = 0;
  for (Index i = 0; i < column.size(); ++i) {
    total += weights[i];
    result.mean += Real{weights[i]} * column[i];
    result.squares += Real{weights[i]} * column[i] * column[i];
  }
  result.mean = center && total > 0 ? result.mean / total : 0;
  for (Index i = 0; i < column.size(); ++i)
    result.deviation += weights[i] * (column[i] - result.mean) * (column[i] - result.mean);
  return result;
}

TEST_P(EveryStorage, HasMoments) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    Random random(5);
    for (const bool weighted : {false, true})
      for (const bool center : {false, true}) {
        Vector weights = weighted ? Vector(random_vector(random, x.rows()).cwiseAbs()) : Vector();
        if (weighted && x.rows() > 2) weights[1] = 0;
        const Vector times = weighted ? weights : Vector::Ones(x.rows());
        const RowWeights rows{weights, times.sum(), (times.array() > 0).count()};
        std::vector<Moments> got(columns.size());
        stored.moments(columns, rows, center, got.data());
        for (std::size_t k = 0; k < columns.size(); ++k) {
          const Vector column = x.col(columns[k]);
          const NaiveMoments want = naive_moments(column, times, center);
          // Sums of n terms that are added one after the other are off by n units of rounding.
          const double epsilon = std::numeric_limits<double>::epsilon();
          const double size = static_cast<double>(x.rows() + 16) * epsilon * real(want.squares);
          EXPECT_NEAR(got[k].squares, real(want.squares), size);
          EXPECT_NEAR(got[k].deviation, real(want.deviation), size);
          EXPECT_NEAR(got[k].mean, real(want.mean), 1e-13 * (1 + column.norm()));
          if (center && x.rows() > 0 && column.minCoeff() == column.maxCoeff()) {
            EXPECT_EQ(got[k].mean, column[0]) << "a constant, free of rounding";
            EXPECT_EQ(got[k].deviation, 0);
          }
        }
      }
  });
}

TEST_P(EveryStorage, CopiesBlocks) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    Random random(6);
    const Vector roots = random_vector(random, x.rows()).cwiseAbs();
    std::vector<EntryMap> maps;
    for (std::size_t k = 0; k < columns.size(); ++k)
      maps.push_back({random.normal(), random.uniform(0.5, 2)});
    for (const bool weighted : {false, true})
      for (const auto& [begin, length] : ranges(x.rows())) {
        Vector out = Vector::Constant(length * std::ssize(columns) + 1, 99);
        stored.copy_block(columns, {begin, length}, maps, weighted ? roots.data() : nullptr, out.data());
        for (std::size_t k = 0; k < columns.size(); ++k)
          for (Index i = 0; i < length; ++i) {
            const double plain = (x(begin + i, columns[k]) - maps[k].shift) * maps[k].factor;
            const double want = weighted ? plain * roots[begin + i] : plain;
            EXPECT_EQ(out[static_cast<Index>(k) * length + i], want);
          }
        EXPECT_EQ(out[out.size() - 1], 99);
      }
  });
}

// What for_each_entry says of a column, zeros in the gaps.
Vector column_of(const Columns& stored, Index j) {
  Vector result = Vector::Zero(stored.rows());
  Index last = -1, count = 0;
  stored.for_each_entry(j, [&](Index row, double value) {
    EXPECT_GT(row, last);
    last = row;
    ++count;
    result[row] = value;
  });
  EXPECT_EQ(count, stored.entries({&j, 1}));
  return result;
}

TEST_P(EveryStorage, TellsItsEntriesInOrder) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    for (const Index j : columns) EXPECT_EQ(column_of(stored, j), x.col(j));
  });
}

TEST_P(EveryStorage, CopiesColumnsAndRows) {
  for_each_case([&](const Eigen::MatrixXd& x, const Columns& stored, const std::vector<Index>& columns) {
    const auto expect_copy = [&](const Stored& copy, const Eigen::MatrixXd& want) {
      ASSERT_NE(copy, nullptr);
      EXPECT_EQ(copy->is_sparse(), stored.is_sparse());
      EXPECT_EQ(copy->rows(), want.rows());
      ASSERT_EQ(copy->cols(), want.cols());
      EXPECT_EQ(copy->entries(), stored.is_sparse() ? (want.array() != 0).count() : want.size());
      for (Index j = 0; j < want.cols(); ++j) EXPECT_EQ(column_of(*copy, j), want.col(j));
    };
    expect_copy(stored.copy_columns(columns), x(Eigen::all, columns));
    IndexSet rows;
    for (Index i = 0; i < x.rows(); i += 3) rows.push_back(i);
    expect_copy(stored.copy_rows(columns, rows), x(rows, columns));
    expect_copy(stored.copy_rows(columns, IndexSet{}), Eigen::MatrixXd(0, std::ssize(columns)));
    expect_copy(stored.copy_rows(columns, all_but({}, x.rows())), x(Eigen::all, columns));
  });
}

TEST_P(EveryStorage, KeepsItsOwner) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Constant(3, 2, 2);
  const Stored copy = GetParam().make(x)->copy_columns(IndexSet{1});
  EXPECT_EQ(column_of(*copy, 0), Vector::Constant(3, 2));
}

INSTANTIATE_TEST_SUITE_P(Storages, EveryStorage, testing::ValuesIn(kStorages),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tyto
