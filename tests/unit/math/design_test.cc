#include "tyto/math/design.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/naive.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

using Sparse32 = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
using Sparse64 = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>;
using SparseFloat = Eigen::SparseMatrix<float, Eigen::ColMajor, std::int32_t>;

// The same matrix of float-exact numbers in every storage.
std::vector<Design> every_storage(const Eigen::MatrixXd& x) {
  const auto owner = std::make_shared<const Eigen::MatrixXd>(x);
  return {Design::dense(x),
          Design::dense(Eigen::MatrixXf(x.cast<float>())),
          Design::sparse(Sparse32(x.sparseView())),
          Design::sparse(Sparse64(Sparse32(x.sparseView()))),
          Design::sparse(SparseFloat(x.cast<float>().sparseView())),
          Design::borrow(DenseColumns<double>{owner->data(), x.rows(), x.cols()}, owner)};
}

double real(naive::Real value) { return static_cast<double>(value); }

IndexSet columns_from(Index first, Index end) {
  IndexSet columns;
  for (Index j = first; j < end; ++j) columns.push_back(j);
  return columns;
}

// Everything a design can be asked, against its columns spelled out.
void expect_is(const Design& design, const std::vector<naive::Reals>& x, Random& random, double tolerance) {
  ASSERT_EQ(design.cols(), static_cast<Index>(x.size()));
  const Vector beta = random_vector(random, design.cols()), v = random_vector(random, design.rows());
  Vector eta, out;
  design.multiply(beta, eta);
  design.transpose_multiply(v, out);
  const IndexSet every = all_but({}, design.cols());
  Vector same;
  design.multiply(every, beta, same);
  EXPECT_LE((same - eta).norm(), 1e-13 * eta.norm());
  naive::Reals want(static_cast<std::size_t>(design.rows()), 0);
  for (Index j = 0; j < design.cols(); ++j) {
    const naive::Reals& column = x[static_cast<std::size_t>(j)];
    const double size = tolerance * (1 + design.magnitudes()[j]) * (1 + v.norm());
    EXPECT_NEAR(out[j], real(naive::dot(column, naive::reals(v))), size) << j;
    double one = 0;
    design.transpose_multiply({&j, 1}, v, &one);
    EXPECT_NEAR(one, out[j], size) << j;
    EXPECT_NEAR(design.norms()[j], real(std::sqrt(naive::dot(column, column))), size) << j;
    EXPECT_GE(design.magnitudes()[j] * (1 + 1e-12), design.norms()[j] * (1 - 1e-12)) << j;
    Vector packed(design.rows()), added = v;
    design.axpy(j, 0.5, added);
    design.pack({&j, 1}, 0, design.rows(), packed.data());
    for (std::size_t i = 0; i < want.size(); ++i) {
      want[i] += column[i] * static_cast<naive::Real>(beta[j]);
      const auto row = static_cast<Index>(i);
      EXPECT_NEAR(packed[row], real(column[i]), size);
      EXPECT_NEAR(added[row], v[row] + 0.5 * real(column[i]), size);
    }
  }
  const double size = tolerance * (1 + beta.cwiseAbs().dot(design.magnitudes()));
  for (Index i = 0; i < design.rows(); ++i)
    EXPECT_NEAR(eta[i], real(want[static_cast<std::size_t>(i)]), size) << i;
}

// Two-pass mean and deviation in long double.
naive::Reals standardized(naive::Reals column, bool center, bool scale) {
  const auto n = static_cast<naive::Real>(column.size());
  naive::Real mean = 0;
  for (const naive::Real entry : column) mean += entry / n;
  for (naive::Real& entry : column) entry -= center ? mean : 0;
  const naive::Real deviation = std::sqrt(naive::dot(column, column) / n);
  for (naive::Real& entry : column) entry /= scale && deviation > 1e-15L ? deviation : 1;
  return column;
}

