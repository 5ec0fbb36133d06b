#include <array>
#include <string>

#include "tyto/base/error.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr std::array<SolverRow, 3> kSolvers{{
    {"auto", make_apgd, "the best one for the problem: apgd"},
    {"apgd", make_apgd, "accelerated proximal gradient (batch)"},
    {"spgd", make_spgd, "proximal gradient with variance reduction (stochastic)"},
}};

}  // namespace

std::span<const SolverRow> solvers() { return kSolvers; }

std::unique_ptr<Solver> make_solver(std::string_view name, const StochasticOptions& options) {
  std::string known;
  for (const SolverRow& row : kSolvers) {
    if (row.name == name) return row.make(options);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw InvalidArgument("solver: unknown solver '" + std::string(name) + "'; known: " + known);
}

}  // namespace tyto
