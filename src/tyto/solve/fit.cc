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

// What is left of the problem after screening, the point at hand, and the best point so far.
struct Reduced {
  Problem problem;
  Iterate x;
  IndexSet support;  // of x, in the problem
  Selection kept;    // the columns of the problem in the full one
  SparseBeta best;   // the best point, in the full problem
  double best_gap = kInfinity, least_primal = kInfinity;
  Index progress_epoch = 0;  // the last one in which the gap or the objective was the least so far

  void record(const Certificate& c, Index epoch) {
    if (c.gap < best_gap) {
      best = sparse(x.beta, c.support, kept, best.size());
      best_gap = c.gap;
      progress_epoch = epoch;
    }
    if (c.primal + c.rounding < least_primal) {
      least_primal = c.primal;
      progress_epoch = epoch;
    }
  }
  // Keeps some of the columns; true if a non-zero coefficient left, so that x is another point.
  bool restrict_to(std::span<const Index> survivors, const Work& work) {
    const std::size_t before = support.size();
    x.beta = tyto::restrict_to(x.beta, survivors);
    support = nonzero_entries(x.beta);
    problem = tyto::restrict_to(problem, survivors);
    kept = kept.at(survivors);
    for (SparseBeta::InnerIterator it(best); it; ++it) {
      if (kept.find(it.index()) >= 0) continue;
      it.valueRef() = 0;
      best_gap = kInfinity;
    }
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
  const Index patience = std::max(at.patience, share_of(options.tuning.loop.patience_share, at.epoch));
  if (at.epoch - at.progress_epoch > patience) return Status::kStalled;
  return std::nullopt;
}

// Tries at screening within one fit.
struct Screen {
  const ScreeningRule& rule;
  const Tuning& tuning;
  BestSphere best{tuning.screening};
  bool guessing = !rule.safe;  // columns may have been dropped by a rule that is not safe

