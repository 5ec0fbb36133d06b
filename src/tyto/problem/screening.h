#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/problem/problem.h"

namespace tyto {

// The dual optimum lies within `radius` of a feasible dual point theta = scale r (MATH.md, section 3).
struct Sphere {
  const Vector& correlation;  // X'r, which belongs to somebody else
  double scale = 1;
  double norm = 0;  // ||theta||, or what its rounding errors are proportional to, if that is more
  double radius = 0;
  double ridge_radius = 0;  // in the rows of a ridge, whose curvature is 1
};
Sphere sphere_of(const Certificate& c, const Vector& correlation, Index rows);  // `rows`: of the design
Sphere sphere_of(const Certificate& c, Vector&& correlation, Index rows) = delete;

// The smallest ball known to hold the dual optimum: best primal value, best dual point, whichever iterates
// they came from. Both stay valid when columns leave.
class BestSphere {
 public:
  explicit BestSphere(const Tuning::Screening& tuning = {}) : tuning_(tuning) {}
  // True if the ball has shrunk enough since the last time for another try at screening.
  bool update(const Certificate& c, const Vector& correlation, Index rows);
  void restrict_to(std::span<const Index> survivors);
  Sphere sphere() const { return {correlation_, scale_, norm_, radius_, ridge_radius_}; }

 private:
  Tuning::Screening tuning_;
  double primal_ = std::numeric_limits<double>::infinity(), dual_ = -primal_;
  double primal_rounding_ = 0, dual_rounding_ = 0;
  double tried_ = primal_;  // the radius at the last try
  Vector correlation_;
  double scale_ = 1, norm_ = 0, radius_ = 0, ridge_radius_ = 0, curvature_ = 1;
};

// A rule is a cut through the bounds u_j >= |x_j'theta*|: columns with u_j below the value it returns have
// coefficient 0 in every solution. It may reorder u.
struct ScreeningRule {
  std::string_view name;
  bool screens, safe;
  double (*cut)(std::span<double> u, const SortedL1& penalty, const Tuning::Screening& tuning);
  std::string_view summary;
};

const ScreeningRule& screening_rule(std::string_view name);  // throws InvalidArgument if there is none
std::span<const ScreeningRule> screening_rules();

// u_j = |x_j'theta| + ||x_j|| radius, with ball_norms() and what a ridge adds to them, raised by what
// rounding may have taken off the first term. Where only positive parts count, x_j'theta takes the place of
// |x_j'theta|, and no bound is below 0.
Vector sphere_bounds(const Problem& problem, const Sphere& sphere);

// The columns that the rule keeps; all of them if the rule is "none".
IndexSet survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                   const Tuning::Screening& tuning = {});
// The same if they are no more than `most`; else nothing. That they are more is mostly seen from few columns.
std::optional<IndexSet> few_survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                                      Index most, const Tuning::Screening& tuning = {});
Index count_survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere,
                      const Tuning::Screening& tuning = {});
// How many columns the rule keeps by the ball of a certificate, where `correlation` is X'r or bounds of it;
// all of them, if the rule does not screen safely.
Index columns_left(const ScreeningRule& rule, const Problem& problem, const Certificate& c,
                   const Vector& correlation, const Tuning::Screening& tuning = {});
// Whether that ball adds so little to |x_j'theta| that a rule drops every column with |x_j'r| below `level`
// times w_m while m columns are left.
bool drops(const Problem& problem, const Certificate& c, double level);

// The columns that a rule that is not safe keeps, from X'r at the solution of a larger strength (or at 0): it
// supposes that no correlation changes by more than the strength does (Larsson, Bogdan & Wallin 2020).
IndexSet strong_survivors(const Problem& problem, const Vector& correlation);

}  // namespace tyto
