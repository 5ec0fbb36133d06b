#pragma once

#include <utility>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {

class PatternNewton;

// The problem that is left when columns may only move as clusters: minimise over magnitudes c >= 0
//   1/2 c'Hc - q'c + J(c),  H = Z'Z,  Z the signed sums of the columns of each cluster,
// where a cluster counts in J as often as it has columns (MATH.md, section 7). Solved by coordinate descent,
// which finds out what ties, and Newton's method, which finishes. Clusters that merge stay together.
class ClusterProblem {
 public:
  // A cluster has the number of its row and column of H.
  struct Start {
    Vector ascent;  // q - Hc at the magnitudes
    Vector magnitudes;
    std::vector<Index> sizes;
    // The clusters, the largest magnitude first; of those that tie, the one first that should become larger.
    // Rows and columns of H that are not listed belong to no cluster.
    std::vector<Index> order;
  };
  ClusterProblem(Matrix hessian, Start start, const SortedL1& penalty, const Tuning::Clusters& tuning = {});

  // Goes on until the objective is believed to be within `target` of its minimum, or no progress is made.
  // Where groups are many, two that met in the last sweep are not merged yet; another call goes on with them.
  void solve(double target);

  // Where a cluster ended: it is part of group(k), whose magnitude may be 0; sign(k) is -1 if its sign
  // turned.
  Index group(Index k) const;
  double sign(Index k) const;
  double value(Index k) const { return sign(k) * magnitude_[group(k)]; }
  // The groups that are not zero, the largest magnitude first.
  const std::vector<Index>& order() const { return order_; }
  const Matrix& hessian() const { return hessian_; }  // a group has the row and column of its number
  Matrix take_hessian() { return std::move(hessian_); }

 private:
  double sweep();
  double update(Index k);
  double update_beyond_zero(Index k, double h);
  double update_to(Index k, double h, double pull);
  Index columns_of_groups() const {  // that are not zero
    return order_.empty() ? 0 : above_.back() + size_[static_cast<std::size_t>(order_.back())];
  }
  void move(Index k, double to);
  void turn(Index k);
  void merge(Index k, Index into);
  void place(Index k, Index to);  // among the ordered groups; kNowhere takes it out
  void renumber(Index from, Index to);
  double price(Index k, Index above) const {
    return penalty_.weight_sum(above + size_[static_cast<std::size_t>(k)]) - penalty_.weight_sum(above);
  }
  bool newton();
  bool take_over(const PatternNewton& method);
  // Moves the groups, as they are ordered now, to these values, unless that leads uphill: `penalty` is J of
  // the new point.
  bool move_all(const std::vector<Index>& groups, const Vector& values, double penalty);

  Matrix hessian_;
  Vector ascent_, magnitude_;
  std::vector<Index> size_;
  const SortedL1& penalty_;
  Tuning::Clusters tuning_;
  std::vector<Index> all_;     // clusters as they came
  std::vector<Index> order_;   // groups that are not zero, the largest first
  std::vector<Index> above_;   // by place: columns in the groups before it
  std::vector<Index> place_;   // by group: where it is in order_, or kNowhere
  std::vector<Index> parent_;  // a group is its own parent
  std::vector<double> sign_;   // relative to the parent
  double least_curvature_ = 0;
};

}  // namespace tyto
