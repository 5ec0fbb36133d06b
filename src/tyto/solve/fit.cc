#include "tyto/solve/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/stopwatch.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/sequence_state.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is left of the problem after screening, the point that moves through it, and the best point so far.
struct Reduced {
  Problem problem;
  Iterate x;
  IndexSet support;  // of x, in the problem
  Selection kept;    // columns of the full problem
  SparseBeta best;   // there
  double best_gap = kInfinity, least_primal = kInfinity;
  Index progress_epoch = 0;  // of the last progress, of the gap or of the primal

  void record(const Certificate& c, Index epoch) {
    if (c.gap < best_gap)
      best = sparse(x.beta, c.support, kept, best.size()), best_gap = c.gap, progress_epoch = epoch;
    if (c.primal + c.rounding < least_primal) least_primal = c.primal, progress_epoch = epoch;
  }
  // Keeps some of the columns; true if a non-zero coefficient left, so that x is another point.
  bool restrict_to(std::span<const Index> survivors, const Work& work) {
    const std::size_t before = support.size();
    x.beta = tyto::restrict_to(x.beta, survivors);
    support = nonzero_entries(x.beta);
    problem = tyto::restrict_to(problem, survivors);
    kept = kept.at(survivors);
    for (SparseBeta::InnerIterator it(best); it; ++it)
      if (kept.find(it.index()) < 0) it.valueRef() = 0, best_gap = kInfinity;
    if (support.size() == before) return false;
    problem.design.multiply(x.beta, x.eta, work);
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
// that is not safe has one try, at the start. Where columns are not all read anyway, epochs are few, and what
// leaves has to be read once more at the end: there is no try before three of them, nor where X is small, and
// the ball is that of the last certificate.
std::optional<IndexSet> screen(const ScreeningRule& rule, const Reduced& now, BestSphere& best,
                               const Certificate& c, const Vector& correlation, Index epoch, bool guessing,
                               bool lazy) {
  std::optional<IndexSet> alive;
  if (rule.safe && lazy && (epoch < 3 || in_cache(now.problem.design))) return alive;
  // Where columns are not all read anyway, dropping a few is more work than keeping them.
  const Index columns = now.problem.design.cols(), most = lazy ? columns / 2 : columns - 1;
  if (!rule.safe) {
    if (guessing && epoch == 0) alive = strong_survivors(now.problem, correlation);
  } else if (rule.screens && lazy) {
    const Sphere sphere = sphere_of(c, correlation, now.problem.design.rows());
    if (std::isfinite(sphere.radius)) alive = few_survivors(rule, now.problem, sphere, most);
  } else if (rule.screens && best.update(c, correlation, now.problem.design.rows())) {
    alive = few_survivors(rule, now.problem, best.sphere(), most);
  }
  if (alive && std::ssize(*alive) > most) alive.reset();
  return alive;
}

// Vectors of length p, and a few of them side by side, come and go in every fit. By default the C library
// returns such memory to the system and asks for it again; freeing one block larger than all of them teaches
// it not to (mallopt(3)).
void keep_memory(Index n, Index p) {
  constexpr Index kMost = 30 << 20,
                  kBlocks = 16 << 20;  // bytes; the latter is enough for a Gram matrix of 1400
  const Index bytes = std::min(kMost, std::max(256 * std::max(n, p), std::min(kBlocks, 8 * n * p)));
  char* volatile block = new char[static_cast<std::size_t>(bytes)];
  delete[] block;
}

}  // namespace

void Sequence::State::check(const SortedL1& penalty) const {
  if (penalty.size() != design.cols())
    throw InvalidArgument(fmt::format("weights: want {} entries, got {}", design.cols(), penalty.size()));
  if (penalty.nonnegative() != nonnegative)
    throw InvalidArgument(
        "weights: want all penalties of a sequence to allow negative coefficients, or none");
}

Sequence::Sequence(const Problem& problem, const FitOptions& options) {
  validate(options), validate(problem);
  const Design& design = problem.design;
  keep_memory(design.rows(), design.cols());
  auto work = std::make_unique<const Work>(options.threads);
  const bool nonnegative = problem.penalty.nonnegative();
  Correlation correlation(design, nonnegative, *work);
  CorrelationSpan span(design, problem.y, nonnegative, *work);
  state_ = std::make_unique<State>(State{std::move(work), design, problem.y, problem.ridge, nonnegative,
                                         options, find_solver(options.solver).make(options.stochastic),
                                         Point(problem), Selection::first(design.cols()),
                                         std::move(correlation), std::move(span), design.stored_entries()});
  state_->projection = problem.projection;
  state_->gram_cache = problem.gram_cache;
  state_->at_zero = problem.at_zero;
  if (problem.at_zero && state_->correlation.pays()) {
    state_->correlation.adopt(problem.y, problem.at_zero);
    if (design.rows() > design.cols() && !design.is_sparse() && !state_->takes_all())
      state_->span.know(problem.y, problem.at_zero->correlation);
  }
}
Sequence::~Sequence() = default;

void Sequence::start_from(const Vector& beta) {
  if (beta.size() != state_->design.cols() || !beta.allFinite())
    throw InvalidArgument("warm_start: want " + std::to_string(state_->design.cols()) + " finite numbers");
  Iterate x{state_->nonnegative ? beta.cwiseMax(0) : beta, {}};
  state_->design.multiply(x.beta, x.eta, *state_->work);
  if (!std::isfinite((state_->y - x.eta).squaredNorm() + x.beta.squaredNorm() * (1 + state_->ridge)))
    throw InvalidArgument("warm_start: want numbers so small that their squares can be added");
  state_->x.move_to(x, nonzero_entries(x.beta));
}

Fit Sequence::fit(const SortedL1& penalty, double max_seconds, const Observer& observer) {
  return fit(penalty, max_seconds, observer, {});
}

Fit Sequence::fit(const SortedL1& penalty, double max_seconds, const Observer& observer,
                  const Stopwatch& watch) {
  State& state = *state_;
  FitOptions options = state.options;
  options.max_seconds = max_seconds;
  const ScreeningRule& rule = screening_rule(options.screening);
  Solver& solver = *state.solver;
  const Problem full = state.problem(penalty);
  const Index p = full.design.cols(), read_before = state.work->entries_read();
  Reduced now{full, {dense(state.x.beta), state.x.eta}, state.x.support(), state.all, state.x.beta};
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
  const Exact exact = [&](Index k) { return !state.lazy() || state.correlation.exact(now.kept[k]); };
  solver.attach(now.problem, now.x, *state.work);

  for (Index epoch = 0;; ++epoch) {
    Certificate c = state.assess(now.problem, now.x, now.support, now.kept);
    now.record(c, epoch);
    trace.push_back({epoch, watch.seconds(), c.primal, c.gap, now.problem.design.cols()});
    ask(trace.back()), asked = trace.back().seconds;
    const Progress at{epoch,       now.progress_epoch,   solver.patience(), trace.back().seconds,
                      interrupted, c.gap <= now.best_gap};
    if (auto status = should_stop(c, tolerance, at, options)) {
      const bool converged = *status == Status::kConverged;
      // Of the full problem: what it is already if no column was dropped. Then it is the end.
      const bool known = converged && now.problem.design.cols() == p;
      Iterate solution{known       ? std::move(now.x.beta)
                       : converged ? expand(now.x.beta, now.kept, p)
                                   : dense(now.best),
                       now.x.eta};
      if (!converged) full.design.multiply(solution.beta, solution.eta, *state.work);
      const FullPass pass = state.pass;
      Certificate other =
          known ? Certificate() : state.assess(full, solution, nonzero_entries(solution.beta), state.all);
      Certificate& certificate = known ? c : other;
      const bool ended = converged || *status == Status::kStalled;
      if (ended && guessing && !certificate.meets(options.tolerance)) {
        guessing = false;  // the guess may have been wrong: go on with all columns
        now = Reduced{full, solution, certificate.support, state.all,
                      sparse(solution.beta, certificate.support, state.all, p)};
        now.progress_epoch = epoch;
        best = {};
        solver.attach(now.problem, now.x, *state.work);
        continue;
      }
      if (converged && !certificate.meets(options.tolerance)) {
        tolerance /= 2;  // the columns that left ask for more: go on, unless there is another reason to stop
        status = should_stop(c, 0, at, options);
        if (!status && state.lazy())  // more columns have been read
          c = state.assess(now.problem, now.x, now.support, now.kept);
        else if (!status)
          state.pass = pass;
      }
      if (status) {
        Fit result;
        result.status = *status;
        state.x.move_to(solution, certificate.support);
        result.solution = std::move(solution), result.certificate = std::move(certificate);
        result.trace = std::move(trace);
        result.epochs = epoch, result.screened = p - now.problem.design.cols();
        if (solver.takes_bounds())  // it keeps columns that it could drop
          result.screened = std::max(result.screened,
                                     p - state.columns_left(rule, full, result.solution, result.certificate));
        result.trace.back().active = p - result.screened;
        state.last = result.trace.back();
        result.passes = state.passes_since(read_before);
        result.seconds = watch.seconds(), result.cpu_seconds = watch.cpu_seconds();
        return result;
      }
    }
    const Vector* ascent = &state.ascent(now.problem, now.x, now.kept);
    Vector left;
    if (auto alive = screen(rule, now, best, c, *ascent, epoch, guessing, solver.takes_bounds())) {
      const bool moved = now.restrict_to(*alive, *state.work);
      best.restrict_to(*alive);
      solver.restrict_to(now.problem, now.x, *alive, moved);
      if (moved) continue;  // another point: first its certificate
      left = restrict_to(*ascent, *alive), ascent = &left;
      c.support = now.support;
    }
    now.support = solver.advance(now.problem, now.x, c, *ascent, {tolerance * c.primal, stop, exact});
  }
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
