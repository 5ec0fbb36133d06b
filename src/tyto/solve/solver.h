#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/problem/problem.h"

namespace tyto {

// Settings of the stochastic solver; 0 means: chosen from the data.
struct StochasticOptions {
  Index batch = 0;        // rows in a mini-batch
  Index inner_steps = 0;  // steps between two full gradients
  double step_size = 0;
  std::uint64_t seed = 1;  // same seed, same run
};

// What a solver is made with.
struct SolverOptions {
  StochasticOptions stochastic = {};
  Tuning tuning = {};
  std::string variant = "tyto";  // a row of solver_variants()
};

// Whether a column's entry of a correlation is x_j'r itself, and not a bound of it.
using Exact = std::function<bool(Index)>;
inline bool all_exact(Index) { return true; }

// What an epoch is asked for.
struct Goal {
  double gap = 0;
  std::function<bool()> stop = [] { return false; };  // a long epoch calls it to see whether to end early
  Exact exact = all_exact;
};

// What the loop has to know of a solver. It may change from one epoch to the next.
struct SolverTraits {
  bool takes_bounds;  // advance() may get bounds of X'r for columns that do not matter to the certificate
  Index patience;     // epochs without progress after which a fit counts as stalled
};

// What a solver can do besides that goes from one penalty to the next without reading X.
class LookaheadSolver {
 public:
  virtual ~LookaheadSolver() = default;
  // Moves beta from the point of the last advance(), prepare() or look_ahead() to about the solution for
  // another penalty, from what the solver has in memory. False if it cannot; then beta is as it was.
  virtual bool look_ahead(const Problem& problem, Vector& beta, double tolerance) = 0;
  // X'r at the point that look_ahead() found last, written over `correlation` where the solver knows it.
  virtual void recall(Vector& correlation) const = 0;
  // Names columns of the full problem that will be wanted soon: |x_j'r| is large there at a point that was
  // found without them. True if the solver does not have them all.
  virtual bool prefetch(const IndexSet& columns) = 0;
  // Takes in the columns that were named, so that look_ahead() can go on from x; c is its certificate.
  virtual void prepare(const Problem& problem, const Iterate& x, const Certificate& c,
                       const Vector& correlation, const Exact& exact) = 0;
};

// One algorithm. The loop in path_solver.cc owns the iterate; a solver sees the problem with the columns that
// are left and never learns that there were others.
class Solver {
 public:
  virtual ~Solver() = default;
  // What is read from here on counts as work, which must outlive the solver.
  virtual void attach(const Problem& problem, const Iterate& x, const Work& work) = 0;
  // Columns have left: keep what still holds. `x` and `problem` are the restricted ones; `moved` says that a
  // non-zero coefficient left, so that x is another point than before.
  virtual void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                           bool moved) = 0;
  // One epoch. c is the certificate at x, and `correlation`, read for it, is X'r = X'(y - Xb), minus the
  // gradient. Returns the columns of the problem where x is not 0 now.
  virtual IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c,
                           const Vector& correlation, const Goal& goal) = 0;
  virtual SolverTraits traits(const Tuning::Loop& tuning) const { return {false, tuning.patience}; }
  // Null where the solver cannot look ahead, or cannot any more.
  virtual LookaheadSolver* lookahead() { return nullptr; }
  // Whether the stopping rule of the published code held where the last epoch began (solve/published.h).
  virtual bool published_rule_stopped() const { return false; }
};

struct SolverRow {
  std::string_view name;
  std::unique_ptr<Solver> (*make)(const SolverOptions&);             // for squared error
  std::unique_ptr<Solver> (*make_for_others)(const SolverOptions&);  // for other losses; null: takes none
  std::string_view summary;
  std::unique_ptr<Solver> (*make_published)(const SolverOptions&, bool printed) = nullptr;
};
std::span<const SolverRow> solvers();

struct SolverVariant {
  std::string_view name, summary;
};
std::span<const SolverVariant> solver_variants();
// Throws InvalidArgument if there is no such solver, or none of that variant.
void check_variant(std::string_view name, std::string_view variant);
// By name; "auto" is the best one there is. Throws InvalidArgument if there is none of that name.
const SolverRow& find_solver(std::string_view name);

// For this loss. Throws InvalidArgument if there is none of that name and variant, or if it does not take the
// loss.
std::unique_ptr<Solver> make_solver(std::string_view name, const Loss& loss, const SolverOptions& options);

std::unique_ptr<Solver> make_proximal_newton(const SolverOptions&);
std::unique_ptr<Solver> make_newton(const SolverOptions&);
std::unique_ptr<Solver> make_apgd(const SolverOptions&);
std::unique_ptr<Solver> make_spgd(const SolverOptions&);
std::unique_ptr<Solver> make_spgd_mini_batches(const SolverOptions&);  // where its settings are given

}  // namespace tyto