TEST(Design, EveryStorageIsTheSameMatrix) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {3, 0}, {1, 1}, {7, 5}, {40, 70}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    Random random(static_cast<std::uint64_t>(rows + 100 * cols));
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    for (const Design& design : every_storage(x)) {
      ASSERT_EQ(design.rows(), rows);
      expect_is(design, naive::columns(Design::dense(x)), random, 1e-14);
    }
  }
}

TEST(Design, StandardizesAsDefined) {
  Random random(1);
  Eigen::MatrixXd x = random_float_exact(random, 30, 12, 0.5);
  x.col(3).setZero();
  x.col(5).setConstant(2.5);
  for (const bool center : {false, true})
    for (const bool scale : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "center " << center << " scale " << scale);
      std::vector<naive::Reals> want = naive::columns(Design::dense(x));
      for (naive::Reals& column : want) column = standardized(column, center, scale);
      for (const Design& design : every_storage(x))
        expect_is(design.standardized(center, scale), want, random, 1e-13);
    }
}

TEST(Design, StandardizedColumnsHaveNormRootN) {
  Random random(2);
  const Design design = Design::dense(random_matrix(random, 17, 4)).standardized(true, true);
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(design.norms()[j], std::sqrt(17), 1e-13);
}

TEST(Design, ConstantColumnIsExactlyZeroWhenCentred) {
  for (const double value : {0.1, -1.0 / 3, 1e9 + 0.1, 1e-300, 0.0}) {
    for (const Design& raw :
         {Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Constant(1001, 1, value))),
          Design::sparse(Sparse32(Eigen::MatrixXd::Constant(1001, 1, value).sparseView()))}) {
      const Design design = raw.standardized(true, true);
      EXPECT_EQ(design.norms()[0], 0) << value;
      EXPECT_EQ(design.scales()[0], 1) << value;
    }
  }
}

TEST(Design, ZeroColumnKeepsScaleOneWithoutCentring) {
  const Design design = Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Zero(5, 2))).standardized(false, true);
  EXPECT_EQ(design.scales(), Vector::Ones(2));
  EXPECT_EQ(design.norms(), Vector::Zero(2));
}

TEST(Design, SparseIsNeverDensified) {
  Random random(3);
  const Eigen::MatrixXd x = random_float_exact(random, 50, 20, 0.1);
  const Design design = Design::sparse(Sparse32(x.sparseView()));
  const Index entries = (x.array() != 0).count();
  EXPECT_EQ(design.stored_entries(), entries);
  const Design moved = design.standardized(true, true).with_threads(4);
  EXPECT_TRUE(moved.is_sparse());
  EXPECT_EQ(moved.stored_entries(), entries);
  const IndexSet columns{2, 3, 19};
  const Index of_columns =
      (x.col(2).array() != 0).count() + (x.col(3).array() != 0).count() + (x.col(19).array() != 0).count();
  EXPECT_EQ(moved.select(columns).stored_entries(), of_columns);
  EXPECT_EQ(Design::dense(x).stored_entries(), 1000);
}

TEST(Design, SelectOfSelectIsTheComposition) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Eigen::MatrixXd x = random_float_exact(random, 9, 25, 0.6);
    const IndexSet first = random_columns(random, 25);
    const IndexSet second = random_columns(random, static_cast<Index>(first.size()));
    for (const Design& raw : every_storage(x)) {
      const Design all = raw.standardized(true, true), chosen = all.select(first).select(second);
      const std::vector<naive::Reals> columns = naive::columns(all);
      std::vector<naive::Reals> want;
      for (const Index k : second)
        want.push_back(columns[static_cast<std::size_t>(first[static_cast<std::size_t>(k)])]);
      expect_is(chosen, want, random, 1e-13);
    }
  }
}

