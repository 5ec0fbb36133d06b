#include "tyto/solve/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/stopwatch.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/problem/correlation.h"
#include "tyto/problem/screening.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is left of the problem after screening, the point that moves through it, and the best point so far.
struct Reduced {
  Problem problem;
  Iterate x;
  IndexSet kept;  // columns of the full problem
  Vector best;
  double best_gap = kInfinity, least_primal = kInfinity;
  Index progress_epoch = 0;  // of the last progress, of the gap or of the primal

  void record(const Certificate& c, Index epoch) {
    if (c.gap < best_gap) best = x.beta, best_gap = c.gap, progress_epoch = epoch;
    if (c.primal + c.rounding < least_primal) least_primal = c.primal, progress_epoch = epoch;
  }
  // Keeps some of the columns; true if a non-zero coefficient left, so that x is another point.
  bool restrict_to(std::span<const Index> survivors) {
    const auto nonzeros = [](const Vector& v) { return (v.array() != 0).count(); };
    const Index before = nonzeros(x.beta), best_before = nonzeros(best);
    x.beta = tyto::restrict_to(x.beta, survivors);
    best = tyto::restrict_to(best, survivors);
    problem = tyto::restrict_to(problem, survivors);
    kept = compose(kept, survivors);
    if (nonzeros(best) != best_before) best_gap = kInfinity;
    if (nonzeros(x.beta) == before) return false;
    problem.design.multiply(x.beta, x.eta);
    return true;
  }
};

// Where the loop is; everything that the decision to stop depends on besides the certificate.
struct Progress {
  Index epoch, progress_epoch, patience;
  double seconds;
  bool interrupted, best;  // best: no gap so far was smaller
};

constexpr double kLongEpoch = 0.1;  // seconds after which the observer is asked within an epoch

std::optional<Status> should_stop(const Certificate& c, double tolerance, const Progress& at,
                                  const FitOptions& options) {
  if (c.meets(tolerance)) return Status::kConverged;
  if (at.interrupted) return Status::kInterrupted;
  if (at.best && c.gap <= c.rounding) return Status::kStalled;
  if (at.epoch >= options.max_epochs) return Status::kEpochLimit;
  if (at.seconds >= options.max_seconds) return Status::kTimeLimit;
  if (at.epoch - at.progress_epoch > std::max(at.patience, at.epoch / 2)) return Status::kStalled;
  return std::nullopt;
}

// The columns that are left after a try at screening, if there is something to try and it drops any. A rule
// that is not safe has one try, at the start. Where columns are not all read anyway, there is none before
// the first epoch, which mostly is the last one too.
std::optional<IndexSet> screen(const ScreeningRule& rule, const Reduced& now, BestSphere& best,
                               const Certificate& c, Index epoch, bool guessing, bool lazy) {
  std::optional<IndexSet> alive;
  if (rule.safe && lazy && epoch == 0) return alive;
  if (!rule.safe) {
    if (guessing && epoch == 0) alive = strong_survivors(now.problem, c.correlation);
  } else if (rule.screens && best.update(c, now.problem.design.rows())) {
    alive = survivors(rule, now.problem, best.sphere());
  }
  // Where columns are not all read anyway, dropping a few is more work than keeping them.
  const Index columns = now.problem.design.cols(), most = lazy ? columns / 2 : columns - 1;
  if (alive && std::ssize(*alive) > most) alive.reset();
  return alive;
}

// How many columns a certificate leaves.
Index columns_left(const ScreeningRule& rule, const Problem& problem, const Certificate& c) {
  BestSphere sphere;
  if (!rule.safe || !rule.screens || !sphere.update(c, problem.design.rows())) return problem.design.cols();
  return std::ssize(survivors(rule, problem, sphere.sphere()));
}

IndexSet all_columns(Index count) {
  IndexSet columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

// Vectors of length p come and go in every fit. By default the C library returns such memory to the system
// and asks for it again; freeing one block larger than all of them teaches it not to (mallopt(3)).
void keep_memory(Index p) {
  const std::size_t bytes = std::min<std::size_t>(256 * static_cast<std::size_t>(p), 30 << 20);
  char* volatile block = new char[bytes];
  delete[] block;
}

}  // namespace

