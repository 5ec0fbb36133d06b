#pragma once

#include "tyto/problem/screening.h"
#include "tyto/solve/fit.h"

namespace tyto {

// The fit converged, its solution is at full length, and the gap, recomputed from the coefficients alone on
// the full problem by `certify` and by the naive certificate, is at most tolerance * primal.
void expect_certified(const Problem& problem, const Fit& fit, double tolerance);

// The certificate at beta holds in exact arithmetic, up to the rounding that it admits: its dual point,
// shrunk where rounding made it infeasible, leaves no larger gap.
void expect_certificate_holds(const Problem& problem, const Vector& beta);

// The two certificates agree within that rounding. Too much to ask where Xb cancels: then r, and with it the
// dual point, is another one than the exact one, though as valid.
void expect_certificates_agree(const Problem& problem, const Vector& beta);

}  // namespace tyto