// More than one block of rows, and enough entries for several threads.
TEST(Design, ThreadsGiveTheSameBits) {
  Random random(4);
  const Eigen::MatrixXd x = random_float_exact(random, 20'000, 60, 1);
  const Vector beta = random_vector(random, 60), v = random_vector(random, 20'000);
  for (const Design& raw : every_storage(x)) {
    Vector eta, out, eta_many, out_many;
    const Design one = raw.standardized(true, true);
    one.multiply(beta, eta), one.transpose_multiply(v, out);
    for (const int threads : {2, 3, 8}) {
      const Design many = raw.with_threads(threads).standardized(true, true);
      EXPECT_EQ(many.offsets(), one.offsets());
      EXPECT_EQ(many.norms(), one.norms());
      many.multiply(beta, eta_many), many.transpose_multiply(v, out_many);
      EXPECT_EQ(eta_many, eta);
      EXPECT_EQ(out_many, out);
    }
  }
}

TEST(Design, ResidualsAndTheirProductsAtOnce) {
  Random random(10);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {1, 1}, {7, 5}, {9000, 12}}) {
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    const Vector y = random_vector(random, rows);
    Eigen::MatrixXd beta = random_matrix(random, cols, 5), r, products, eta, want;
    beta.topRows(cols / 2).setZero();
    for (const Design& raw : every_storage(x)) {
      const Design design = raw.standardized(true, true);
      const IndexSet support = design.residuals(y, beta, r, products);
      EXPECT_EQ(support, columns_from(cols / 2, cols));
      design.multiply(beta, eta);
      EXPECT_LE((r - (y.replicate(1, 5) - eta)).norm(), 1e-13 * (1 + y.norm() + eta.norm()));
      design.transpose_multiply(support, r, want);
      EXPECT_LE((products - want).norm(), 1e-12 * (1 + want.norm()));
      Eigen::MatrixXd r_many, products_many;
      design.with_threads(2).residuals(y, beta, r_many, products_many);
      EXPECT_EQ(r_many, r);
      EXPECT_EQ(products_many, products);
    }
  }
}

TEST(Design, SeveralVectorsAtOnceAreEachOnItsOwn) {
  Random random(9);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {3, 0}, {1, 1}, {7, 5}, {2500, 67}}) {
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.4);
    Eigen::MatrixXd beta = random_matrix(random, cols, 5), v = random_matrix(random, rows, 5), eta, out;
    beta.topRows(cols / 2).setZero();
    for (const Design& raw : every_storage(x)) {
      const Design whole = raw.standardized(true, true);
      const Design design = cols > 5 ? whole.select(IndexSet{0, 2, 3, 40, 66}) : whole;
      const Eigen::MatrixXd some = beta.topRows(design.cols());
      const IndexSet all = columns_from(0, design.cols());
      design.multiply(some, eta), design.transpose_multiply(all, v, out);
      for (const int threads : {2, 3}) {
        Eigen::MatrixXd eta_many, out_many;
        const Design many = design.with_threads(threads);
        many.multiply(some, eta_many), many.transpose_multiply(all, v, out_many);
        EXPECT_EQ(eta_many, eta);
        EXPECT_EQ(out_many, out);
      }
      for (Index k = 0; k < 5; ++k) {
        Vector one_eta, one_out;
        design.multiply(Vector(some.col(k)), one_eta), design.transpose_multiply(Vector(v.col(k)), one_out);
        EXPECT_LE((eta.col(k) - one_eta).norm(), 1e-13 * (1 + one_eta.norm()));
        EXPECT_LE((out.col(k) - one_out).norm(), 1e-12 * (1 + one_out.norm()));
      }
    }
  }
}

