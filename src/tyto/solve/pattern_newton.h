#pragma once

#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/math/sorted_l1.h"

namespace tyto {

// Newton's method for min 1/2 c'Hc - q'c + J(c) over groups that are not zero and may tie, change places or
// vanish on the way (MATH.md, section 7). A step goes to the lowest point in its direction; a tie or a zero
// that it ends on becomes a linear constraint of the next step, so that H is factorised only once.
class PatternNewton {
 public:
  // ascent = q - Hc; magnitudes are positive and non-increasing.
  PatternNewton(Matrix hessian, Vector ascent, std::vector<Index> sizes, Vector magnitudes,
                const SortedL1& penalty);

  // True if it came to the minimum on its last pattern; false after `most` steps.
  bool run(int most, const Tuning::Clusters& tuning = {});

  double value(Index i) const { return value_[i]; }                              // of a leader
  bool turned(Index i) const { return sign_[static_cast<std::size_t>(i)] < 0; }  // has another sign now
  // Group i has joined this one; itself, if it has not.
  Index leader(Index i) const;
  const std::vector<Index>& order() const { return order_; }  // leaders that are not zero, the largest first
  int steps = 0;

 private:
  struct Stop {
    double length;
    Index place;   // in order_: the group that ties with the next one there, or is zero; -1: none
    bool crossed;  // groups have changed places or signs on the way
  };
  bool factorise(Matrix hessian);
  void direct();
  Stop lowest(double slope, Index most_crossings);
  void start_meetings();
  double meeting(Index place) const;
  void constrain(Vector normal);  // of the next steps
  Index above(Index place) const;
  double price(Index i, Index above) const {
    return penalty_.weight_sum(above + size_[static_cast<std::size_t>(i)]) - penalty_.weight_sum(above);
  }

  Matrix factor_;
  Vector ascent_, value_;
  std::vector<double> sign_;  // of the value, against that of the start
  std::vector<Index> size_, leader_, order_;
  const SortedL1& penalty_;
  Vector force_, step_, image_;  // image = H step
  Matrix basis_;                 // L^-1 A, A the constraints' normals, made orthonormal
  // Working memory: coordinates in the basis; by place along a step, where a group starts, its speed and when
  // it meets the next one. Behind the last group is zero.
  Vector along_;
  std::vector<double> position_, speed_, when_;
  Index constraints_ = 0;
};

}  // namespace tyto
