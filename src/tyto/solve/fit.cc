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
#include "tyto/problem/correlation.h"
#include "tyto/problem/correlation_span.h"
#include "tyto/problem/screening.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is left of the problem after screening, the point that moves through it, and the best point so far.
struct Reduced {
  Problem problem;
  Iterate x;
  Selection kept;   // columns of the full problem
  SparseBeta best;  // there
  double best_gap = kInfinity, least_primal = kInfinity;
  Index progress_epoch = 0;  // of the last progress, of the gap or of the primal

  void record(const Certificate& c, Index epoch) {
    if (c.gap < best_gap) best = sparse(x.beta, kept, best.size()), best_gap = c.gap, progress_epoch = epoch;
    if (c.primal + c.rounding < least_primal) least_primal = c.primal, progress_epoch = epoch;
  }
  // Keeps some of the columns; true if a non-zero coefficient left, so that x is another point.
  bool restrict_to(std::span<const Index> survivors) {
    const auto nonzeros = [](const Vector& v) { return (v.array() != 0).count(); };
    const Index before = nonzeros(x.beta);
    x.beta = tyto::restrict_to(x.beta, survivors);
    problem = tyto::restrict_to(problem, survivors);
    kept = kept.at(survivors);
    for (SparseBeta::InnerIterator it(best); it; ++it)
      if (kept.find(it.index()) < 0) it.valueRef() = 0, best_gap = kInfinity;
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
// that is not safe has one try, at the start. Where columns are not all read anyway, epochs are few: there is
// no try before the first one, which mostly is the last one too, and the ball is that of the last
// certificate.
std::optional<IndexSet> screen(const ScreeningRule& rule, const Reduced& now, BestSphere& best,
                               const Certificate& c, Index epoch, bool guessing, bool lazy) {
  std::optional<IndexSet> alive;
  if (rule.safe && lazy && epoch == 0) return alive;
  // Where columns are not all read anyway, dropping a few is more work than keeping them.
  const Index columns = now.problem.design.cols(), most = lazy ? columns / 2 : columns - 1;
  if (!rule.safe) {
    if (guessing && epoch == 0) alive = strong_survivors(now.problem, c.correlation);
  } else if (rule.screens && lazy) {
    const Sphere sphere = sphere_of(c, now.problem.design.rows());
    if (std::isfinite(sphere.radius)) alive = few_survivors(rule, now.problem, sphere, most);
  } else if (rule.screens && best.update(c, now.problem.design.rows())) {
    alive = few_survivors(rule, now.problem, best.sphere(), most);
  }
  if (alive && std::ssize(*alive) > most) alive.reset();
  return alive;
}

// How many columns a certificate leaves.
Index columns_left(const ScreeningRule& rule, const Problem& problem, const Certificate& c) {
  const Sphere sphere = sphere_of(c, problem.design.rows());
  if (!rule.safe || !rule.screens || !std::isfinite(sphere.radius)) return problem.design.cols();
  return count_survivors(rule, problem, sphere);
}

// Where a sequence of fits is, between two of them.
struct Point {
  SparseBeta beta;
  Vector eta;

  explicit Point(const Problem& problem) : beta(problem.design.cols()), eta(Vector::Zero(problem.y.size())) {}
  Point& operator=(const Iterate& x) {
    beta = sparse(x.beta, Selection::first(x.beta.size()), x.beta.size()), eta = x.eta;
    return *this;
  }
};

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

struct Sequence::State {
  Design design;
  Vector y;
  double ridge;
  bool nonnegative;
  FitOptions options;
  std::unique_ptr<Solver> solver;
  Point x;
  Selection all;  // columns
  Correlation correlation;
  CorrelationSpan span;  // for several at once
  Index entries;
  Index ahead = kAhead;  // fits that are tried at once
  bool given = false;    // X'y came with the problem: a pass that the first fit rests on
  bool on_path = false;

  static constexpr Index kAhead = 12;
  // Few columns, with a small Gram matrix, are all wanted sooner or later.
  bool takes_all() const {
    constexpr Index kFew = 128;
    return !design.is_sparse() && design.cols() <= kFew && 2 * design.cols() < design.rows();
  }
  Index furthest() const {  // where none is missing, as far as residuals take little memory
    constexpr Index kSmall = Index{1} << 17;
    return takes_all() ? std::max(2 * kAhead, kSmall / design.rows()) : 2 * kAhead;
  }

  // One pass over the columns of the problem, or less where bounds will do. `kept`: its columns in `design`.
  bool lazy() const { return solver->takes_bounds() && correlation.pays(); }
  Certificate assess(const Problem& problem, const Iterate& at, const Selection& kept) {
    if (!lazy()) return certify(problem, at);
    if (std::exchange(given, false)) design.count_pass();
    correlation.move_to(y - at.eta);
    auto [values, dual_norm] = correlation.settle(problem, at.beta, kept);
    return certify(problem, at, std::move(values), dual_norm);
  }
  double passes_since(Index entries_read) const {
    return static_cast<double>(design.entries_read() - entries_read) /
           static_cast<double>(std::max<Index>(entries, 1));
  }
  // Whether columns that the solver does not have seem to pull too hard at a point that it has foreseen. The
  // first of the next penalties is that of the point.
  bool outgrown(std::span<const SortedL1> next, const Vector& beta) const {
    constexpr double kTooHard = 1.01;
    Vector pulls = span.guess(beta);
    if (pulls.size() == 0) return false;
    solver->recall(pulls);
    if (next.front().dual_norm(pulls) <= kTooHard) return false;
    expect(next, beta, pulls);
    return true;
  }
  // Tells the solver which columns pull as hard as they will have to soon.
  void expect(std::span<const SortedL1> next, const Vector& beta, const Vector& pulls) const {
    constexpr std::size_t kSoon = 12;
    const Index p = beta.size(), nonzeros = (beta.array() != 0).count();
    const SortedL1& soon = next[std::min(kSoon, next.size() - 1)];
    Vector room;
    solver->expect(entries_above(soon.counted(pulls, room), soon.weight(std::min(nonzeros, p - 1))));
  }
  // The solver takes in what it expects, at the point of the last certificate.
  void extend(const Problem& problem) const {
    const Iterate at{x.beta, x.eta};
    Certificate c;
    c.correlation = correlation.values(all), c.bounded = correlation.bounded(all);
    add_ridge(problem, at.beta, c.correlation);
    c.residual_norm = std::sqrt((y - at.eta).squaredNorm() + ridge * at.beta.squaredNorm());
    solver->prepare(problem, at, c);
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
  keep_memory(design.rows(), design.cols());
  Design counted = design.with_threads(options.threads).with_counter();
  const Index entries = counted.stored_entries();
  state_ = std::make_unique<State>(
      State{counted, problem.y, problem.ridge, problem.penalty.nonnegative(), options,
            find_solver(options.solver).make(options.stochastic), Point(problem),
            Selection::first(design.cols()), Correlation(counted, problem.penalty.nonnegative()),
            CorrelationSpan(counted, problem.y, problem.penalty.nonnegative()), entries});
  if (problem.at_zero && state_->correlation.pays()) {
    state_->given = true;
    state_->correlation.adopt(problem.y, *problem.at_zero, {}, 0);
    if (design.rows() > design.cols() && !state_->takes_all()) state_->span.know(problem.y, *problem.at_zero);
  }
}
Sequence::~Sequence() = default;

void Sequence::start_from(const Vector& beta) {
  if (beta.size() != state_->design.cols() || !beta.allFinite())
    throw InvalidArgument("warm_start: want " + std::to_string(state_->design.cols()) + " finite numbers");
  Iterate x{state_->nonnegative ? beta.cwiseMax(0) : beta, {}};
  state_->design.multiply(x.beta, x.eta);
  state_->x = x;
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
  const Index p = full.design.cols(), read_before = full.design.entries_read();
  Reduced now{full, {state.x.beta, state.x.eta}, state.all, state.x.beta};
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
      // Of the full problem: what it is already if no column was dropped. Then it is the end.
      const bool known = converged && now.problem.design.cols() == p;
      Iterate solution{known       ? std::move(now.x.beta)
                       : converged ? expand(now.x.beta, now.kept, p)
                                   : Vector(now.best),
                       now.x.eta};
      if (!converged) full.design.multiply(solution.beta, solution.eta);
      Certificate other = known ? Certificate() : state.assess(full, solution, state.all);
      Certificate& certificate = known ? c : other;
      const bool ended = converged || *status == Status::kStalled;
      if (ended && guessing && !certificate.meets(options.tolerance)) {
        guessing = false;  // the guess may have been wrong: go on with all columns
        now = Reduced{full, solution, state.all, sparse(solution.beta, state.all, p)};
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
      c.correlation = restrict_to(c.correlation, *alive);
    }
    if (state.lazy()) c.bounded = state.correlation.bounded(now.kept);
    solver.advance(now.problem, now.x, c, {tolerance * c.primal, stop});
  }
}

NextFits Sequence::fit_next(std::span<const SortedL1> penalties, double max_seconds,
                            const Observer& observer) {
  if (penalties.empty()) throw InvalidArgument("penalties: want at least one");
  for (const SortedL1& penalty : penalties) state_->check(penalty);
  const Stopwatch watch;
  const Index read_before = state_->design.entries_read();
  if (!std::exchange(state_->on_path, true) && state_->takes_all())
    state_->solver->expect(all_but({}, state_->design.cols()));
  NextFits next{foreseen(penalties, max_seconds, watch), true};
  if (!next.fits.empty()) return next;
  const double passes = state_->passes_since(read_before);
  next.fits.push_back(fit(penalties.front(), max_seconds, observer, watch)), next.foreseen = false;
  next.fits.front().passes += passes;
  return next;
}

// The solver goes ahead without reading X, but not for long; then all of its points are certified by one
// pass, and those up to the first that misses the tolerance are answers.
std::vector<Fit> Sequence::foreseen(std::span<const SortedL1> penalties, double max_seconds,
                                    const Stopwatch& watch) {
  constexpr double kLong = 0.25;  // seconds: who wants to stop is not asked before they are over
  State& state = *state_;
  const Index read_before = state.design.entries_read(), p = state.design.cols();
  const Index most = std::min<Index>(state.ahead, std::ssize(penalties));
  if (state.design.is_sparse() || state.design.rows() <= p) return {};
  Problem problem = state.problem(penalties.front());
  Matrix betas(p, most);
  Vector beta = state.x.beta;
  Index count = 0;
  // A point that lacks columns is the last one; if it is the first, they are taken in at once.
  bool outgrown = false, extended = false;
  while (!outgrown && count < most && watch.seconds() < std::min(kLong, max_seconds)) {
    problem.penalty = penalties[static_cast<std::size_t>(count)];
    if (!state.solver->foresee(problem, beta, state.options.tolerance)) break;
    outgrown = state.outgrown(penalties.subspan(static_cast<std::size_t>(count)), beta);
    if (outgrown && count == 0 && !extended) {
      state.extend(problem), beta = state.x.beta;
      outgrown = false, extended = true;
    } else {
      betas.col(count++) = beta;
    }
  }
  if (count == 0 || (outgrown && count == 1)) return {};
  betas.conservativeResize(p, count);
  const Points points = points_at(state.design, state.y, state.ridge, penalties, std::move(betas));
  const auto settled = state.span.settle(points);
  if (!state.takes_all() && std::ssize(settled.read) == p)  // directions for nothing
    for (const Index k : {count - 1, count / 2})
      state.span.know(points.residuals.col(k), settled.values.col(k));

  std::vector<Fit> fits;
  fits.reserve(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) {
    problem.penalty = penalties[static_cast<std::size_t>(k)];
    Iterate x{points.betas.col(k), state.y - points.residuals.col(k)};
    Certificate c = certify(problem, x, settled.bounds.col(k), settled.dual_norms[k]);
    if (!c.meets(state.options.tolerance)) break;
    Fit& fit = fits.emplace_back();
    fit.status = Status::kConverged, fit.epochs = 1;
    fit.screened = p - columns_left(screening_rule(state.options.screening), problem, c);
    fit.trace = {{1, 0, c.primal, c.gap, p - fit.screened}};
    fit.solution = std::move(x), fit.certificate = std::move(c);
  }
  const Index accepted = std::ssize(fits);
  if (accepted < count)  // columns that the solver did not have pull too hard
    state.expect(penalties.subspan(static_cast<std::size_t>(count - 1)), points.betas.col(count - 1),
                 settled.values.col(count - 1));
  state.ahead = accepted == 0           ? std::max<Index>(2, state.ahead / 2)
                : accepted + 1 >= count ? state.furthest()
                                        : State::kAhead;
  if (accepted == 0) return {};
  state.x = fits.back().solution;
  state.correlation.adopt(points.residuals.col(accepted - 1), settled.values.col(accepted - 1), settled.read,
                          settled.distances[accepted - 1]);
  if (accepted < count) state.extend(problem);
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
