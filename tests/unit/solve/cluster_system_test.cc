#include "tyto/solve/cluster_system.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/random.h"
#include "tests/support/zoo.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

// A pattern on some columns of a design, and X'r there.
struct Setting {
  std::unique_ptr<const Work> work = std::make_unique<const Work>();
  Design design;
  WorkingSet columns;
  ClusterSystem system;
  Vector y, state;

  double ridge;

  Setting(Storage storage, Index rows, std::uint64_t seed) : ridge(seed % 3 == 0 ? 2 : 0) {
    Random random(seed);
    Vector weights;  // of rows
    if (seed % 5 == 0) {
      weights.setOnes(rows);
      for (double& weight : weights) weight = random.uniform(0, 2);
    }
    design = stored(random_float_exact(random, rows, 20, 0.7), storage).standardized(true, true, weights);
    columns.attach(design, ridge, *work);
    columns.include(design, IndexSet{0, 3, 4, 8, 11, 15});
    Pattern pattern(3);
    pattern[0].magnitude = 5, pattern[1].magnitude = 3, pattern[2].magnitude = 1;
    pattern[0].add(1, 1), pattern[0].add(4, -1), pattern[1].add(0, 1), pattern[2].add(5, -1),
        pattern[2].add(2, 1);
    system.assign(pattern, columns);
    y = Vector::Zero(rows);
    y = (seed % 2 == 0 ? 0.2 : 20) * random_vector(random, rows) - residual();  // near the pattern, or not
    const Vector r = residual();
    if (!columns.covariance()) {
      state = r;
    } else {
      state.resize(columns.size());
      design.transpose_multiply(IndexSet{0, 3, 4, 8, 11, 15}, r, state.data());
      state -= ridge * beta();
    }
  }
  Vector beta() const {  // by slot
    Vector result = Vector::Zero(columns.size());
    for (const Cluster& cluster : system.pattern())
      for (std::size_t k = 0; k < cluster.columns.size(); ++k)
        result[cluster.columns[k]] = cluster.signs[k] * cluster.magnitude;
    return result;
  }
  Vector residual() const {
    Vector eta;
    design.multiply(IndexSet{0, 3, 4, 8, 11, 15}, beta(), eta);
    return y - eta;
  }
  Vector ascent() const {
    Vector result;
    columns.ascent(state, result);
    if (!columns.covariance()) result -= ridge * beta();
    return result;
  }
  // What each cluster still pulls beyond its price.
  Vector forces(const SortedL1& penalty) const {
    Vector result(std::ssize(system.pattern()));
    Index above = 0;
    for (Index k = 0; k < result.size(); ++k) {
      const Cluster& cluster = system.pattern()[static_cast<std::size_t>(k)];
      const Index below = above + cluster.size();
      result[k] = signed_sum(cluster, ascent()) - penalty.weight_sum(below) + penalty.weight_sum(above);
      above = below;
    }
    return result;
  }
};

// Either the pattern stays, solved, with the state of its point; or nothing has happened.
TEST(ClusterSystem, FollowsAPenaltyWhileThePatternStays) {
  int followed = 0, refused = 0;
  for (const Storage storage : {Storage::kDense, Storage::kSparse})
    for (const Index rows : {14, 300})
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(::testing::Message() << name(storage) << " " << rows << " " << seed);
        Setting at(storage, rows, seed);
        const SortedL1 penalty =
            SortedL1(make_weights("oscar", {rows, 6, 0.1, 1})).scaled(0.01 * static_cast<double>(rows));
        const Vector before = at.state;
        const Pattern pattern = at.system.pattern();
        const bool stayed = at.system.follow(at.ascent(), penalty, at.columns, at.state);
        ASSERT_EQ(at.system.pattern().size(), 3);
        double last = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < 3; ++k) {
          const Cluster& cluster = at.system.pattern()[k];
          EXPECT_EQ(cluster.columns, pattern[k].columns);
          EXPECT_EQ(cluster.signs, pattern[k].signs);
          EXPECT_GT(cluster.magnitude, 0);
          EXPECT_LT(cluster.magnitude, last);
          if (!stayed) {
            EXPECT_EQ(cluster.magnitude, pattern[k].magnitude);
          }
          last = cluster.magnitude;
        }
        ++(stayed ? followed : refused);
        if (!stayed) {
          EXPECT_EQ(at.state, before);
          continue;
        }
        EXPECT_LE(at.forces(penalty).norm(), 1e-10 * (penalty.weight_sum(6) + at.y.norm()));
        Vector want;
        at.design.transpose_multiply(at.residual(), want);
        for (const Index slot : at.columns.present())
          EXPECT_NEAR(at.ascent()[slot], want[at.columns.column(slot)] - at.ridge * at.beta()[slot],
                      1e-9 * (1 + at.y.norm()));
      }
  EXPECT_GT(followed, 5);
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace tyto
