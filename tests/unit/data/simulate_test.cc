#include "tyto/data/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tyto/base/error.h"
#include "tyto/data/write.h"

namespace tyto {
namespace {

double correlation(const Eigen::MatrixXd& x, Index a, Index b) {
  const Eigen::ArrayXd u = x.col(a).array() - x.col(a).mean(), v = x.col(b).array() - x.col(b).mean();
  return (u * v).sum() / std::sqrt(u.square().sum() * v.square().sum());
}

TEST(Simulate, HasTheCorrelationsAsked) {
  const Simulated s =
      simulate({.rows = 20000, .cols = 12, .groups = 2, .group_size = 3, .correlation = .8, .rho = .5});
  const Eigen::MatrixXd x = dense_copy(s.data.design);
  EXPECT_NEAR(correlation(x, 0, 2), .8, .02);
  EXPECT_NEAR(correlation(x, 4, 5), .8, .02);
  EXPECT_NEAR(correlation(x, 2, 3), 0, .03);
  EXPECT_NEAR(correlation(x, 5, 6), 0, .03);
  EXPECT_NEAR(correlation(x, 6, 7), .5, .03);
  EXPECT_NEAR(correlation(x, 6, 8), .25, .03);
  EXPECT_NEAR(x.array().square().mean(), 1, .02);
  EXPECT_EQ(s.data.names[0], "g1_1");
  EXPECT_EQ(s.data.names[5], "g2_3");
  EXPECT_EQ(s.data.names[6], "x7");
  EXPECT_EQ(s.truth.head(7), (Vector(7) << 2, 2, 2, -1.5, -1.5, -1.5, 0).finished());
  const Vector signal = x * s.truth;
  EXPECT_NEAR(signal.squaredNorm() / (s.data.response - signal).squaredNorm(), 3, .2);
}

TEST(Simulate, IsFixedByTheSeed) {
  const SimulateOptions options{.rows = 20, .cols = 60, .density = .3, .seed = 5};
  const Simulated a = simulate(options), b = simulate(options);
  EXPECT_EQ(dense_copy(a.data.design), dense_copy(b.data.design));
  EXPECT_EQ(a.data.response, b.data.response);
  EXPECT_TRUE(a.data.design.is_sparse());
  EXPECT_NEAR(static_cast<double>(a.data.design.stored_entries()), 360, 80);
  const Simulated noiseless =
      simulate({.rows = 20, .cols = 60, .snr = std::numeric_limits<double>::infinity()});
  EXPECT_LE((dense_copy(noiseless.data.design) * noiseless.truth - noiseless.data.response).norm(), 1e-12);
}

TEST(Simulate, RefusesWhatIsImpossible) {
  const auto message = [](const SimulateOptions& options) {
    try {
      simulate(options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message({.rows = 0}), "rows: want >= 1, got 0");
  EXPECT_EQ(message({.cols = 10}), "groups: want groups * group-size <= cols, got 10 * 5 > 10");
  EXPECT_EQ(message({.correlation = 1.5}), "correlation: want 0 to 1, got 1.5");
  EXPECT_EQ(message({.snr = -1}), "snr: want > 0, got -1");
  EXPECT_EQ(message({.density = 0}), "density: want 0 < density <= 1, got 0");
}

TEST(Write, RoundTripsBitByBit) {
  const TempDir dir;
  for (const double density : {1.0, .2}) {
    const Dataset data = simulate({.rows = 30, .cols = 70, .density = density}).data;
    const Dataset csv = read({dir.write("a.csv", to_csv(data))});
    EXPECT_EQ(dense_copy(csv.design), dense_copy(data.design));
    EXPECT_EQ(csv.response, data.response);
    EXPECT_EQ(csv.names, data.names);
    EXPECT_EQ(csv.response_name, "y");
    const Dataset svm = read({dir.write("a.svm", to_libsvm(data))}, {.features = 70});
    EXPECT_EQ(svm.design.is_sparse(), data.design.is_sparse());
    EXPECT_EQ(dense_copy(svm.design), dense_copy(data.design));
    EXPECT_EQ(svm.response, data.response);
  }
}

TEST(Write, QuotesNames) {
  const TempDir dir;
  Dataset data{Design::dense(Eigen::MatrixXd(Eigen::Matrix2d::Identity())),
               Eigen::Vector2d(1, 2),
               {"a, \"b\"", "c\nd"},
               ""};
  const Dataset again = read({dir.write("a.csv", to_csv(data))});
  EXPECT_EQ(again.names, data.names);
  data.names.clear();
  EXPECT_EQ(to_csv(data), "1,0,1\n0,1,2\n");
}

}  // namespace
}  // namespace tyto
