#include "tyto/design/design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/designs.h"
#include "tests/support/naive.h"
#include "tests/support/random.h"

namespace tyto {
namespace {

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
  const auto [least, most] = design.stored_rounding_norms();
  const Vector stored = design.rounding_norms().cwiseProduct(design.scales());
  if (stored.size() > 0 && stored.allFinite()) {
    EXPECT_EQ(least, stored.minCoeff());
    EXPECT_EQ(most, stored.maxCoeff());
  } else if (stored.size() > 0) {
    EXPECT_FALSE(std::isfinite(least + most));
  }
  naive::Reals want(static_cast<std::size_t>(design.rows()), 0);
  for (Index j = 0; j < design.cols(); ++j) {
    const naive::Reals& column = x[static_cast<std::size_t>(j)];
    const double size = tolerance * (1 + design.rounding_norms()[j]) * (1 + v.norm());
    EXPECT_NEAR(out[j], real(naive::dot(column, naive::reals(v))), size) << j;
    double one = 0;
    design.transpose_multiply({&j, 1}, v, &one);
    EXPECT_NEAR(one, out[j], size) << j;
    EXPECT_NEAR(design.norms()[j], real(std::sqrt(naive::dot(column, column))), size) << j;
    EXPECT_GE(design.rounding_norms()[j] * (1 + 1e-12), design.norms()[j] * (1 - 1e-12)) << j;
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
  const double size = tolerance * (1 + beta.cwiseAbs().dot(design.rounding_norms()));
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
  const Design moved = design.standardized(true, true, {}, Work(4));
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
      const Work work(threads);
      const Design many = raw.standardized(true, true, {}, work);
      EXPECT_EQ(many.offsets(), one.offsets());
      EXPECT_EQ(many.norms(), one.norms());
      many.multiply(beta, eta_many, work), many.transpose_multiply(v, out_many, work);
      EXPECT_EQ(eta_many, eta);
      EXPECT_EQ(out_many, out);
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
  for (const double mean : {20.0, 1e9}) {
    const Eigen::MatrixXd x = random_matrix(random, 200, 3).array() + mean;
    for (const Design& raw : {Design::dense(x), Design::sparse(Sparse32(x.sparseView()))}) {
      const Design design = raw.standardized(true, true);
      for (Index j = 0; j < 3; ++j) {
        naive::Reals column = naive::reals(x.col(j));
        column = standardized(column, true, false);
        const double deviation = real(std::sqrt(naive::dot(column, column) / 200));
        EXPECT_NEAR(design.scales()[j], deviation, 1e-12 * deviation);
        EXPECT_NEAR(design.norms()[j], std::sqrt(200), 1e-12);
        const double far = x.col(j).norm() / deviation, near = std::sqrt(200);
        const bool taken_off = mean == 1e9;  // before anything is summed
        const double want =
            taken_off ? near + std::numeric_limits<double>::epsilon() * far * far / near : far;
        EXPECT_NEAR(design.rounding_norms()[j], want, 1e-5 * want);
      }
    }
  }
}

TEST(Design, BorrowedMemoryLivesAsLongAsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    Design kept;
    {
      const Design design = Design(dense_columns(DenseView<float>{owner->data(), 2, 2}, owner));
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

// A residual sums to 0 but for rounding, which does not have to be told from 0; what is more has to.
TEST(Design, CentredVectorsNeedNoOffsets) {
  Random random(11);
  int little = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(80, 12);
    for (double& entry : x.reshaped())
      if (random.chance(0.2)) entry = 3 + random.normal();
    Vector v = random_vector(random, 80) * std::pow(10, random.uniform(-120, 120));
    v.array() -= v.mean();
    if (trial % 3 == 0) v.array() += 1e-12 * v.norm();
    little += v.sum() != 0 && std::abs(v.sum()) <= 4e-16 * v.norm() ? 1 : 0;
    for (const Design& raw : {Design::sparse(Sparse32(x.sparseView())), Design::dense(x)}) {
      const Design design = raw.standardized(true, true);
      const auto columns = naive::columns(design);
      Vector all, one(1);
      design.transpose_multiply(v, all);
      for (Index j = 0; j < 12; ++j) {
        const auto want =
            static_cast<double>(naive::dot(columns[static_cast<std::size_t>(j)], naive::reals(v)));
        EXPECT_NEAR(all[j], want, 2e-15 * design.rounding_norms()[j] * v.norm());
        design.transpose_multiply(IndexSet{j}, v, one.data());
        EXPECT_NEAR(one[0], want, 2e-15 * design.rounding_norms()[j] * v.norm());
      }
    }
  }
  EXPECT_GE(little, 10);
}

TEST(Design, CountsTheEntriesItReads) {
  Random random(9);
  const Eigen::MatrixXd x = random_float_exact(random, 20, 8, 0.5);
  for (const Design& raw : every_storage(x)) {
    const auto entries = [&](const IndexSet& columns) { return raw.select(columns).stored_entries(); };
    const Design design = raw.standardized(true, true);
    const Work work;
    const IndexSet columns{1, 2, 6};
    const Vector v = random_vector(random, 20);
    Vector out(8), eta, beta = Vector::Zero(8);
    beta[1] = beta[6] = 1;
    EXPECT_EQ(work.entries_read(), 0);
    design.transpose_multiply(v, out, work);
    Index want = raw.stored_entries();
    EXPECT_EQ(work.entries_read(), want);
    design.transpose_multiply(columns, v, out.data(), work);
    EXPECT_EQ(work.entries_read(), want += entries(columns));
    design.multiply(beta, eta, work);
    EXPECT_EQ(work.entries_read(), want += entries({1, 6}));
    design.select(columns).transpose_multiply(v, out, work);
    EXPECT_EQ(work.entries_read(), want += entries(columns)) << "also of what is selected";
    const Work other;
    Design(design).transpose_multiply(v, out, other);
    EXPECT_EQ(other.entries_read(), raw.stored_entries());
    design.transpose_multiply(v, out);
    EXPECT_EQ(work.entries_read(), want) << "only of what it was handed to";
  }
}

}  // namespace
}  // namespace tyto