struct Sequence::State {
  Design design;
  Vector y;
  double ridge;
  bool nonnegative;
  FitOptions options;
  std::unique_ptr<Solver> solver;
  Iterate x;
  IndexSet all;  // columns
  Correlation correlation;
  Index entries;
  Index ahead = kAhead;  // fits that are tried at once

  static constexpr Index kAhead = 8;

  // One pass over the columns of the problem, or less where bounds will do. `kept`: its columns in `design`.
  Certificate assess(const Problem& problem, const Iterate& at, std::span<const Index> kept) {
    if (!solver->takes_bounds()) return certify(problem, at);
    correlation.move_to(y - at.eta);
    auto [values, dual_norm] = correlation.settle(problem, at.beta, kept);
    Certificate c = certify(problem, at, std::move(values), dual_norm);
    c.bounded = correlation.bounded(kept);
    return c;
  }
  double passes_since(Index entries_read) const {
    return static_cast<double>(design.entries_read() - entries_read) /
           static_cast<double>(std::max<Index>(entries, 1));
  }
  void check(const SortedL1& penalty) const {
    if (penalty.size() != design.cols())
      throw InvalidArgument(fmt::format("weights: want {} entries, got {}", design.cols(), penalty.size()));
    if (penalty.nonnegative() != nonnegative)
      throw InvalidArgument(
          "weights: want all penalties of a sequence to allow negative coefficients, or none");
  }
  Problem problem(const SortedL1& penalty) const {
    check(penalty);
    return {design, y, penalty, ridge};
  }
};

Sequence::Sequence(const Problem& problem, const FitOptions& options) {
  validate(options), validate(problem);
  const Design& design = problem.design;
  keep_memory(design.cols());
  Design counted = design.with_threads(options.threads).with_counter();
  const Index n = design.rows(), p = design.cols(), entries = counted.stored_entries();
  state_ = std::make_unique<State>(State{counted,
                                         problem.y,
                                         problem.ridge,
                                         problem.penalty.nonnegative(),
                                         options,
                                         find_solver(options.solver).make(options.stochastic),
                                         {Vector::Zero(p), Vector::Zero(n)},
                                         all_columns(p),
                                         Correlation(counted, problem.penalty.nonnegative()),
                                         entries});
}
Sequence::~Sequence() = default;

void Sequence::start_from(const Vector& beta) {
  if (beta.size() != state_->design.cols() || !beta.allFinite())
    throw InvalidArgument("warm_start: want " + std::to_string(state_->design.cols()) + " finite numbers");
  state_->x.beta = state_->nonnegative ? beta.cwiseMax(0) : beta;
  state_->design.multiply(state_->x.beta, state_->x.eta);
}

