#include "tyto/solve/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/problem/correlation.h"
#include "tyto/problem/screening.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double cpu_seconds() const { return static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  std::clock_t cpu_start_ = std::clock();
};

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
// that is not safe has one try, at the start.
std::optional<IndexSet> screen(const ScreeningRule& rule, const Reduced& now, BestSphere& best,
                               const Certificate& c, Index epoch, bool guessing) {
  std::optional<IndexSet> alive;
  if (!rule.safe) {
    if (guessing && epoch == 0) alive = strong_survivors(now.problem, c.correlation);
  } else if (rule.screens && best.update(c, now.problem.design.rows())) {
    alive = survivors(rule, now.problem, best.sphere());
  }
  if (alive && std::ssize(*alive) == now.problem.design.cols()) alive.reset();
  return alive;
}

IndexSet all_columns(Index count) {
  IndexSet columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

}  // namespace

struct Sequence::State {
  Design design;
  Vector y;
  FitOptions options;
  std::unique_ptr<Solver> solver;
  Iterate x;
  Correlation correlation;
  Index entries;

  // One pass over the columns of the problem, or less where bounds will do. `kept`: its columns in `design`.
  Certificate assess(const Problem& problem, const Iterate& at, std::span<const Index> kept) {
    if (!solver->takes_bounds()) return certify(problem, at);
    correlation.move_to(y - at.eta);
    correlation.settle(problem, at.beta, kept);
    Certificate c = certify(problem, at, correlation.values(kept));
    c.bounded.resize(kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k) c.bounded[k] = !correlation.exact(kept[k]);
    return c;
  }
  // The certificate of the full problem.
  Fit finish(const Problem& full, Iterate solution, Status status) {
    Fit result;
    result.status = status;
    result.solution = std::move(solution);
    result.certificate = assess(full, result.solution, all_columns(full.design.cols()));
    return result;
  }
};

Sequence::Sequence(const Design& design, Vector y, const FitOptions& options) {
  validate(options), validate(design, y);
  Design counted = design.with_threads(options.threads).with_counter();
  const Index n = design.rows(), p = design.cols(), entries = counted.stored_entries();
  state_ = std::make_unique<State>(State{counted,
                                         std::move(y),
                                         options,
                                         find_solver(options.solver).make(options.stochastic),
                                         {Vector::Zero(p), Vector::Zero(n)},
                                         Correlation(counted),
                                         entries});
}
Sequence::~Sequence() = default;

void Sequence::start_from(const Vector& beta) {
  if (beta.size() != state_->design.cols() || !beta.allFinite())
    throw InvalidArgument("warm_start: want " + std::to_string(state_->design.cols()) + " finite numbers");
  state_->x.beta = beta;
  state_->design.multiply(beta, state_->x.eta);
}

Fit Sequence::fit(const SortedL1& penalty, double max_seconds, const Observer& observer) {
  const Stopwatch watch;
  State& state = *state_;
  FitOptions options = state.options;
  options.max_seconds = max_seconds;
  const ScreeningRule& rule = screening_rule(options.screening);
  Solver& solver = *state.solver;
  const Problem full{state.design, state.y, penalty};
  if (penalty.size() != full.design.cols())
    throw InvalidArgument(
        fmt::format("weights: want {} entries, got {}", full.design.cols(), penalty.size()));
  const Index p = full.design.cols(), read_before = full.design.entries_read();
  Reduced now{full, state.x, all_columns(p), {}};
  BestSphere best;
  std::vector<TracePoint> trace;
  double tolerance =
      options.tolerance;  // on the columns left: tightened where the full problem asks for more
  bool guessing = !rule.safe;
  solver.attach(now.problem, now.x);

  for (Index epoch = 0;; ++epoch) {
    Certificate c = state.assess(now.problem, now.x, now.kept);
    now.record(c, epoch);
    trace.push_back({epoch, watch.seconds(), c.primal, c.gap, now.problem.design.cols()});
    const bool interrupted = observer && !observer(trace.back());
    const Progress at{epoch,       now.progress_epoch,   solver.patience(), trace.back().seconds,
                      interrupted, c.gap <= now.best_gap};
    if (auto status = should_stop(c, tolerance, at, options)) {
      const bool converged = *status == Status::kConverged;
      Iterate solution{expand(converged ? now.x.beta : now.best, now.kept, p), now.x.eta};
      if (!converged) full.design.multiply(solution.beta, solution.eta);
      Fit result = state.finish(full, std::move(solution), *status);
      const bool ended = converged || *status == Status::kStalled;
      if (ended && guessing && !result.certificate.meets(options.tolerance)) {
        guessing = false;  // the guess may have been wrong: go on with all columns
        now = Reduced{full, result.solution, all_columns(p), result.solution.beta};
        now.progress_epoch = epoch;
        best = {};
        solver.attach(now.problem, now.x);
        continue;
      }
      if (converged && !result.certificate.meets(options.tolerance)) {
        tolerance /= 2;  // the columns that left ask for more: go on, unless there is another reason to stop
        status = should_stop(c, 0, at, options);
      }
      if (status) {
        state.x = result.solution;
        result.status = *status;
        result.trace = std::move(trace);
        result.epochs = epoch, result.screened = p - now.problem.design.cols();
        result.passes = static_cast<double>(full.design.entries_read() - read_before) /
                        static_cast<double>(std::max<Index>(state.entries, 1));
        result.seconds = watch.seconds(), result.cpu_seconds = watch.cpu_seconds();
        return result;
      }
    }
    if (std::optional<IndexSet> alive = screen(rule, now, best, c, epoch, guessing)) {
      const bool moved = now.restrict_to(*alive);
      best.restrict_to(*alive);
      solver.restrict_to(now.problem, now.x, *alive, moved);
      if (moved) continue;  // another point: first its certificate
      c.restrict_to(*alive);
    }
    solver.advance(now.problem, now.x, c, tolerance * c.primal);
  }
}

Fit fit(const Problem& problem, const FitOptions& options, const Vector* warm_start,
        const Observer& observer) {
  Sequence sequence(problem.design, problem.y, options);
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
  switch (status) {
    case Status::kConverged:
      return "converged";
    case Status::kEpochLimit:
      return "epoch_limit";
    case Status::kTimeLimit:
      return "time_limit";
    case Status::kInterrupted:
      return "interrupted";
    case Status::kStalled:
      return "stalled";
  }
  return "";
}

}  // namespace tyto