// A column that is constant where it counts, whatever it is, or is not stored, elsewhere; and sums of weights
// that round.
TEST(Design, AColumnThatIsConstantWhereItCountsIsCentredToZero) {
  Random random(12);
  Eigen::MatrixXd x = Eigen::MatrixXd::Constant(40, 3, 5);
  Vector weights(40);
  for (Index i = 0; i < 40; ++i) weights[i] = i % 7 == 0 ? 0 : random.uniform(0.01, 1);
  for (Index i = 0; i < 40; i += 7) x(i, 0) = 0, x(i, 1) = 9;
  for (const Design& raw : every_storage(x)) {
    const Design design = raw.standardized(true, true, weights);
    EXPECT_EQ(design.norms(), Vector::Zero(3));
    EXPECT_EQ(design.scales(), Vector::Ones(3));
    Vector out;
    design.transpose_multiply(random_vector(random, 40), out);
    EXPECT_LE(out.norm(), 1e-13);
  }
}

TEST(Design, HugeMeansDoNotDrownTheDeviation) {
  Random random(5);
  const Eigen::MatrixXd x = random_matrix(random, 200, 3).array() + 1e9;
  const Design design = Design::dense(x).standardized(true, true);
  for (Index j = 0; j < 3; ++j) {
    naive::Reals column = naive::reals(x.col(j));
    column = standardized(column, true, false);
    const double deviation = real(std::sqrt(naive::dot(column, column) / 200));
    EXPECT_NEAR(design.scales()[j], deviation, 1e-12 * deviation);
    EXPECT_NEAR(design.norms()[j], std::sqrt(200), 1e-12);
    EXPECT_NEAR(design.magnitudes()[j], 1e9 * std::sqrt(200) / deviation, 1e4);
  }
}

TEST(Design, BorrowedMemoryLivesAsLongAsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    Design kept;
    {
      const Design design = Design::borrow(DenseColumns<float>{owner->data(), 2, 2}, owner);
      owner.reset();
      kept = design.select(IndexSet{1});
    }
    EXPECT_FALSE(watch.expired());
    Vector sum;
    kept.transpose_multiply(Vector::Ones(2), sum);
    EXPECT_EQ(sum, Vector::Constant(1, 7));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Design, MultiplySkipsZerosButNotTheShape) {
  Random random(6);
  const Design design = Design::dense(random_matrix(random, 6, 3)).standardized(true, true);
  Vector eta = Vector::Ones(2);
  design.multiply(Vector::Zero(3), eta);
  EXPECT_EQ(eta, Vector::Zero(6));
}

// What the columns are, spelled out.
Eigen::MatrixXd entries_of(const Design& design) {
  const std::vector<naive::Reals> columns = naive::columns(design);
  Eigen::MatrixXd x(design.rows(), design.cols());
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i)
      x(i, j) = real(columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  return x;
}

TEST(Design, PacksColumnsAsTheyStand) {
  Random random(7);
  const Eigen::MatrixXd x = random_float_exact(random, 23, 9, 0.4);
  for (const Design& raw : every_storage(x))
    for (const bool standardize : {false, true}) {
      const Design design = raw.standardized(standardize, standardize).select(IndexSet{0, 2, 3, 5, 8});
      const Eigen::MatrixXd want = entries_of(design);
      const IndexSet columns{4, 0, 2, 2};
      for (const auto& [begin, length] : {std::pair<Index, Index>{0, 23}, {0, 5}, {7, 16}, {22, 1}, {3, 0}}) {
        Eigen::MatrixXd packed = Eigen::MatrixXd::Constant(length, 5, 99);
        design.pack(columns, begin, length, packed.data());
        for (std::size_t k = 0; k < columns.size(); ++k)
          EXPECT_TRUE(
              packed.col(static_cast<Index>(k)).isApprox(want.col(columns[k]).segment(begin, length), 1e-14));
        EXPECT_EQ(packed.col(4), Vector::Constant(length, 99)) << "behind the end";
      }
    }
}

