#include <gtest/gtest.h>

#include "tests/support/real_data.h"
#include "tyto/data/dataset.h"

namespace tyto {
namespace {

struct RealSet {
  std::vector<std::string> files;
  Index rows, cols;
  ReadOptions options = {};
};

TEST(RealData, HasTheShapesOfItsDescription) {
  TYTO_SKIP_WITHOUT_DATA("prostate");
  const std::filesystem::path root = data_folder();
  const ReadOptions y{.target = "y"};
  const std::vector<RealSet> sets{
      {{"duke/data.svm.xz"}, 44, 7129},
      {{"sst-text/data.svm.xz"}, 11855, 42739},
      {{"ujiindoorloc/trainingData.csv.xz", "ujiindoorloc/validationData.csv.xz"},
       21048,
       528,
       {.target = "LONGITUDE"}},
      {{"slice-part/data.csv.xz"}, 682, 384, {.target = "reference"}},
      {{"eyedata/data.csv.xz"}, 120, 200, y},
      {{"permeability/data.csv.xz"}, 165, 1107, y},
      {{"tecator/data.csv.xz"}, 215, 100, y},
      {{"diabetes-lars/data.csv.xz"}, 442, 64, y},
      {{"prostate/data.csv.xz"}, 97, 8, y},
      {{"abalone-libslope/data.csv.xz"}, 211, 9, y},
  };
  for (const RealSet& set : sets) {
    SCOPED_TRACE(set.files[0]);
    std::vector<std::string> files;
    for (const std::string& file : set.files) files.push_back((root / file).string());
    const Dataset data = read(files, set.options);
    EXPECT_EQ(data.design.rows(), set.rows);
    EXPECT_EQ(data.design.cols(), set.cols);
    EXPECT_EQ(data.response.size(), set.rows);
    EXPECT_EQ(data.design.is_sparse(), set.files[0] == "sst-text/data.svm.xz");
    EXPECT_EQ(data.response_name, set.options.target.value_or(""));
  }
}

}  // namespace
}  // namespace tyto
