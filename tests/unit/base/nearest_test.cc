#include "tyto/base/nearest.h"

#include <gtest/gtest.h>

namespace tyto {
namespace {

const std::vector<std::string> kWords{"fit", "path", "predict", "standardize", "x10"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("ft", kWords), "fit");
  EXPECT_EQ(nearest("FIT", kWords), "fit");
  EXPECT_EQ(nearest("pathh", kWords), "path");
  EXPECT_EQ(nearest("predcit", kWords), "predict");  // swapped
  EXPECT_EQ(nearest("standardise", kWords), "standardize");
  EXPECT_EQ(nearest("pred", kWords), "predict");  // its beginning
}

TEST(Nearest, FindsNothingFarAway) {
  EXPECT_FALSE(nearest("verify", kWords));
  EXPECT_FALSE(nearest("", kWords));
  EXPECT_FALSE(nearest("p", kWords));  // of two
  EXPECT_FALSE(nearest("y1", {"y2", "z1"}));
  EXPECT_FALSE(nearest(std::string(1000, 'x'), kWords));
}

TEST(Nearest, SaysSo) {
  EXPECT_EQ(did_you_mean("ft", kWords), "; did you mean 'fit'?");
  EXPECT_EQ(did_you_mean("verify", kWords), "");
  EXPECT_EQ(unknown_word("solver: unknown solver", "a", {"b", "c"}),
            "solver: unknown solver 'a'; known: b, c");
}

}  // namespace
}  // namespace tyto
