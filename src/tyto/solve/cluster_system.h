#pragma once

#include "tyto/solve/cluster_problem.h"
#include "tyto/solve/clusters.h"
#include "tyto/solve/working_set.h"

namespace tyto {

// A pattern over the slots of a working set, with the H of its cluster problem. Clusters that stay as they
// are keep their row and column of H, whatever their place in the pattern.
class ClusterSystem {
 public:
  explicit ClusterSystem(const Tuning& tuning = {}) : tuning_(tuning.pattern), clusters_(tuning.clusters) {}

  void assign(Pattern pattern, WorkingSet& columns);
  // Goes on to another pattern; origin[k] is the cluster that its cluster k has been, or -1 for a new one.
  void refine(Pattern pattern, const std::vector<Index>& origin, WorkingSet& columns);
  // Moves to the solution for the penalty on this pattern. False if the pattern would not hold there, or is
  // too large to try; then nothing has changed.
  bool follow(const Vector& ascent, const SortedL1& penalty, const WorkingSet& columns, Vector& state);
  // Takes over the solution of this pattern's cluster problem, and moves the state along.
  void adopt(ClusterProblem solved, const WorkingSet& columns, Vector& state);

  // The problem takes H with it; adopt() brings it back.
  ClusterProblem problem(const Vector& ascent, const SortedL1& penalty);
  const Pattern& pattern() const { return pattern_; }
  Pattern take_pattern() { return std::move(pattern_); }  // to be given back by refine()

 private:
  void make_room(const std::vector<Index>& origin);

  Tuning::Pattern tuning_;
  Tuning::Clusters clusters_;
  Pattern pattern_;
  std::vector<Index> row_;  // of H, by cluster
  Matrix hessian_;          // it may have rows and columns that belong to no cluster
};

}  // namespace tyto
