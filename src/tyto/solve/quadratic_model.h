#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tyto/solve/solver.h"

namespace tyto {

// The quadratic model of a loss on a working set (MATH.md, 14.7), and the solver for squared error that
// minimises it. The curvature is taken at one point and kept for steps from others: only the gradient has to
// be new there. The solver keeps its pattern and its products of columns for as long.
class QuadraticModel {
 public:
  explicit QuadraticModel(const SolverOptions& options);

  // Other columns, those of `part`, which must outlive this: nothing is known of them. `places`: which of
  // them belong to each class; one list, or none, where there are no classes.
  void attach(const Problem& part, std::vector<IndexSet> places, int threads);
  bool is_curved() const { return solver_ != nullptr; }
  // Takes the curvature at the point; beta has so many non-zeros.
  void curve(const LossPoint& at, Index support);
  // The minimiser of the model around beta, to within a gap of `target`. `ascent`: X'r at the point, less the
  // ridge's part.
  Vector minimise(const Vector& beta, const LossPoint& at, Vector ascent, const SortedL1& penalty,
                  double target);

 private:
  // What is taken out of the weighted columns X: A'S with A = B'X of the weighted intercept and unpenalised
  // columns B, and S = (B'B)^-1 A.
  struct Taken {
    Eigen::MatrixXd products, solved;  // A, S
  };
  Eigen::MatrixXd copied(const IndexSet& columns, Index begin, Index length) const;
  Design weighted_design(Taken& taken) const;
  std::shared_ptr<GramCache> class_products(const Taken& taken) const;

  SolverOptions options_;
  SolverOptions direct_options_;  // with columns themselves, never their Gram matrix
  SolverOptions gram_options_;    // with their Gram matrix, which is known
  Tuning::Proximal tuning_;
  std::optional<Work> work_;  // what is read here is not counted: it is a copy
  const Problem* part_ = nullptr;
  std::vector<IndexSet> places_;
  LossPoint curved_at_;  // the point whose curvature it has
  Problem model_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tyto
