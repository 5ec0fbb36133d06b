#pragma once

#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

namespace tyto {

// The fit converged, its solution is at full length, and the gap, recomputed from the coefficients alone on
// the full problem by `certify` and by the naive certificate, is at most tolerance * primal.
void expect_certified(const Problem& problem, const Fit& fit, double tolerance);

// The two certificates agree at beta within the rounding that the first one admits.
void expect_certificates_agree(const Problem& problem, const Vector& beta);

// The ball around the dual point of a certificate that holds the dual optimum; the margin for rounding goes
// under the root.
Sphere sphere_of(const Certificate& c);

}  // namespace tyto
