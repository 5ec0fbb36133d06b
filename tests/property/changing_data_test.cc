// Law: borrowed values that somebody changes during a fit may give a wrong answer, but nothing is read or
// written outside of memory, and every call returns or throws; for the address sanitizer. Python cannot
// forbid other threads to write to an array that is being fitted. The values change here whenever the solver
// reports, so that a failure comes again.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <limits>

#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"
#include "tyto/select/cv.h"
#include "tyto/select/model.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<double, 8> kScribbles{kNan, kInfinity, -kInfinity, 0, 1e308, 1e-320, -1, 1e150};

// n x p values and what they were, dense or, with the same pattern throughout, sparse.
class Scribbled {
 public:
  Scribbled(Random& random, Index n, Index p, bool sparse) : random_(random), n_(n), p_(p) {
    values_.resize(static_cast<std::size_t>(n * p));
    start_.push_back(0);
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i < n; ++i)
        if (sparse && random.chance(0.3)) row_.push_back(static_cast<std::int32_t>(i));
      start_.push_back(static_cast<std::int32_t>(row_.size()));
    }
    for (double& value : values_) value = random.normal();
    if (sparse) values_.resize(row_.size());
    clean_ = values_;
    sparse_ = sparse;
  }

  Design design() const {
    if (sparse_)
      return Design(sparse_columns(
          SparseView<double, std::int32_t>{values_.data(), row_.data(), start_.data(), n_, p_}, nullptr));
    return Design(dense_columns(DenseView<double>{values_.data(), n_, p_}, nullptr));
  }
  Vector response() {
    const Vector beta = random_vector(random_, p_);
    Vector y;
    design().multiply(beta, y);
    return y + random_vector(random_, n_);
  }
  // Other numbers in a few places, in a whole column, or the clean ones again.
  void scribble() {
    const Index size = std::ssize(values_), kind = random_.below(4);
    if (kind == 0) values_ = clean_;
    const Index begin = random_.below(size), count = kind == 1 ? 1 : kind == 2 ? size / p_ : size;
    if (kind != 0)
      for (Index k = begin; k < std::min(size, begin + count); ++k)
        if (kind != 3 || random_.chance(0.05))
          values_[static_cast<std::size_t>(k)] = kScribbles[static_cast<std::size_t>(random_.below(8))];
  }
  void clean() { values_ = clean_; }

 private:
  Random& random_;
  Index n_, p_;
  bool sparse_ = false;
  std::vector<double> values_, clean_;
  std::vector<std::int32_t> row_, start_;
};

// What a user may do; throws are answers, too.
template <class Call>
void try_to(Call call) {
  try {
    call();
  } catch (const InvalidArgument&) {
  }
}

void scribble_through_everything(std::uint64_t seed, const char* solver, bool sparse) {
  Random random(seed);
  const Index n = random.between(5, 60), p = random.between(2, 150);
  Scribbled data(random, n, p, sparse);
  const Vector y = data.response();
  RegressionOptions words;
  words.weights = random.chance(0.5) ? "oscar" : "bh";
  words.strength = random.uniform(0.01, 0.5), words.standardize = random.chance(0.5);
  words.nonnegative = random.chance(0.2), words.ridge = random.chance(0.2) ? 0.1 : 0;
  FitOptions options;
  options.solver = solver, options.max_epochs = 30, options.tolerance = 1e-9;
  options.screening = random.chance(0.5) ? "safe" : random.chance(0.5) ? "strong" : "none";
  const auto scribbling = [&](const auto&) { return data.scribble(), true; };

  try_to([&] {
    const Regression regression = make_regression(data.design(), y, words);
    const Fit found = fit(regression.problem, options, nullptr, scribbling);
    Model model = make_model({data.design(), y}, words, regression, found, options);
    predict(model, {data.design(), {}});
  });
  data.clean();
  PathOptions grid;
  grid.steps = 8, grid.ratio = 0.02;
  try_to([&] {
    const Regression regression = make_regression(data.design(), y, words);
    Path path = fit_path(regression, grid, options, scribbling);
    if (!words.nonnegative) relax(regression, 0.5, path);
    make_models({data.design(), y}, words, regression, path, options);
  });
  data.clean();
  try_to([&] {
    CvOptions cv;
    cv.folds = 3, cv.path = grid;
    CvHooks hooks;
    hooks.progress = scribbling;
    cross_validate(data.design(), y, words, cv, options, hooks);
  });
}

class ChangingData : public testing::TestWithParam<const char*> {};

TEST_P(ChangingData, StaysInMemory) {
  const char* asked = std::getenv("TYTO_CHANGING_DATA");
  const std::uint64_t seeds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const bool sparse : {false, true}) {
      SCOPED_TRACE(seed);
      scribble_through_everything(seed, GetParam(), sparse);
    }
}

INSTANTIATE_TEST_SUITE_P(Solvers, ChangingData, testing::Values("newton", "apgd", "spgd"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace tyto
