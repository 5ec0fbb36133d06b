#pragma once

#include "tests/support/random.h"

namespace tyto {

// A small problem with one or more of the shapes that break rules and solvers: one row or column, y = 0,
// duplicate, opposite and zero columns, ties in everything, rank deficiency, zero weights, weights of every
// kind, strengths from near 0 to above alpha_max, units from 1e-10 to 1e10.
Problem awkward_problem(Random& random);

}  // namespace tyto