// Sizes around those of the tiles and of the blocks of rows.
TEST(Design, ProductsAreThoseOfTheColumns) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {40, 7}, {511, 6}, {512, 6}, {1030, 5}, {20, 300}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    Random random(static_cast<std::uint64_t>(rows));
    const Eigen::MatrixXd x = random_float_exact(random, rows, cols, 0.5);
    for (const Design& raw : every_storage(x))
      for (const bool standardize : {false, true}) {
        const Design design = raw.standardized(standardize, standardize);
        const Eigen::MatrixXd values = entries_of(design);
        IndexSet columns;
        for (Index j = cols - 1; j >= 0; --j) columns.push_back(j);  // any order
        Eigen::MatrixXd chosen(rows, cols);
        for (Index j = 0; j < cols; ++j) chosen.col(j) = values.col(cols - 1 - j);
        const double size = 1e-13 * (1 + design.magnitudes().squaredNorm());
        for (const Index fresh : {cols, (cols + 1) / 2, Index{1}}) {
          Eigen::MatrixXd room = Eigen::MatrixXd::Constant(cols + 2, fresh + 1, 99);
          design.products(columns, room.block(1, 0, cols, fresh));
          const Eigen::MatrixXd want = chosen.transpose() * chosen.rightCols(fresh);
          EXPECT_LE((room.block(1, 0, cols, fresh) - want).cwiseAbs().maxCoeff(), size);
          EXPECT_EQ(room.row(0), Eigen::RowVectorXd::Constant(fresh + 1, 99));
          EXPECT_EQ(room.row(cols + 1), Eigen::RowVectorXd::Constant(fresh + 1, 99));
          EXPECT_EQ(room.col(fresh), Vector::Constant(cols + 2, 99));
        }
      }
  }
}

TEST(Design, KeptProductsAreThoseOfTheColumns) {
  Random random(5);
  const Eigen::MatrixXd x = random_float_exact(random, 60, 12, 0.5);
  for (const Design& raw : every_storage(x)) {
    const Design design = raw.standardized(true, true);
    const Eigen::MatrixXd values = entries_of(design);
    const Eigen::MatrixXd all = values.transpose() * values;
    const std::vector<Index> first{3, 0, 7};
    const Design keeping = design.keeping_products(first, all(first, first)).with_counter();
    const auto check = [&](const std::vector<Index>& columns, Index fresh) {
      Eigen::MatrixXd got(std::ssize(columns), fresh);
      keeping.products(columns, got);
      const Eigen::MatrixXd want = all(columns, columns).rightCols(fresh);
      EXPECT_LE((got - want).cwiseAbs().maxCoeff(), 1e-12 * 60);
    };
    check({7, 3}, 1);
    EXPECT_EQ(keeping.entries_read(), 0) << "they are known";
    check({7, 3, 5, 11}, 2);
    check({1, 2, 11, 0, 3}, 3);
    check({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12);
    EXPECT_EQ(keeping.kept_columns().size(), 12);
    const Index read = keeping.entries_read();
    check({11, 10, 3}, 3);
    EXPECT_EQ(keeping.entries_read(), read) << "all are known by now";
    EXPECT_TRUE(keeping.select(IndexSet{1, 2}).kept_columns().empty());
    EXPECT_TRUE(keeping.standardized(false, false).kept_columns().empty());
  }
}

TEST(Design, ProductsHaveTheSameBitsForAnyThreads) {
  Random random(8);
  const Eigen::MatrixXd x = random_float_exact(random, 5000, 300, 1);
  for (const Design& raw :
       {Design::dense(x).standardized(true, true),
        Design::sparse(Sparse32(x.sparseView())).standardized(true, true).select(IndexSet{0, 1, 7})}) {
    IndexSet columns;
    for (Index j = 0; j < raw.cols(); ++j) columns.push_back(j);
    Eigen::MatrixXd one(raw.cols(), raw.cols()), many = one;
    raw.products(columns, one);
    for (const int threads : {2, 3}) {
      raw.with_threads(threads).products(columns, many);
      EXPECT_EQ(one, many);
    }
  }
}

TEST(Design, ProductsWithSomeColumnsAreThoseOfAll) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Eigen::MatrixXd x = random_float_exact(random, 31, 90, 0.5);
    const Vector v = random_vector(random, 31);
    for (const Design& raw : every_storage(x)) {
      const Design design = raw.standardized(true, true).select(random_columns(random, 90));
      Vector all;
      design.transpose_multiply(v, all);
      const IndexSet some = random_columns(random, design.cols());
      Vector out = Vector::Constant(std::ssize(some) + 1, 99);
      design.transpose_multiply(some, v, out.data());
      // The kernels take four columns at a time: the last digit may depend on the neighbours.
      for (std::size_t k = 0; k < some.size(); ++k)
        EXPECT_NEAR(out[static_cast<Index>(k)], all[some[k]],
                    1e-13 * v.norm() * (1 + design.magnitudes()[some[k]]));
      EXPECT_EQ(out[std::ssize(some)], 99);
    }
  }
}

