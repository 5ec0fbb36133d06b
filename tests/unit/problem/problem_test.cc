#include "tyto/problem/problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/certified.h"
#include "tests/support/least_squares.h"
#include "tests/support/naive.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/base/error.h"
#include "tyto/math/entries.h"

namespace tyto {
namespace {

std::string message(const Problem& problem) {
  try {
    validate(problem);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

Problem random_problem(Random& random) {
  const Index n = random.between(1, 30), p = random.between(1, 20);
  return dense_problem(random_matrix(random, n, p), random_vector(random, n), random_weights(random, p));
}

std::vector<Vector> points(Random& random, Index p) {
  std::vector<Vector> result{Vector::Zero(p), random_vector(random, p)};
  Vector sparse = Vector::Zero(p);
  sparse[random.below(p)] = random.normal();
  result.push_back(sparse);
  return result;
}

TEST(Problem, ValidateSaysWhatIsWrong) {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Ones(2, 3);
  const double infinity = std::numeric_limits<double>::infinity();
  const Vector y = Vector::Ones(2), w = Vector::Ones(3);
  EXPECT_EQ(message(dense_problem(x, y, w)), "accepted");
  EXPECT_EQ(message(dense_problem(x, Vector::Ones(5), w)), "y: want 2 entries, got 5");
  EXPECT_EQ(message(dense_problem(x, y, Vector::Ones(2))), "weights: want 3 entries, got 2");
  for (const double bad : {infinity, -infinity, std::nan(""), 1e200}) {
    Vector bad_y = y;
    bad_y[1] = bad;
    EXPECT_EQ(message(dense_problem(x, bad_y, w)), "y: want finite numbers whose squares can be added");
    Eigen::MatrixXd bad_x = x;
    bad_x(1, 2) = bad;
    EXPECT_EQ(message(dense_problem(bad_x, y, w)),
              "design: column 2: want finite numbers whose squares can be added");
  }
}

TEST(Certify, AgreesWithTheNaiveCertificate) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem problem = random_problem(random);
    for (const Vector& beta : points(random, problem.design.cols())) {
      expect_certificates_agree(problem, beta);
      expect_certificate_holds(problem, beta);
    }
  }
}

TEST(Certify, RoundingCoversSmallResidualsAndWeights) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index n = random.between(2, 20), p = random.between(1, 10);
    const Eigen::MatrixXd x = random_matrix(random, n, p);
    const Vector beta = 100 * random_vector(random, p);
    const Vector y = x * beta + std::pow(10, random.uniform(-9, 0)) * random_vector(random, n);
    const Vector w = std::pow(10, random.uniform(-9, 0)) * random_weights(random, p);
    expect_certificate_holds(dense_problem(x, y, w), beta);
  }
}

TEST(Certify, AgreesOnStandardizedDesigns) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const Storage storage : {Storage::kDense, Storage::kFloat, Storage::kSparse}) {
      SCOPED_TRACE(::testing::Message() << seed << " " << name(storage));
      Random random(seed);
      const Index n = random.between(2, 25), p = random.between(1, 12);
      Vector y = random_vector(random, n);
      y.array() -= y.mean();
      const Problem problem{stored(random_float_exact(random, n, p, 0.3), storage).standardized(true, true),
                            y, SortedL1(random_weights(random, p))};
      for (const Vector& beta : points(random, p)) expect_certificates_agree(problem, beta);
    }
}

TEST(Certify, GapBoundsTheDistanceToTheOptimum) {
  for (const ZooProblem& z : zoo()) {
    SCOPED_TRACE(z.name);
    const Problem problem = dense_problem(z.x, z.y, z.weights);
    const auto optimum = static_cast<double>(naive::certify(problem, z.solution).primal);
    Random random(1);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Vector beta = random_vector(random, z.x.cols());
      const Certificate c = certify(problem, make_iterate(problem, beta));
      EXPECT_GE(c.gap + c.rounding, c.primal - optimum);
      EXPECT_LE(c.dual, optimum + c.rounding);
    }
  }
}

