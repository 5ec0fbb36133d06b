#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tyto/base/types.h"

// Margins of safety: what rounding may take off a number, so that a certificate, a bound or a step of descent
// stays true in floating point. Each cites the section of MATH.md that justifies it.
namespace tyto::rounding {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr auto kExtendedEpsilon = static_cast<double>(std::numeric_limits<long double>::epsilon());

// The certificate (section 2, "Rounding").
inline constexpr double kGapTerm = 4 * kEpsilon;  // relative error of a term of the gap (2.7)
inline constexpr double kFittedRow = 0.25;    // of kGapTerm: error of an entry of X b beside its terms (2.7)
inline constexpr double kSmallest = 1e-140;   // squares of smaller numbers lose their digits
inline constexpr double kNegligible = 5e-25;  // of the response's squares: as good as an objective of 0
inline constexpr Index kExtendedTerms = 2;    // of an extended sum, besides those that are counted

// The ball of the dual optimum, and the rules (section 3, "In floating point").
// Of the larger of two objectives, where primal and dual value come from different points.
inline double of_gap(Index rows) { return (4 + std::sqrt(static_cast<double>(rows))) * kEpsilon; }
// Of x_j'theta, over m_j ||theta||.
inline double of_product(Index rows) { return kEpsilon * static_cast<double>(rows + 16); }
// Of a sum of so many bounds or weights, relative to it.
inline double of_sum(Index terms) { return std::max(1e-12, static_cast<double>(terms + 8) * kEpsilon); }
inline constexpr double kLongestColumn = 1 + 1e-6;  // times max_j m_j: no column is longer
inline constexpr double kColumnNorm = 1 + 1e-10;    // times a norm that the loss gives (section 14)
inline constexpr double kAbove = 1 + 1e-12;         // times a threshold: certainly not below it
inline constexpr double kBelow = 1 - 1e-12;         // the same from the other side
inline constexpr double kNotZero = 1e-300;          // stands for 0 where something is divided by it

// Bounds of X'r from another residual (section 3, "Columns that need not be read").
inline constexpr double kDistance = 1 + 2e-10;        // times a distance of residuals
inline constexpr double kDistanceOfLengths = 1e-14;   // of the lengths of the two residuals, added to it
inline constexpr double kSumOfDistances = 1 + 1e-15;  // times the sum of distances
inline constexpr double kLargestFactor = 1e10;  // product of factors: beyond it, or its inverse, start anew

// Bounds of X'r from a subspace (section 3, "Several residuals at once").
inline constexpr double kOffSubspace = 1 + 1e-10;    // times ||e||, and times what it adds to a bound
inline constexpr double kOffSubspaceSquare = 1e-13;  // of ||r||^2, added to ||e||^2
inline constexpr double kDirection = 1e-13;          // error of X'q that was read, over ||x_j||

// Backtracking (section 5).
inline constexpr double kCurvature = 1 + 1e-10;  // times L ||b+ - z||^2: what the test allows
inline constexpr double kFittedValues = 1e-15;   // error of X z, over ||y|| + sum_j |z_j| m_j

// Proximal Newton steps (section 14).
inline constexpr double kLineSearch = 1e-14;  // of the objective: a rise by less is none
inline constexpr double kModelGap = 1e-15;    // of the objective of a step's model: as exact as it gets

// Newton's method on patterns (section 7, "In floating point"). None of these touches a certificate.
inline constexpr double kSpeed = 1e-13;           // of w_1: speeds that differ by less are equal
inline constexpr double kExactGap = 1e-12;        // of the objective, or of a target: as exact as it gets
inline constexpr double kDescent = 1e-13;         // of J: a rise by less is none
inline constexpr double kLeastCurvature = 1e-15;  // of the largest one: what coordinate descent divides by
inline constexpr double kNoCurvature = 1e-8;      // of the largest one, for a group that has none
inline constexpr double kPivot = 1e-13;           // of the diagonal: a smaller pivot is all rounding
inline constexpr double kFollowPivot = 1e-12;     // the same, where one step is to be the solution
inline constexpr double kFirstRidge = 1e-14;      // of the diagonal, for a singular H
inline constexpr double kRidgeGrowth = 1e4;       // times as much, if that was not enough
inline constexpr double kLastRidge = 1;           // of the diagonal: beyond it there is no factor
inline constexpr double kIndependent = 0.5;       // of a unit vector: what the constraints before it leave

}  // namespace tyto::rounding