Fit Sequence::fit(const SortedL1& penalty, double max_seconds, const Observer& observer) {
  const Stopwatch watch;
  State& state = *state_;
  FitOptions options = state.options;
  options.max_seconds = max_seconds;
  const ScreeningRule& rule = screening_rule(options.screening);
  Solver& solver = *state.solver;
  const Problem full = state.problem(penalty);
  const Index p = full.design.cols(), read_before = full.design.entries_read();
  Reduced now{full, state.x, state.all, {}};
  BestSphere best;
  std::vector<TracePoint> trace;
  double tolerance =
      options.tolerance;  // on the columns left: tightened where the full problem asks for more
  bool guessing = !rule.safe, interrupted = false;
  const auto ask = [&](const TracePoint& at) { interrupted = interrupted || (observer && !observer(at)); };
  double asked = 0;
  const auto stop = [&] {  // within an epoch
    TracePoint at = trace.back();
    at.seconds = watch.seconds();
    if (at.seconds > asked + kLongEpoch) ask(at), asked = at.seconds;
    return interrupted || at.seconds >= options.max_seconds;
  };
  solver.attach(now.problem, now.x);

  for (Index epoch = 0;; ++epoch) {
    Certificate c = state.assess(now.problem, now.x, now.kept);
    now.record(c, epoch);
    trace.push_back({epoch, watch.seconds(), c.primal, c.gap, now.problem.design.cols()});
    ask(trace.back()), asked = trace.back().seconds;
    const Progress at{epoch,       now.progress_epoch,   solver.patience(), trace.back().seconds,
                      interrupted, c.gap <= now.best_gap};
    if (auto status = should_stop(c, tolerance, at, options)) {
      const bool converged = *status == Status::kConverged;
      Iterate solution{expand(converged ? now.x.beta : now.best, now.kept, p), now.x.eta};
      if (!converged) full.design.multiply(solution.beta, solution.eta);
      // Of the full problem: what it is already if no column was dropped.
      const bool known = converged && now.problem.design.cols() == p;
      Certificate other = known ? Certificate() : state.assess(full, solution, state.all);
      Certificate& certificate = known ? c : other;
      const bool ended = converged || *status == Status::kStalled;
      if (ended && guessing && !certificate.meets(options.tolerance)) {
        guessing = false;  // the guess may have been wrong: go on with all columns
        now = Reduced{full, solution, state.all, solution.beta};
        now.progress_epoch = epoch;
        best = {};
        solver.attach(now.problem, now.x);
        continue;
      }
      if (converged && !certificate.meets(options.tolerance)) {
        tolerance /= 2;  // the columns that left ask for more: go on, unless there is another reason to stop
        status = should_stop(c, 0, at, options);
      }
      if (status) {
        Fit result;
        result.status = *status;
        state.x = solution;
        result.solution = std::move(solution), result.certificate = std::move(certificate);
        result.trace = std::move(trace);
        result.epochs = epoch, result.screened = p - now.problem.design.cols();
        if (solver.takes_bounds())  // it keeps columns that it could drop
          result.screened = std::max(result.screened, p - columns_left(rule, full, result.certificate));
        result.trace.back().active = p - result.screened;
        result.passes = state.passes_since(read_before);
        result.seconds = watch.seconds(), result.cpu_seconds = watch.cpu_seconds();
        return result;
      }
    }
    if (std::optional<IndexSet> alive = screen(rule, now, best, c, epoch, guessing, solver.takes_bounds())) {
      const bool moved = now.restrict_to(*alive);
      best.restrict_to(*alive);
      solver.restrict_to(now.problem, now.x, *alive, moved);
      if (moved) continue;  // another point: first its certificate
      c.restrict_to(*alive);
    }
    solver.advance(now.problem, now.x, c, {tolerance * c.primal, stop});
  }
}

NextFits Sequence::fit_next(std::span<const SortedL1> penalties, double max_seconds,
                            const Observer& observer) {
  if (penalties.empty()) throw InvalidArgument("penalties: want at least one");
  for (const SortedL1& penalty : penalties) state_->check(penalty);
  const Stopwatch watch;
  const Index read_before = state_->design.entries_read();
  NextFits next{foreseen(penalties, max_seconds), true};
  if (!next.fits.empty()) return next;
  const double seconds = watch.seconds(), cpu_seconds = watch.cpu_seconds(),
               passes = state_->passes_since(read_before);
  Fit one = fit(penalties.front(), std::max(0.0, max_seconds - seconds), observer);
  one.seconds += seconds, one.cpu_seconds += cpu_seconds, one.passes += passes;
  next.fits.push_back(std::move(one)), next.foreseen = false;
  return next;
}