TEST(Design, FindsColumnsByTheirNumberInStorage) {
  const Design all = Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Ones(2, 10)));
  const Design some = all.select(IndexSet{1, 4, 5, 9}).select(IndexSet{0, 2, 3});
  const IndexSet raw{1, 5, 9};
  for (Index j = 0; j < 10; ++j) EXPECT_EQ(all.find(j), j);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_EQ(some.raw(j), raw[static_cast<std::size_t>(j)]);
    EXPECT_EQ(some.find(some.raw(j)), j);
  }
  for (const Index gone : {0, 2, 3, 4, 6, 7, 8, 10, -1}) EXPECT_EQ(some.find(gone), -1) << gone;
  EXPECT_EQ(all.select(IndexSet{}).find(0), -1);
}

// Sparse columns of any few entries, none among them, also as the last ones in storage.
TEST(Design, ColumnsOfFewEntries) {
  Random random(4);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(12, 24);
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < (j < 12 ? j : 23 - j); ++i) x(11 - i, j) = random.normal();
  const Vector v = random_vector(random, 12), want = x.transpose() * v;
  for (const Design& design : {Design::sparse(Sparse32(x.sparseView())), Design::dense(x)}) {
    Vector all, some(2);
    design.transpose_multiply(v, all);
    EXPECT_LE((all - want).norm(), 1e-14 * want.norm());
    design.transpose_multiply(IndexSet{2, 23}, v, some.data());
    EXPECT_EQ(some, (Vector(2) << all[2], all[23]).finished());
    EXPECT_EQ(all[0], 0);
    EXPECT_EQ(all[23], 0);
  }
}

TEST(Design, CountsTheEntriesItReads) {
  Random random(9);
  const Eigen::MatrixXd x = random_float_exact(random, 20, 8, 0.5);
  for (const Design& raw : every_storage(x)) {
    const auto entries = [&](const IndexSet& columns) { return raw.select(columns).stored_entries(); };
    const Design design = raw.standardized(true, true).with_counter();
    const IndexSet columns{1, 2, 6};
    const Vector v = random_vector(random, 20);
    Vector out(8), eta, beta = Vector::Zero(8);
    beta[1] = beta[6] = 1;
    EXPECT_EQ(design.entries_read(), 0);
    design.transpose_multiply(v, out);
    Index want = raw.stored_entries();
    EXPECT_EQ(design.entries_read(), want);
    design.transpose_multiply(columns, v, out.data());
    EXPECT_EQ(design.entries_read(), want += entries(columns));
    design.multiply(beta, eta);
    EXPECT_EQ(design.entries_read(), want += entries({1, 6}));
    design.select(columns).with_threads(2).transpose_multiply(v, out);
    EXPECT_EQ(design.entries_read(), want += entries(columns)) << "shared with what is selected";
    const Design other = design.with_counter();
    other.transpose_multiply(v, out);
    EXPECT_EQ(other.entries_read(), raw.stored_entries());
    EXPECT_EQ(design.entries_read(), want) << "a counter of its own";
  }
}

}  // namespace
}  // namespace tyto
