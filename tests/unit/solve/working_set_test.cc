#include "tyto/solve/working_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tests/support/zoo.h"

namespace tyto {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// By slot; what is hidden does not count.
Vector state_of(const WorkingSet& set, const Eigen::MatrixXd& x, const Vector& r) {
  if (!set.covariance()) return r;
  Vector state = Vector::Zero(set.size());
  for (const Index slot : set.present()) state[slot] = x.col(set.column(slot)).dot(r);
  return state;
}

// Slots know their columns, and each column that is wanted has one.
void expect_holds(const WorkingSet& set, const Design& design, const IndexSet& wanted) {
  std::map<Index, int> count;
  Index present = 0;
  for (Index slot = 0; slot < set.size(); ++slot) {
    ASSERT_LT(set.column(slot), design.cols());
    if (set.column(slot) < 0) continue;
    EXPECT_EQ(set.present()[at(present++)], slot);
    EXPECT_EQ(++count[set.column(slot)], 1) << "a column in two slots";
  }
  EXPECT_EQ(std::ssize(set.present()), present);
  for (const Index j : wanted) EXPECT_EQ(count[j], 1) << "column " << j << " is missing";
  EXPECT_TRUE(set.contains(design, wanted));
}

void expect_products(WorkingSet& set, const Eigen::MatrixXd& x, const IndexSet& slots) {
  for (const Index a : slots) {
    Vector products;
    set.products(std::array{a}, std::array{2.0}, products);
    ASSERT_EQ(products.size(), set.active());
    for (const Index b : slots) {
      const double want = 2 * (x.col(set.column(a)).dot(x.col(set.column(b))) + (a == b ? set.ridge() : 0));
      EXPECT_NEAR(products[set.place(b)], want, 1e-11 * (1 + std::abs(want)));
    }
  }
}

struct Form {
  const char* name;
  Storage storage;
  Index rows;
  bool covariance;
};

// Steps of some slots, from a point given by column; the state follows X'r.
void expect_moves(WorkingSet& set, const Design& design, Random& random) {
  const Eigen::MatrixXd x = entries_of(design);
  Vector r = random_vector(random, design.rows()), state = state_of(set, x, r), ascent;
  IndexSet active;
  for (int step = 0; step < 4; ++step) {
    IndexSet slots;
    for (const Index slot : set.present())
      if (random.chance(0.4)) slots.push_back(slot);
    set.activate(slots);
    active.insert(active.end(), slots.begin(), slots.end());
    std::sort(active.begin(), active.end());
    active.erase(std::unique(active.begin(), active.end()), active.end());
    expect_products(set, x, active);
    Vector by_slot = Vector::Zero(set.size());
    for (const Index slot : active)
      if (random.chance(0.7)) {
        by_slot[slot] = random.normal();
        r -= by_slot[slot] * x.col(set.column(slot));
      }
    set.move(by_slot, state);
    set.ascent(state, ascent);
    ASSERT_EQ(ascent.size(), set.size());
    for (const Index slot : set.present())
      EXPECT_NEAR(ascent[slot], x.col(set.column(slot)).dot(r), 1e-10 * (1 + r.norm() * x.norm()));
  }
}

// Short columns as they are; long ones by their products.
TEST(WorkingSet, BothFormsFollowTheSameMoves) {
  for (const Form& form :
       {Form{"direct", Storage::kDense, 12, false}, Form{"direct, float", Storage::kFloat, 12, false},
        Form{"sparse", Storage::kSparse, 12, false}, Form{"tall", Storage::kDense, 400, true},
        Form{"tall and sparse", Storage::kSparse, 400, true}})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(::testing::Message() << form.name << ", seed " << seed);
      Random random(seed);
      const Design all =
          stored(random_float_exact(random, form.rows, 60, 0.6), form.storage).standardized(true, true);
      Design design = all;
      WorkingSet set;
      const Work work;
      set.attach(all, 0, work);
      for (int epoch = 0; epoch < 10; ++epoch) {
        IndexSet wanted;
        while (std::ssize(wanted) < 7) wanted = random_columns(random, design.cols());
        set.include(design, wanted);
        if (epoch == 0) {
          EXPECT_EQ(set.covariance(), form.covariance);
        }
        expect_holds(set, design, wanted);
        expect_moves(set, design, random);
        if (random.chance(0.4) && design.cols() > 20) {  // screening
          IndexSet alive;
          for (Index j = 0; j < design.cols(); ++j)
            if (random.chance(0.85)) alive.push_back(j);
          design = design.select(alive);
        }
        if (random.chance(0.2)) design = all;  // the next fit
      }
    }
}

