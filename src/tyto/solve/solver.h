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

// One algorithm. The loop in fit.cc owns the iterate; a solver sees the problem with the columns that are
// left and never learns that there were others.
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
  // Moves beta from the point of the last advance(), prepare() or foresee() to about the solution for another
  // penalty, from what the solver has in memory, without reading X. False if it cannot; then beta is as it
  // was.
  virtual bool foresee(const Problem& /*problem*/, Vector& /*beta*/, double /*tolerance*/) { return false; }
  // X'r at the point that was foreseen last, written over `correlation` where the solver knows it.
  virtual void recall(Vector& /*correlation*/) const {}
  // Names columns of the full problem that will be wanted soon: |x_j'r| is large there at a point that was
  // foreseen without them. True if the solver does not have them all.
  virtual bool expect(const IndexSet& /*columns*/) { return false; }
  // Takes in the columns that were named, so that points can be foreseen from x; c is its certificate.
  virtual void prepare(const Problem& /*problem*/, const Iterate& /*x*/, const Certificate& /*c*/,
                       const Vector& /*correlation*/, const Exact& /*exact*/) {}
  // Whether advance() may get bounds of X'r for columns that do not matter to the certificate.
  virtual bool takes_bounds() const { return false; }
  // Epochs without progress after which the fit counts as stalled.
  virtual Index patience(const Tuning::Loop& tuning) const { return tuning.patience; }
};

struct SolverRow {
  std::string_view name;
  std::unique_ptr<Solver> (*make)(const SolverOptions&);
  std::string_view summary;
};
std::span<const SolverRow> solvers();
// By name; "auto" is the best one there is. Throws InvalidArgument if there is none of that name.
const SolverRow& find_solver(std::string_view name);

std::unique_ptr<Solver> make_newton(const SolverOptions&);
std::unique_ptr<Solver> make_apgd(const SolverOptions&);
std::unique_ptr<Solver> make_spgd(const SolverOptions&);

}  // namespace tyto