// The published code scales the dual point by max_i |g|_(i) / w_i, which is inf or NaN here.
TEST(Certify, ZeroWeightsGiveAFiniteDualPoint) {
  Random random(2);
  Vector w = Vector::Zero(6);
  w[0] = 3;
  const Problem problem = dense_problem(random_matrix(random, 10, 6), random_vector(random, 10), w);
  const Iterate x = make_iterate(problem, random_vector(random, 6));
  const Certificate c = certify(problem, x);
  EXPECT_TRUE(std::isfinite(c.gap) && std::isfinite(c.dual) && c.scale > 0);
  EXPECT_LE(problem.penalty.dual_norm(c.scale * correlation(problem, x)), 1 + 1e-14);
}

TEST(Certify, ZeroResponseHasNoGapAtZero) {
  Random random(3);
  const Problem problem = dense_problem(random_matrix(random, 5, 4), Vector::Zero(5), Vector::Ones(4));
  const Certificate c = certify(problem, make_iterate(problem, Vector::Zero(4)));
  EXPECT_EQ(c.primal, 0);
  EXPECT_EQ(c.gap, 0);
  EXPECT_TRUE(c.meets(1e-15));
}

TEST(Certify, NoColumnsAreSolvedByNothing) {
  const Problem problem{Design::dense(Eigen::MatrixXd(3, 0)), Vector::Ones(3), SortedL1(Vector())};
  const Certificate c = certify(problem, make_iterate(problem, Vector()));
  EXPECT_EQ(c.gap, 0);
  EXPECT_EQ(c.primal, 1.5);
}

TEST(Certify, MeetsIsRelativeToThePrimalValue) {
  Certificate c;
  c.primal = 1e-20, c.gap = 1e-25, c.rounding = 0;
  EXPECT_TRUE(c.meets(1e-4));
  EXPECT_FALSE(c.meets(1e-6));
  c.gap = -1e-30, c.rounding = 1e-25;
  EXPECT_FALSE(c.meets(1e-6)) << "a gap within its rounding proves nothing beyond it";
  EXPECT_TRUE(c.meets(1e-4));
  c.gap = -2e-25;
  EXPECT_FALSE(c.meets(1e-4)) << "weak duality does not hold: nothing is proved";
}

// A dual point that may be infeasible by any amount: no number is not a number.
TEST(Certify, WeightsNextToNothingProveNothing) {
  const Problem problem =
      dense_problem(Eigen::MatrixXd::Identity(3, 2), Vector::Constant(3, 1e30), Vector::Constant(2, 5e-309));
  const Certificate c = certify(problem, make_iterate(problem, Vector::Ones(2)));
  EXPECT_TRUE(std::isfinite(c.gap) && std::isfinite(c.rounding) && std::isfinite(c.dual));
  EXPECT_GE(c.gap + c.rounding, c.primal - 0.5e60 * (1 + 1e-12));
}

TEST(AlphaMax, IsWhereTheSolutionBecomesZero) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem problem = random_problem(random);
    const SortedL1 shape = problem.penalty;
    const double alpha = alpha_max(problem);
    Vector correlation;
    problem.design.transpose_multiply(problem.loss->response(), correlation);
    EXPECT_NEAR(alpha, static_cast<double>(naive::dual_norm(shape.weights(), correlation)), 1e-13 * alpha);
    problem.penalty = shape.scaled(alpha * (1 + 1e-12));
    const Iterate zero = make_iterate(problem, Vector::Zero(problem.design.cols()));
    EXPECT_LE(certify(problem, zero).gap, 1e-11 * certify(problem, zero).primal);
    problem.penalty = shape.scaled(0.99 * alpha);
    EXPECT_GT(certify(problem, zero).gap, 0.4e-4 * certify(problem, zero).primal);
  }
}

TEST(AlphaMax, OfAZeroResponseIsZero) {
  Random random(4);
  EXPECT_EQ(alpha_max(dense_problem(random_matrix(random, 5, 3), Vector::Zero(5), Vector::Ones(3))), 0);
}

