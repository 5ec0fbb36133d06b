#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tyto/problem/problem.h"

namespace tyto {

// The dual optimum lies within `radius` of a feasible dual point theta (MATH.md, section 3).
struct Sphere {
  Vector correlation;  // X'theta
  double norm = 0;     // ||theta||
  double radius = 0;
};

// A rule is a cut through the bounds u_j >= |x_j'theta*|: columns with u_j below the value it returns have
// coefficient 0 in every solution. It may reorder u.
struct ScreeningRule {
  std::string_view name;
  bool screens;
  double (*cut)(std::span<double> u, const SortedL1& penalty);
  std::string_view summary;
};

const ScreeningRule& screening_rule(std::string_view name);  // throws InvalidArgument if there is none
std::span<const ScreeningRule> screening_rules();

// u_j = |x_j'theta| + ||x_j|| radius, and what rounding may have taken off the first term.
Vector sphere_bounds(const Design& design, const Sphere& sphere);

// The columns that the rule keeps; all of them if the rule is "none".
IndexSet survivors(const ScreeningRule& rule, const Problem& problem, const Sphere& sphere);

}  // namespace tyto