// The solver goes ahead without reading X, but not for long; then all of its points are certified by one
// pass, and those up to the first that misses the tolerance are answers.
std::vector<Fit> Sequence::foreseen(std::span<const SortedL1> penalties, double max_seconds) {
  constexpr double kLong = 0.25;  // seconds: who wants to stop is not asked before they are over
  const Stopwatch watch;
  State& state = *state_;
  const Index read_before = state.design.entries_read(), p = state.design.cols();
  const Index most = std::min<Index>(state.ahead, std::ssize(penalties));
  if (most < 2 || state.design.is_sparse() || state.design.rows() <= p) return {};
  Problem problem = state.problem(penalties.front());
  Matrix betas(p, most), etas, correlations;
  Vector beta = state.x.beta;
  Index count = 0;
  for (; count < most && watch.seconds() < std::min(kLong, max_seconds); ++count) {
    problem.penalty = penalties[static_cast<std::size_t>(count)];
    if (!state.solver->foresee(problem, beta, state.options.tolerance)) break;
    betas.col(count) = beta;
  }
  if (count < 2) return {};
  betas.conservativeResize(p, count);
  state.design.multiply(betas, etas);
  state.design.transpose_multiply(state.y.replicate(1, count) - etas, correlations);

  std::vector<Fit> fits;
  fits.reserve(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) {
    problem.penalty = penalties[static_cast<std::size_t>(k)];
    Iterate x{betas.col(k), etas.col(k)};
    Vector correlation = correlations.col(k);
    add_ridge(problem, x.beta, correlation);
    const double dual_norm = problem.penalty.dual_norm(correlation);
    Certificate c = certify(problem, x, std::move(correlation), dual_norm);
    if (!c.meets(state.options.tolerance)) break;
    Fit& fit = fits.emplace_back();
    fit.status = Status::kConverged, fit.epochs = 1;
    fit.screened = p - columns_left(screening_rule(state.options.screening), problem, c);
    fit.trace = {{1, 0, c.primal, c.gap, p - fit.screened}};
    fit.solution = std::move(x), fit.certificate = std::move(c);
  }
  const Index accepted = std::ssize(fits);
  state.ahead = accepted == 0      ? std::max<Index>(2, state.ahead / 2)
                : accepted == most ? 2 * State::kAhead
                                   : State::kAhead;
  if (accepted == 0) return {};
  state.x = fits.back().solution;
  state.correlation.adopt(state.y - state.x.eta, correlations.col(accepted - 1));
  const double share = 1 / static_cast<double>(accepted), passes = share * state.passes_since(read_before),
               seconds = share * watch.seconds(), cpu_seconds = share * watch.cpu_seconds();
  for (Fit& fit : fits) {
    fit.passes = passes, fit.seconds = seconds, fit.cpu_seconds = cpu_seconds;
    fit.trace.back().seconds = seconds;
  }
  return fits;
}

Fit fit(const Problem& problem, const FitOptions& options, const Vector* warm_start,
        const Observer& observer) {
  Sequence sequence(problem, options);
  if (warm_start != nullptr) sequence.start_from(*warm_start);
  return sequence.fit(problem.penalty, options.max_seconds, observer);
}

void validate(const FitOptions& options) {
  const auto want = [](const char* field, const char* wish, auto got) {
    return InvalidArgument(fmt::format("{}: want {}, got {}", field, wish, got));
  };
  if (!(options.tolerance > 0 && options.tolerance < 1))
    throw want("tolerance", "a number in (0, 1)", options.tolerance);
  if (options.max_epochs < 0) throw want("max-epochs", "a number >= 0", options.max_epochs);
  if (!(options.max_seconds >= 0)) throw want("max-seconds", "a number >= 0", options.max_seconds);
  if (options.threads < 1) throw want("threads", "a number >= 1", options.threads);
  const StochasticOptions& s = options.stochastic;
  if (s.batch < 0) throw want("batch", "a number >= 1, or 0 for automatic", s.batch);
  if (s.inner_steps < 0) throw want("inner-steps", "a number >= 1, or 0 for automatic", s.inner_steps);
  if (!(s.step_size >= 0 && std::isfinite(s.step_size)))
    throw want("step-size", "a number > 0, or 0 for automatic", s.step_size);
}

std::string_view name(Status status) {
  static constexpr Names kStatuses({
      std::pair<std::string_view, Status>{"converged", Status::kConverged},
      {"epoch_limit", Status::kEpochLimit},
      {"time_limit", Status::kTimeLimit},
      {"interrupted", Status::kInterrupted},
      {"stalled", Status::kStalled},
  });
  return kStatuses.name(status);
}

}  // namespace tyto
