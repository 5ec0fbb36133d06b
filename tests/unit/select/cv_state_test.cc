#include "tyto/select/cv_state.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"
#include "tests/unit/select/cv_runs.h"
#include "tyto/base/error.h"

namespace tyto {
namespace {

using namespace cv_runs;

class CvStateTest : public ::testing::Test {
 protected:
  CvState open(const Data& data, const CvOptions& cv, double tolerance = 1e-8) {
    return {path, Design::dense(data.x), data.y, {}, cv, tight(tolerance)};
  }
  std::string refusal(const Data& data, const CvOptions& cv, double tolerance = 1e-8) {
    try {
      open(data, cv, tolerance);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  }

  TempDir folder;
  std::string path = folder.path("state.json");
};

TEST_F(CvStateTest, GoesOnWithTheSameNumbers) {
  const Data data = simulated(40, 20);
  const CrossValidation whole = run(data, {}, few(5));
  CvState first = open(data, few(5));
  CvHooks hooks;
  hooks.progress = [](const CvProgress& at) { return at.done < 2; };
  hooks.fold_finished = [&](const FoldScore& score) { first.add(score); };
  EXPECT_FALSE(run(data, {}, few(5), tight(1e-8), hooks).complete());
  first.save();
  CvState second = open(data, few(5));
  ASSERT_EQ(second.finished().size(), 2U);
  Index fitted = 0;
  CvHooks rest;
  rest.finished = second.finished(), rest.fold_finished = [&](const FoldScore&) { ++fitted; };
  const CrossValidation resumed = run(data, {}, few(5), tight(1e-8), rest);
  EXPECT_EQ(fitted, 3);
  EXPECT_EQ(resumed.chosen().error, whole.chosen().error);
  EXPECT_EQ(resumed.chosen().standard_error, whole.chosen().standard_error);
  EXPECT_EQ(resumed.worst_gap(), whole.worst_gap());
  EXPECT_EQ(resumed.passes, whole.passes);
  EXPECT_EQ(resumed.best, whole.best);
}

TEST_F(CvStateTest, RefusesFoldsOfAnotherRun) {
  const Data data = simulated(40, 20);
  CvState state = open(data, few(5));
  state.add({0, 0, 0, 8, 8.0, {1}, {1}, {Status::kConverged}, 1});
  EXPECT_EQ(refusal(data, few(5)), "accepted");
  Data other = data;
  other.x(0, 0) += 1e-12;
  EXPECT_EQ(refusal(other, few(5)), path +
                                        ": holds folds of another run: of other data; give the options of "
                                        "that run, or another file");
  EXPECT_EQ(refusal(data, few(4)), path +
                                       ": holds folds of another run: of --folds 5, not 4; give the options "
                                       "of that run, or another file");
  EXPECT_NE(refusal(data, few(5), 1e-9).find("--tolerance"), std::string::npos);
  CvOptions seeded = few(5);
  seeded.seed = 9;
  EXPECT_NE(refusal(data, seeded).find("--seed"), std::string::npos);
  folder.write("state.json", "{\"format\": 3}");
  EXPECT_NE(refusal(data, few(5)).find("expected format"), std::string::npos);
  folder.write("state.json", "nonsense");
  EXPECT_NE(refusal(data, few(5)).find("expected folds of a cross-validation"), std::string::npos);
}

TEST_F(CvStateTest, EveryDamagedByteIsSeen) {
  const Data data = simulated(40, 20);
  CvState state = open(data, few(5));
  state.add({0, 0, 0, 8, 8.0, {1.25}, {1e-9}, {Status::kConverged}, 1});
  const std::string good = contents_of(path);
  for (std::size_t k = 0; k < good.size(); ++k) {
    std::string damaged = good;
    damaged[k] = static_cast<char>(damaged[k] ^ 1);
    folder.write("state.json", damaged);
    EXPECT_NE(refusal(data, few(5)), "accepted") << k;
    if (k % 7 != 0) continue;
    folder.write("state.json", good.substr(0, k));
    EXPECT_NE(refusal(data, few(5)), "accepted") << k;
  }
  folder.write("state.json", good);
  EXPECT_EQ(refusal(data, few(5)), "accepted");
}

// A checksum that fits, as of one who means to mislead.
TEST_F(CvStateTest, NumbersOutOfRangeAreRefused) {
  const Data data = simulated(40, 20);
  const std::vector<FoldScore> wrong{{1, 0, 0, 8, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 1, 0, 8, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 5, 8, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, -1, 8, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 0, 0, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 0, 41, 8.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 0, 8, -1.0, {1}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 0, 8, 8.0, {}, {1}, {Status::kConverged}, 1},
                                     {0, 0, 0, 8, 8.0, {1}, {}, {Status::kConverged}, 1},
                                     {0, 0, 0, 8, 8.0, {1}, {1}, {}, 1},
                                     {0, 0, 0, 8, 8.0, {1}, {1}, {Status::kConverged}, -1}};
  for (const FoldScore& score : wrong) {
    std::filesystem::remove(path);
    CvState state = open(data, few(5));
    state.add(score);
    EXPECT_NE(refusal(data, few(5)).find(": expected "), std::string::npos);
  }
  std::filesystem::remove(path);
  CvState twice = open(data, few(5));
  for (int k = 0; k < 2; ++k) twice.add({0, 0, 0, 8, 8.0, {1}, {1}, {Status::kConverged}, 1});
  twice.save();
  EXPECT_NE(refusal(data, few(5)).find("expected each fold once"), std::string::npos);
}

}  // namespace
}  // namespace tyto
