#include <array>
#include <string>

#include "tyto/base/error.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr std::array<SolverRow, 3> kSolvers{{
    {"newton", make_newton, "working sets, cluster descent and Newton steps on the pattern (the fast one)"},
    {"apgd", make_apgd, "accelerated proximal gradient (batch)"},
    {"spgd", make_spgd, "proximal gradient with variance reduction (stochastic)"},
}};

}  // namespace

std::span<const SolverRow> solvers() { return kSolvers; }

const SolverRow& find_solver(std::string_view name) {
  if (name == "auto") return kSolvers.front();
  std::string known = "auto";
  for (const SolverRow& row : kSolvers) {
    if (row.name == name) return row;
    known += ", " + std::string(row.name);
  }
  throw InvalidArgument("solver: unknown solver '" + std::string(name) + "'; known: " + known);
}

}  // namespace tyto