// The products of a sum are those of its columns, whatever is taken out of these.
TEST(WorkingSet, ProductsOfSums) {
  for (const Storage storage : {Storage::kDense, Storage::kFloat, Storage::kSparse})
    for (const Index rows : {12, 400})
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(::testing::Message() << name(storage) << ", " << rows << " rows, seed " << seed);
        Random random(seed);
        Vector weights;
        if (seed % 2 == 1) {
          weights.setOnes(rows);
          for (double& weight : weights) weight = random.uniform(0, 3);
        }
        Design design = stored(random_float_exact(random, rows, 30, 0.5), storage)
                            .standardized(seed % 3 > 0, true, weights);
        if (seed > 5) design = design.without(3);
        WorkingSet set;
        const Work work;
        set.attach(design, 0.25, work);
        set.include(design, IndexSet{1, 4, 5, 9, 20, 29});
        const std::vector<Index> slots{0, 2, 3, 5};
        const std::vector<double> factors{1, -1, 1, 0.5};
        set.activate(slots);
        const Eigen::MatrixXd x = entries_of(design);
        expect_products(set, x, slots);
        Vector sum = Vector::Zero(rows), products;
        for (std::size_t k = 0; k < slots.size(); ++k) sum += factors[k] * x.col(set.column(slots[k]));
        set.products(slots, factors, products);
        for (std::size_t k = 0; k < slots.size(); ++k)
          EXPECT_NEAR(products[set.place(slots[k])], x.col(set.column(slots[k])).dot(sum) + 0.25 * factors[k],
                      1e-11 * x.squaredNorm());
        if (set.covariance()) continue;
        Vector same;
        set.sum(slots, factors, same);
        EXPECT_LE((same - sum).norm(), 1e-12 * sum.norm());
      }
}

TEST(WorkingSet, SlotsSurviveAnInclude) {
  Random random(1);
  const Eigen::MatrixXd x = random_matrix(random, 10, 40);
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SCOPED_TRACE(name(storage));
    const Design design = stored(x, storage);
    WorkingSet set;
    const Work work;
    set.attach(design, 0, work);
    EXPECT_FALSE(set.include(design, IndexSet{2, 5, 9, 11, 30}));
    const IndexSet before{2, 5, 9, 11, 30};
    set.activate(IndexSet{0, 3});
    EXPECT_FALSE(set.include(design, IndexSet{1, 2, 9, 33}));
    EXPECT_EQ(set.size(), 7);
    for (std::size_t slot = 0; slot < before.size(); ++slot)
      EXPECT_EQ(set.column(static_cast<Index>(slot)), before[slot]);
    set.activate(IndexSet{6});
    expect_products(set, x, {0, 3, 6});
    EXPECT_FALSE(set.include(design, IndexSet{1, 2}));
    EXPECT_EQ(set.size(), 7);
  }
}

TEST(WorkingSet, ColumnsThatLeftTheDesignAreHiddenUntilTheyAreBack) {
  Random random(2);
  const Eigen::MatrixXd x = random_matrix(random, 10, 40);
  for (const Storage storage : {Storage::kDense, Storage::kSparse}) {
    SCOPED_TRACE(name(storage));
    const Design all = stored(x, storage), some = all.select(IndexSet{0, 5, 9, 30, 31});
    WorkingSet set;
    const Work work;
    set.attach(all, 0, work);
    set.include(all, IndexSet{2, 5, 9, 11, 30});
    set.activate(IndexSet{0, 1, 2, 3, 4});
    EXPECT_FALSE(set.include(some, IndexSet{1, 4}));
    expect_holds(set, some, {1, 4});
    const std::vector<Index> columns{-1, 1, 2, -1, 3, 4};  // 5, 9 and 30 under their new numbers, and 31
    ASSERT_EQ(set.size(), 6);
    for (Index slot = 0; slot < 6; ++slot) EXPECT_EQ(set.column(slot), columns[at(slot)]);
    set.activate(IndexSet{5});
    expect_products(set, entries_of(some), {1, 2, 4, 5});
    EXPECT_FALSE(set.include(all, IndexSet{2}));
    EXPECT_EQ(set.size(), 6);
    expect_products(set, x, {0, 1, 2, 3, 4, 5});
  }
}

TEST(WorkingSet, ACrowdIsCutToWhatIsWanted) {
  Random random(3);
  const Design design = Design::dense(random_matrix(random, 20, 500));
  WorkingSet set;
  const Work work;
  set.attach(design, 0, work);
  IndexSet many;
  for (Index j = 0; j < 400; ++j) many.push_back(j);
  set.include(design, many);
  EXPECT_TRUE(set.include(design, IndexSet{7, 399, 450}));
  expect_holds(set, design, {7, 399, 450});
  EXPECT_LE(set.size(), 100);
  expect_moves(set, design, random);
}

}  // namespace
}  // namespace tyto
