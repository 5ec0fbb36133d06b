#pragma once

#include <span>
#include <vector>

#include "tyto/problem/gradient_bounds/drift.h"

namespace tyto {

// Several points, column by column, each with a penalty of its own.
struct Points {
  std::span<const SortedL1> penalties;
  Eigen::MatrixXd betas, residuals;
  IndexSet support;         // rows of `betas` that are not 0
  Eigen::MatrixXd ascents;  // x_j'r for these columns, without the ridge
  double ridge;
};

// X'r for several residuals at once, where columns of X are read only if they matter. Along a few orthonormal
// directions Q all of X'Q is known: with r = Qa + e, |x_j'r| is at most |x_j'Qa| + ||x_j|| ||e|| (3.3).
// Residuals of neighbouring strengths lie close to few directions.
class SubspaceBounds {
 public:
  // What is read is counted by `work`, which must outlive this object.
  SubspaceBounds(const Problem& problem, const Work& work, const Tuning& tuning = {});
  SubspaceBounds(const Problem&, const Work&&, const Tuning& = {}) = delete;

  Points points_at(std::span<const SortedL1> penalties, Eigen::MatrixXd betas) const;
  // One column for each point.
  struct DualNorms {
    IndexSet read;           // rows where `values` are exact; elsewhere they are x_j'Qa
    Eigen::MatrixXd values;  // X'r without the ridge
    Vector distances;        // ||e||
    Eigen::MatrixXd bounds;  // of X'r, with the ridge: exact in the rows `read`, elsewhere upper bounds
    Vector dual_norms;       // of X'r
  };
  DualNorms evaluate_dual_norm(const Points& points);
  void know(const Vector& r, const Vector& correlation);  // makes r a direction; X'r is given
  // X'r at a point, where the part of r off the directions is left out; empty if there are none.
  Vector guess(const Vector& beta) const;

 private:
  void read(const Points& points, std::span<const Index> columns, DualNorms& of) const;
  void take(const Points& points, std::span<const Index> columns, const Eigen::MatrixXd& exact,
            DualNorms& of) const;
  void bound(const Points& points, DualNorms& of) const;
  // Makes the residuals that are furthest from the subspace directions: all columns are read. False if none
  // is far enough from it.
  bool add_directions(const Eigen::MatrixXd& residuals, Vector distances);
  void append(const Vector& q, const Vector& correlation, double error);

  Design design_;
  const Work* work_;
  Vector y_;
  Tuning::Reading reading_;
  Tuning::Subspace tuning_;
  double ridge_;
  bool nonnegative_, in_cache_;
  Eigen::MatrixXd directions_, correlations_;  // Q, X'Q
  Vector along_y_;                             // Q'y
  Vector errors_;                              // of each column of X'Q, over ||x_j||
};

}  // namespace tyto