  // The columns that are left after a try, if there is something to try and it drops any. A rule that is not
  // safe has one try, at the start. `lazy`: the solver takes bounds of X'r. Then epochs are few, and columns
  // that were dropped have to be read once more at the end: there is no try in the first epochs, nor where X
  // is small; many columns have to go; and the ball is that of the last certificate.
  std::optional<IndexSet> survivors(const Reduced& now, const Certificate& c, const Vector& correlation,
                                    Index epoch, bool lazy) {
    std::optional<IndexSet> alive;
    const Design& design = now.problem.design;
    if (rule.safe && lazy && (epoch < tuning.screening.lazy_epochs || in_cache(design, tuning.reading)))
      return alive;
    const Index most = lazy ? share_of(tuning.screening.lazy_share, design.cols()) : design.cols() - 1;
    if (!rule.safe) {
      if (guessing && epoch == 0) alive = strong_survivors(now.problem, correlation);
    } else if (rule.screens && lazy) {
      const Sphere sphere = sphere_of(c, correlation, design.rows());
      if (std::isfinite(sphere.radius))
        alive = few_survivors(rule, now.problem, sphere, most, tuning.screening);
    } else if (rule.screens && best.update(c, correlation, design.rows())) {
      alive = few_survivors(rule, now.problem, best.sphere(), most, tuning.screening);
    }
    if (alive && std::ssize(*alive) > most) alive.reset();
    return alive;
  }
};

// Vectors of length p are made and freed in every fit. By default the C library returns such memory to the
// system and asks for it again; after one larger block was freed, it keeps it (mallopt(3)).
void keep_memory(Index n, Index p, const Tuning::Memory& tuning) {
  const Index of_matrix = std::min(tuning.gram_bytes, 8 * n * p);
  const Index bytes =
      std::min(tuning.block_bytes, std::max(tuning.bytes_per_entry * std::max(n, p), of_matrix));
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
  validate(options);
  validate(problem);
  const Design& design = problem.design;
  keep_memory(design.rows(), design.cols(), options.tuning.memory);
  auto work = std::make_unique<const Work>(options.threads);
  const bool nonnegative = problem.penalty.nonnegative();
  Correlation correlation(design, nonnegative, *work, options.tuning.reading);
  CorrelationSpan span(design, problem.y, nonnegative, *work, options.tuning);
  state_ = std::make_unique<State>(State{
      std::move(work), design, problem.y, problem.ridge, nonnegative, options,
      find_solver(options.solver).make({options.stochastic, options.tuning}), Point(problem),
      Selection::first(design.cols()), std::move(correlation), std::move(span), design.stored_entries()});
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
  const Tuning& tuning = state.options.tuning;
  Screen screen{screening_rule(options.screening), tuning};
  Solver& solver = *state.solver;
  const Problem full = state.problem(penalty);
  const Index p = full.design.cols(), read_before = state.work->entries_read();
  Reduced now{full, {dense(state.x.beta), state.x.eta}, state.x.support(), state.all, state.x.beta};
  std::vector<TracePoint> trace;
  // Of the columns left: it becomes smaller where these meet it and the full problem does not.
  double tolerance = options.tolerance;
  bool interrupted = false;
  const auto ask = [&](const TracePoint& at) { interrupted = interrupted || (observer && !observer(at)); };
  double asked = 0;
  const auto stop = [&] {  // within an epoch
    TracePoint at = trace.back();
    at.seconds = watch.seconds();
    if (at.seconds > asked + tuning.loop.call_seconds) {
      ask(at);
      asked = at.seconds;
    }
    return interrupted || at.seconds >= options.max_seconds;
  };
  const Exact exact = [&](Index k) { return !state.lazy() || state.correlation.exact(now.kept[k]); };
  solver.attach(now.problem, now.x, *state.work);

  for (Index epoch = 0;; ++epoch) {
    Certificate c = state.assess(now.problem, now.x, now.support, now.kept);
    now.record(c, epoch);
    trace.push_back({epoch, watch.seconds(), c.primal, c.gap, now.problem.design.cols()});
    ask(trace.back());
    asked = trace.back().seconds;
    const Progress at{epoch,       now.progress_epoch,   solver.patience(tuning.loop), trace.back().seconds,
                      interrupted, c.gap <= now.best_gap};
    if (auto status = should_stop(c, tolerance, at, options)) {
      const bool converged = *status == Status::kConverged;
      // Whether c is the certificate of the full problem, because no column was dropped.
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
      if (ended && screen.guessing && !certificate.meets(options.tolerance)) {
        screen.guessing = false;  // columns may have been dropped wrongly: go on with all of them
        now = Reduced{full, solution, certificate.support, state.all,
                      sparse(solution.beta, certificate.support, state.all, p)};
        now.progress_epoch = epoch;
        screen.best = BestSphere(tuning.screening);
        solver.attach(now.problem, now.x, *state.work);
        continue;
      }
      if (converged && !certificate.meets(options.tolerance)) {
        // The columns left are solved, the full problem is not: go on with a smaller tolerance, unless there
        // is another reason to stop. X'r has to be that of the columns left again: from before the full
        // problem was read or, where reading is lazy, with the columns that are exact by now.
        tolerance /= 2;
        status = should_stop(c, 0, at, options);
        if (!status && state.lazy())
          c = state.assess(now.problem, now.x, now.support, now.kept);
        else if (!status)
          state.pass = pass;
      }
      if (status) {
        Fit result;
        result.status = *status;
        state.x.move_to(solution, certificate.support);
        result.solution = std::move(solution);
        result.certificate = std::move(certificate);
        result.trace = std::move(trace);
        result.epochs = epoch;
        result.screened = p - now.problem.design.cols();
        if (solver.takes_bounds()) {  // columns have been kept that could be dropped
          const Index left = state.columns_left(screen.rule, full, result.solution, result.certificate);
          result.screened = std::max(result.screened, p - left);
        }
        result.trace.back().active = p - result.screened;
        state.last = result.trace.back();
        result.passes = state.passes_since(read_before);
        result.seconds = watch.seconds();
        result.cpu_seconds = watch.cpu_seconds();
        return result;
      }
    }
    const Vector* ascent = &state.ascent(now.problem, now.x, now.kept);
    Vector left;
    if (auto alive = screen.survivors(now, c, *ascent, epoch, solver.takes_bounds())) {
      const bool moved = now.restrict_to(*alive, *state.work);
      screen.best.restrict_to(*alive);
      solver.restrict_to(now.problem, now.x, *alive, moved);
      if (moved) continue;  // another point: first its certificate
      left = restrict_to(*ascent, *alive);
      ascent = &left;
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
