#pragma once

#include <span>
#include <string>

#include "tyto/base/error.h"
#include "tyto/problem/problem.h"

namespace tyto {

// Coefficients by least squares, on the problem's scale.
struct LeastSquares {
  SparseBeta beta;           // has an entry, maybe 0, wherever the pattern has one
  double residual_norm = 0;  // ||y - X beta||
  Index rank = 0;            // below the number of unknowns: the shortest of many solutions
};

// How far a fit is relaxed: 1, not at all; 0, to the least squares on its pattern.
struct Relaxation {
  double gamma = 1;
  LeastSquares least_squares;
};
// Throws InvalidArgument unless it is in [0, 1], and where coefficients must not be negative: least squares
// would not keep to that.
void validate_gamma(double gamma, bool nonnegative);

// Relaxed fits are for squared error: without a penalty, other losses need not have a minimum.
InvalidArgument no_relaxed_fit(const std::string& loss);

// Least squares on the pattern of `beta` (MATH.md, section 10): its clusters keep one magnitude each, their
// members the signs that they have relative to each other. A ridge stays.
LeastSquares relax(const Problem& problem, const SparseBeta& beta, const Work& work = Work());
// Its degrees of freedom: the number of clusters; less with a ridge.
double pattern_freedom(const Problem& problem, const SparseBeta& beta, const Work& work = Work());

// The same where each of some columns is a cluster of its own.
LeastSquares least_squares(const Problem& problem, std::span<const Index> columns, const Work& work = Work());

// (1 - gamma) relaxed + gamma penalized, both with the same entries.
SparseBeta mixed(const SparseBeta& penalized, const SparseBeta& relaxed, double gamma);
}  // namespace tyto
