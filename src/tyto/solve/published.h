#pragma once

#include <memory>

#include "tyto/solve/solver.h"

namespace tyto {

// The algorithms of Bao, Gu & Huang (2020) as their public code has them, and `printed`: with what the paper
// prints and the code does not do. For comparison alone.
std::unique_ptr<Solver> make_published_apgd(const SolverOptions& options, bool printed);
std::unique_ptr<Solver> make_published_spgd(const SolverOptions& options, bool printed);

// Their stopping rule at a point: |P(b) - D(r)| < tolerance max(1, P(b)) for the residual r itself, feasible
// or not, and the largest excess of a sum of the k largest |x_j'r| over w_1 + ... + w_k below tolerance w_1.
inline constexpr double kPublishedTolerance = 1e-6;
bool published_rule_stops(const Problem& problem, const Vector& beta, double primal,
                          const Vector& correlation, double tolerance);

}  // namespace tyto
