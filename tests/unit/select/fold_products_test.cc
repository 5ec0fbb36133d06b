#include "tyto/select/fold_products.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tyto/select/folds.h"

namespace tyto {
namespace {

// The products of some columns, as far as the cache knows them from there.
Eigen::MatrixXd products(const Design& design, const std::vector<Index>& columns, GramCache* cache,
                         const Work& work = Work()) {
  Eigen::MatrixXd result(std::ssize(columns), std::ssize(columns));
  if (cache != nullptr)
    cache->gram(design, columns, result, work);
  else
    design.gram(columns, result, work);
  return result;
}
Eigen::MatrixXd products(const Design& design, GramCache* cache = nullptr, const Work& work = Work()) {
  return products(design, all_but({}, design.cols()), cache, work);
}

// Relative to the columns' lengths.
double difference(const Eigen::MatrixXd& got, const Eigen::MatrixXd& want) {
  const Vector length = want.diagonal().cwiseSqrt().cwiseMax(1e-300);
  return (length.cwiseInverse().asDiagonal() * (got - want) * length.cwiseInverse().asDiagonal())
      .cwiseAbs()
      .maxCoeff();
}

struct Case {
  Eigen::MatrixXd x;
  Vector y;
  Folds folds;
};

Case make_case(std::uint64_t seed) {
  Random random(seed);
  constexpr Index kRows = 1300, kColumns = 9;
  Case one{random_matrix(random, kRows, kColumns), random_vector(random, kRows),
           random_folds(kRows, 5, seed)};
  for (Index j = 0; j < kColumns; ++j) one.x.col(j).array() += 10.0 * static_cast<double>(j);
  one.x = one.x.cast<float>().cast<double>();
  return one;
}

// The design of a fold, and what is known of its products once all rows have needed `needed` columns.
struct Fold {
  Design design;
  std::shared_ptr<GramCache> known;
};
Fold fold_of(const Case& one, const Design& raw, const RegressionOptions& options,
             const std::vector<Index>& needed) {
  const Regression all_rows = make_regression(raw, one.y, options);
  FoldProducts shared(all_rows);
  products(all_rows.problem.design, needed, shared.cache().get());
  shared.complete();
  const Split rows = split(one.folds, 2);
  RegressionOptions words = options;
  if (words.observation_weights.size() == 0) words.observation_weights = Vector::Ones(raw.rows());
  const Vector weights = words.observation_weights(rows.held_out);
  words.observation_weights(rows.held_out).setZero();
  const Design fold = make_regression(raw, one.y, words).problem.design;
  return {fold, shared.known_to(fold, raw.take_rows(rows.held_out), weights)};
}

TEST(FoldProducts, AreThoseOfTheRowsOfAFold) {
  const Case one = make_case(1);
  Random random(2);
  RegressionOptions options;
  for (const bool intercept : {false, true})
    for (const bool standardize : {false, true})
      for (const bool weighted : {false, true})
        for (const Design& raw :
             {Design::dense(one.x), Design::dense(Eigen::MatrixXf(one.x.cast<float>()))}) {
          options.intercept = intercept, options.standardize = standardize;
          options.observation_weights = weighted ? Vector(random_vector(random, 1300).cwiseAbs()) : Vector();
          for (const std::vector<Index>& needed :
               {std::vector<Index>{4, 1}, std::vector<Index>{8, 0, 3, 5, 2, 1}}) {
            const auto [fold, known] = fold_of(one, raw, options, needed);
            ASSERT_NE(known, nullptr);
            const Eigen::MatrixXd want = products(fold);
            const Work work;
            const Eigen::MatrixXd some = products(fold, needed, known.get(), work);
            EXPECT_LE(difference(some, want(needed, needed)), 1e-12);
            EXPECT_EQ(work.entries_read(), 0) << "without the data";
            EXPECT_LE(difference(products(fold, known.get(), work), want), 1e-12);
            const bool all = needed.size() > 5;  // most were needed, so that all are known
            EXPECT_EQ(work.entries_read() == 0, all);
          }
        }
}

// All that a column has is among the rows held out, but for very little.
TEST(FoldProducts, AreComputedWhereSubtractionWouldLeaveNoise) {
  Case one = make_case(3);
  const Split rows = split(one.folds, 2);
  one.x.col(1)(rows.training) *= 1e-9;
  one.x.col(5).setZero();
  one.x(rows.held_out[0], 5) = 1;
  RegressionOptions options;
  options.intercept = false, options.standardize = false;
  const auto [fold, known] = fold_of(one, Design::dense(one.x), options, {0, 1, 2, 3, 4, 5});
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->columns().size(), 7) << "without the two";
  EXPECT_LE(difference(products(fold, known.get()), products(fold)), 1e-12);
}

TEST(FoldProducts, AreLeftToTheDesignWhereTheyDoNotPayOrDoNotApply) {
  Case one = make_case(4);
  RegressionOptions options;
  const auto sparse =
      fold_of(one, Design::sparse(Eigen::SparseMatrix<double>(one.x.sparseView())), options, {0, 1});
  EXPECT_EQ(sparse.known, nullptr);
  options.unpenalized = {3};
  const auto projected = fold_of(one, Design::dense(one.x), options, {0, 1});
  EXPECT_EQ(projected.known, nullptr);
  one.x.col(3).setOnes();  // nothing to take out beside the intercept, but other columns have moved up
  const auto moved = fold_of(one, Design::dense(one.x), options, {4, 5, 6});
  EXPECT_EQ(moved.known, nullptr);
}

}  // namespace
}  // namespace tyto
