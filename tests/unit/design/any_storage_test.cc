// What it takes to add a storage: the operations of Columns that have no default. Here signs, a byte each,
// which nobody can copy.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/designs.h"
#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/math/weights.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

class Signs final : public Columns {
 public:
  explicit Signs(const Eigen::MatrixXd& x)
      : Columns(x.rows(), x.cols(), false), sign_(x.data(), x.data() + x.size()) {}

  Index entries() const override { return rows() * cols(); }
  Index entries(std::span<const Index> columns) const override { return rows() * std::ssize(columns); }
  void correlate(std::span<const Index> columns, const double* v, double* out) const override {
    for (const Index j : columns) {
      double sum = 0;
      for (Index i = 0; i < rows(); ++i) sum += at(i, j) * v[i];
      *out++ = sum;
    }
  }
  void combine(std::span<const Index> columns, const double* factors, RowRange rows,
               double* eta) const override {
    for (const Index j : columns) {
      for (Index i = rows.begin; i < rows.begin + rows.length; ++i) eta[i] += *factors * at(i, j);
      ++factors;
    }
  }
  void moments(std::span<const Index> columns, const RowWeights& rows, bool center,
               Moments* out) const override {
    for (const Index j : columns) {
      const auto weight = [&](Index i) { return rows.weight.size() > 0 ? rows.weight[i] : 1; };
      Moments m{0, 0, 0};
      for (Index i = 0; i < this->rows(); ++i) m.mean += center ? weight(i) * at(i, j) / rows.total : 0;
      for (Index i = 0; i < this->rows(); ++i) {
        m.deviation += weight(i) * (at(i, j) - m.mean) * (at(i, j) - m.mean);
        m.squares += weight(i) * at(i, j) * at(i, j);
      }
      *out++ = m;
    }
  }
  void copy_block(std::span<const Index> columns, RowRange rows, std::span<const EntryMap> maps,
                  const double* roots, double* out) const override {
    auto map = maps.begin();
    for (const Index j : columns) {
      for (Index i = rows.begin; i < rows.begin + rows.length; ++i)
        *out++ = (at(i, j) - map->shift) * map->factor * (roots != nullptr ? roots[i] : 1);
      ++map;
    }
  }
  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Index count = std::min(EntryChunk::kSize, rows() - first);
    for (Index k = 0; k < count; ++k) {
      chunk.row[static_cast<std::size_t>(k)] = first + k;
      chunk.value[static_cast<std::size_t>(k)] = at(first + k, column);
    }
    return count;
  }

 private:
  double at(Index i, Index j) const { return sign_[static_cast<std::size_t>(j * rows() + i)]; }

  std::vector<std::int8_t> sign_;
};

Eigen::MatrixXd random_signs(Random& random, Index rows, Index cols) {
  return random_matrix(random, rows, cols).unaryExpr([](double z) { return z > 0 ? 1.0 : -1.0; });
}

TEST(AnyStorage, IsFittedByEverySolver) {
  Random random(1);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{40, 130}, {300, 25}}) {
    const Eigen::MatrixXd x = random_signs(random, rows, cols);
    const Vector weights = random_vector(random, rows).cwiseAbs();
    Vector y = x.leftCols(3) * Vector::Ones(3) + random_vector(random, rows);
    for (const SolverRow& solver : solvers()) {
      SCOPED_TRACE(solver.name);
      const auto fitted = [&](const Design& raw) {
        Problem problem{raw.standardized(true, true, weights).without(5), y,
                        SortedL1(make_weights("bh", {rows, cols, 0.1}))};
        problem.loss = y - problem.design.basis() * problem.design.coordinates(y);
        problem.penalty = problem.penalty.scaled(0.3 * alpha_max(problem));
        return fit(problem, {.tolerance = 1e-10, .solver = std::string(solver.name)});
      };
      const Fit want = fitted(Design::dense(x)), got = fitted(Design(std::make_shared<const Signs>(x)));
      EXPECT_EQ(got.status, Status::kConverged);
      EXPECT_NEAR(got.certificate.primal, want.certificate.primal, 1e-9 * want.certificate.primal);
      EXPECT_LE((got.solution.beta - want.solution.beta).norm(), 1e-4 * want.solution.beta.norm());
    }
  }
}

TEST(AnyStorage, SaysWhatItCannotDo) {
  Random random(2);
  const Design design(std::make_shared<const Signs>(random_signs(random, 4, 3)));
  EXPECT_THROW(design.gather(IndexSet{1}), InvalidArgument);
  EXPECT_THROW(design.take_rows(IndexSet{0, 2}), InvalidArgument);
}

}  // namespace
}  // namespace tyto
