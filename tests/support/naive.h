#pragma once

#include <vector>

#include "tyto/problem/problem.h"

// The definitions, spelled out in long double with full sorts and none of the library's algorithms: what the
// library is checked against.
namespace tyto::naive {

using Real = long double;
using Reals = std::vector<Real>;

Reals reals(const Vector& v);
Reals sorted_magnitudes(const Vector& v);  // |v|_(1) >= |v|_(2) >= ...

Real value(const Vector& weights, const Vector& beta);            // sum_i w_i |b|_(i)
Reals prox(const Vector& weights, const Vector& v, double step);  // argmin_b |b - v|^2 / 2 + step J(b)
Real dual_norm(const Reals& weights, Reals magnitudes);           // max_k of the ratios of prefix sums
Real dual_norm(const Vector& weights, const Vector& g);

// The columns x_j = (D raw_j - B offset_j) / scale_j, each of them with n entries.
std::vector<Reals> columns(const Design& design);
// The same with the rows of the ridge below, and what is below y.
std::vector<Reals> columns(const Problem& problem);
Reals response(const Problem& problem);
Real dot(const Reals& a, const Reals& b);

struct Certificate {
  Real primal, dual;  // at theta = s r, s the maximiser of D(s r) over the feasible s
  Real gap() const { return primal - dual; }
};
Certificate certify(const Problem& problem, const Vector& beta);
// The same with another dual point: theta, shrunk where it is not feasible.
Certificate certify(const Problem& problem, const Vector& beta, Reals theta);

// How many of the bounds, sorted in descending order, each rule keeps, as MATH.md defines them.
Index smallest_weight_count(std::vector<double> bounds, const Vector& weights);
Index cumulative_count(std::vector<double> bounds, const Vector& weights);

}  // namespace tyto::naive
