#include <array>
#include <string>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/nearest.h"
#include "tyto/solve/published.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr std::array<SolverRow, 3> kSolvers{{
    {"newton", make_newton, make_proximal_newton,
     "working sets, cluster descent and Newton steps on the pattern (the fast one)"},
    {"apgd", make_apgd, make_apgd, "accelerated proximal gradient (batch)", make_published_apgd},
    {"spgd", make_spgd, nullptr, "proximal gradient with variance reduction (stochastic)",
     make_published_spgd},
}};
constexpr std::array<SolverVariant, 3> kVariants{{
    {"tyto", "the solver as it is meant to be used"},
    {"published", "apgd, spgd: as in the public code of Bao, Gu & Huang (2020)"},
    {"printed", "the same with what only the paper prints: it may diverge"},
}};

}  // namespace

std::span<const SolverRow> solvers() { return kSolvers; }
std::span<const SolverVariant> solver_variants() { return kVariants; }

void check_variant(std::string_view name, std::string_view variant) {
  const SolverRow& row = find_solver(name);
  std::vector<std::string> known;
  for (const SolverVariant& each : kVariants) {
    known.emplace_back(each.name);
    if (each.name != variant) continue;
    if (variant == "tyto" || row.make_published != nullptr) return;
    throw InvalidArgument("variant: want apgd or spgd for '" + std::string(variant) + "', got " +
                          std::string(row.name));
  }
  throw InvalidArgument("variant: want one of " + joined(known) + ", got '" + std::string(variant) + "'" +
                        did_you_mean(variant, known));
}

const SolverRow& find_solver(std::string_view name) {
  if (name == "auto") return kSolvers.front();
  std::vector<std::string> known{"auto"};
  for (const SolverRow& row : kSolvers) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw InvalidArgument(unknown_word("solver: unknown solver", name, known));
}

std::unique_ptr<Solver> make_solver(std::string_view name, const Loss& loss, const SolverOptions& options) {
  check_variant(name, options.variant);
  const SolverRow& row = find_solver(name);
  const bool published = options.variant != "tyto";
  if (loss.is_quadratic())
    return published ? row.make_published(options, options.variant == "printed") : row.make(options);
  if (published)
    throw InvalidArgument("variant: " + options.variant + " takes the gaussian loss alone, got " +
                          std::string(loss.name()));
  if (row.make_for_others == nullptr)
    throw InvalidArgument("solver: " + std::string(row.name) + " takes the gaussian loss alone, got " +
                          std::string(loss.name()));
  return row.make_for_others(options);
}

}  // namespace tyto
