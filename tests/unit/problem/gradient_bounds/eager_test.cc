#include "tyto/problem/gradient_bounds/eager.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/random.h"
#include "tests/support/varied.h"
#include "tyto/math/entries.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Problem some_problem(Random& random, double ridge = 0) {
  Problem problem = dense_problem(random_matrix(random, 30, 50), random_vector(random, 30),
                                  make_weights("oscar", {30, 50, 0.1}));
  problem.ridge = ridge;
  return problem;
}

struct Found {
  DualNormAt at;
  Index read;  // entries
};
Found evaluate(EagerBounds& bounds, const Work& work, const Problem& problem, const Iterate& x,
               const Selection& columns) {
  const Index before = work.entries_read();
  bounds.move_to(problem.loss->response() - x.eta);
  DualNormAt at = bounds.evaluate_dual_norm(problem, x.beta, nonzero_entries(x.beta), columns);
  EXPECT_EQ(bounds.values(problem, x.beta, columns), correlation(problem, x));
  return {std::move(at), work.entries_read() - before};
}

TEST(EagerBounds, GivesTheCertificateOfAFullPass) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Problem full = varied_problem(random, 25, 40);
    const Work work;
    EagerBounds bounds(full, work);
    for (int step = 0; step < 6; ++step) {
      const bool all = random.chance(0.5);
      const IndexSet kept =
          all ? all_but({}, full.design.cols()) : random_columns(random, full.design.cols());
      const Problem problem = restrict_to(full, kept);
      const Iterate x = make_iterate(problem, 0.1 * random_vector(random, std::ssize(kept)));
      const Certificate want = certify(problem, x);
      const Certificate got =
          certify(problem, x, loss_at(problem, x), evaluate(bounds, work, problem, x, kept).at);
      EXPECT_EQ(got.gap, want.gap);
      EXPECT_EQ(got.rounding, want.rounding);
    }
  }
}

TEST(EagerBounds, ReadsTheSamePointOnce) {
  Random random(1);
  for (const double ridge : {0.0, 0.5}) {
    const Problem problem = some_problem(random, ridge);
    const Selection all = Selection::first(50);
    const Work work;
    EagerBounds bounds(problem, work);
    const Iterate x = make_iterate(problem, random_vector(random, 50));
    const Found first = evaluate(bounds, work, problem, x, all);
    EXPECT_EQ(first.read, 30 * 50);
    const Found second = evaluate(bounds, work, problem, x, all);
    EXPECT_EQ(second.read, 0);
    EXPECT_EQ(second.at.dual_norm, first.at.dual_norm);
    EXPECT_EQ(second.at.at_support, first.at.at_support);
    EXPECT_EQ(evaluate(bounds, work, problem, make_iterate(problem, 2 * x.beta), all).read, 30 * 50);
  }
}

// The columns that screening left, then all of them to check the answer, then the former again.
TEST(EagerBounds, AFullCheckDoesNotForgetTheColumnsLeft) {
  Random random(2);
  const Problem problem = some_problem(random);
  const IndexSet kept = all_but(IndexSet{3, 7, 11}, 50);
  const Problem left = restrict_to(problem, kept);
  const Work work;
  EagerBounds bounds(problem, work);
  const Iterate x = make_iterate(left, random_vector(random, 47));
  const Iterate expanded{expand(x.beta, kept, 50), x.eta};
  const Found first = evaluate(bounds, work, left, x, kept);
  EXPECT_EQ(evaluate(bounds, work, problem, expanded, Selection::first(50)).read, 30 * 50);
  const Found again = evaluate(bounds, work, left, x, kept);
  EXPECT_EQ(again.read, 0);
  EXPECT_EQ(again.at.dual_norm, first.at.dual_norm);
  const IndexSet others = all_but(IndexSet{2, 7, 11}, 50);  // as many, but not the same
  const Problem other = restrict_to(problem, others);
  EXPECT_EQ(evaluate(bounds, work, other, {x.beta, x.eta}, others).read, 30 * 47);
}

// With a ridge, the same residual is not the same point.
TEST(EagerBounds, TellsPointsOfTheSameResidualApartByTheirRidge) {
  Random random(3);
  Problem problem = some_problem(random, 2);
  const Work work;
  EagerBounds bounds(problem, work);
  const Selection all = Selection::first(50);
  const Iterate x = make_iterate(problem, random_vector(random, 50));
  evaluate(bounds, work, problem, x, all);
  evaluate(bounds, work, problem, {2 * x.beta, x.eta}, all);  // compares with X'r there
}

TEST(EagerBounds, KnowsWhatTheProblemKnowsAtZero) {
  Random random(4);
  Problem problem = some_problem(random);
  problem.at_zero = std::make_shared<const AtZero>(at_zero(problem));
  const Work work;
  EagerBounds bounds(problem, work);
  const Iterate zero = make_iterate(problem, Vector::Zero(50));
  const Found found = evaluate(bounds, work, problem, zero, Selection::first(50));
  EXPECT_EQ(found.read, 0);
  EXPECT_EQ(found.at.dual_norm, problem.at_zero->dual_norm);
}

}  // namespace
}  // namespace tyto
