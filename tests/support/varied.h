#pragma once

#include "tests/support/random.h"

namespace tyto {

// A problem as data bring it, up to a size: independent, autoregressive, grouped, duplicated, nearly
// collinear or heavy-tailed columns, units that differ by column, in every storage, standardised or not, with
// weights of every kind, and strengths from 1e-3 alpha_max to alpha_max.
Problem varied_problem(Random& random, Index most_rows, Index most_cols);
// The same with one or more of: weights of the rows, columns projected out, a ridge, coefficients that may
// not be negative.
Problem extended_problem(Random& random, Index most_rows, Index most_cols);

}  // namespace tyto
