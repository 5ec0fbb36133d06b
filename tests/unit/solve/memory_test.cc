#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/random.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

double resident_bytes(const char* field) {  // VmRSS or VmHWM
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(line.find(':') + 1));
  return 0;
}

Design few_entries(Random& random, Index n, Index p) {
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> x(n, p);
  x.reserve(2 * p);
  for (Index j = 0; j < p; ++j) {
    const Index row = random.below(n - 1);
    x.startVec(j);
    x.insertBack(row, j) = random.normal(), x.insertBack(row + 1, j) = random.normal();
  }
  x.finalize();
  return Design::sparse(x);
}

// X is as small as a few vectors of length p: what matters is how many of those there are at once.
TEST(Memory, AWideSparseFitTakesAFewVectorsBesideX) {
#ifdef TYTO_SANITIZED
  GTEST_SKIP() << "sanitizers keep memory that was freed";
#endif
  const Index n = 500, p = 400'000;
  Random random(1);
  const Design raw = few_entries(random, n, p);
  Vector y = 0.1 * random_vector(random, n);
  for (Index j = 0; j < 5; ++j) raw.axpy(j, 5, y);
  const double x_bytes = 12.0 * static_cast<double>(raw.stored_entries()) + 4.0 * static_cast<double>(p);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
  const double before = resident_bytes("VmRSS");
  if (before == 0 || resident_bytes("VmHWM") > before + 1e6) GTEST_SKIP() << "the system does not tell";
  for (const char* weights : {"lasso", "oscar"}) {
    const Regression task = make_regression(raw, y, {.weights = weights, .strength = 0.5});
    const Fit found = fit(task.problem);
    EXPECT_EQ(found.status, Status::kConverged);
    EXPECT_GT((found.solution.beta.array() != 0).count(), 0);
    const double extra = resident_bytes("VmHWM") - before - 0.3 * x_bytes;
    EXPECT_LE(extra / (8.0 * static_cast<double>(p)), 10) << weights;
    RecordProperty(weights, std::to_string(extra / (8.0 * static_cast<double>(p))));
  }
}

}  // namespace
}  // namespace tyto