TEST(RestrictTo, TakesColumnsAndTheHeadOfTheWeights) {
  Random random(5);
  Vector w(4);
  w << 4, 3, 2, 1;
  const Problem problem = dense_problem(random_matrix(random, 6, 4), random_vector(random, 6), w);
  const IndexSet columns{1, 3};
  const Problem small = restrict_to(problem, columns);
  EXPECT_EQ(small.design.cols(), 2);
  EXPECT_EQ(small.penalty.weights(), w.head(2));
  EXPECT_EQ(small.loss->response(), problem.loss->response());
  const Vector b = random_vector(random, 2), full = expand(b, columns, 4);
  EXPECT_EQ(full[0], 0);
  EXPECT_EQ(full[1], b[0]);
  EXPECT_EQ(full[2], 0);
  EXPECT_EQ(full[3], b[1]);
  EXPECT_EQ(restrict_to(full, columns), b);
  EXPECT_EQ(make_iterate(small, b).eta, make_iterate(problem, full).eta);
  EXPECT_EQ(restrict_to(problem, IndexSet{}).design.cols(), 0);
  Vector some(2);
  some << 0, 3;
  EXPECT_EQ(Vector(sparse(some, nonzero_entries(some), columns, 5)), expand(some, columns, 5));
  EXPECT_EQ(sparse(some, nonzero_entries(some), columns, 5).nonZeros(), 1);
}

// No gap is negative: numbers that say so are wrong by more than their rounding.
TEST(Certificate, AGapBelowMinusItsRoundingMeetsNoTolerance) {
  Certificate c;
  c.primal = 1, c.rounding = 1e-12;
  for (const double gap : {0.0, 1e-13, -1e-12}) {
    c.gap = gap;
    EXPECT_TRUE(c.meets(1e-6));
  }
  for (const double gap : {-1.1e-12, -1.5, std::numeric_limits<double>::quiet_NaN()}) {
    c.gap = gap;
    EXPECT_FALSE(c.meets(1e-6));
  }
}

// The gap of coefficients on the scale of the data, in extended precision: as somebody else would find it.
naive::Real gap_of_reported(const Problem& problem, const Eigen::MatrixXd& x, const Vector& coefficients) {
  const Vector scales = problem.design.scales();
  naive::Real rr = 0, ry = 0, norm = 0;
  naive::Reals pulls(static_cast<std::size_t>(x.cols()));
  for (Index i = 0; i < x.rows(); ++i) {
    naive::Real r = problem.loss->response()[i];
    for (Index j = 0; j < x.cols(); ++j) r -= static_cast<naive::Real>(x(i, j)) * coefficients[j];
    rr += r * r;
    ry += r * problem.loss->response()[i];
    for (Index j = 0; j < x.cols(); ++j) pulls[static_cast<std::size_t>(j)] += r * x(i, j) / scales[j];
  }
  for (naive::Real& pull : pulls)
    pull = problem.penalty.nonnegative() ? std::max(pull, naive::Real{0}) : std::abs(pull);
  naive::Reals weights;
  for (Index j = 0; j < x.cols(); ++j) {
    weights.push_back(problem.penalty.weight(j));
    norm += weights.back() * std::abs(naive::Real{coefficients[j]} * scales[j]);  // all weights are equal
  }
  const naive::Real bound = naive::dual_norm(weights, pulls);
  const naive::Real s = bound * ry > rr ? 1 / bound : ry / rr;
  return rr / 2 + norm - (s * ry - s * s * rr / 2);
}

// Where the weights are below the rounding of X'r, theta = s r is feasible or not by chance: the coefficients
// that are reported, rounded on the scale of the data, have another gap.
TEST(Certificate, RoundingCoversAThetaThatIsFeasibleByChance) {
  Index moved = 0;
  for (const bool nonnegative : {false, true})
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      SCOPED_TRACE(seed);
      Random random(seed);
      const Eigen::MatrixXd x = random_matrix(random, 12, 3);
      const Vector y = random_vector(random, 12) + 5 * x.rowwise().sum();
      const Problem problem{Design::dense(x).standardized(false, true, {}), y,
                            SortedL1(Vector::Constant(3, 1e-20), nonnegative)};
      const Vector b = least_squares(x, y).col(0).cwiseProduct(problem.design.scales());
      const Certificate here = certify(problem, make_iterate(problem, b));
      const auto there =
          static_cast<double>(gap_of_reported(problem, x, b.cwiseQuotient(problem.design.scales())));
      EXPECT_LE(there - here.gap, here.rounding);
      moved += there > here.gap + 0.01 * here.rounding ? 1 : 0;
    }
  EXPECT_GT(moved, 100) << "the test cannot fail where nothing moves";
}

}  // namespace
}  // namespace tyto
