// The loop: certify, stop?, screen, advance.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/math/entries.h"
#include "tyto/solve/active_problem.h"
#include "tyto/solve/clusters.h"
#include "tyto/solve/fit.h"
#include "tyto/solve/path_state.h"
#include "tyto/solve/screening_schedule.h"
#include "tyto/solve/stopping.h"

namespace tyto {
namespace {

// A point of the full problem, and why the fit may end there.
struct Answer {
  Status status;
  Iterate solution;
  Certificate certificate;
};

// One fit, of one penalty.
class Run {
 public:
  Run(PathState& state, const SortedL1& penalty, Watch& watch)
      : state_(state),
        solver_(*state.solver),
        watch_(watch),
        full_(state.problem(penalty)),
        active_{full_,
                {dense(state.x.beta), state.x.eta, state.x.coordinates},
                state.x.support(),
                state.all,
                state.x.beta},
        screening_{screening_rule(state.options.screening), state.options.tuning},
        tolerance_(state.options.tolerance) {}

  Fit solve() {
    solver_.attach(active_.problem, active_.x, state_.work);
    for (;; ++epoch_) {
      Certificate c = certify();
      const Progress progress = record(c);
      if (const auto status = should_stop(c, progress, limits(tolerance_))) {
        Answer answer = on_full_problem(*status, c);
        if (dropped_wrongly(answer)) {
          take_all_columns(answer);
          continue;
        }
        if (confirm(answer, c, progress)) return finish(std::move(answer));
        c = certify();  // X'r is that of the columns left again
      }
      const Vector* gradient = &state_.gradient().values(active_.problem, active_.x.beta, active_.columns);
      Vector left;
      const bool few_epochs = state_.traits().takes_bounds;
      if (const auto alive = screening_.survivors(active_, c, *gradient, epoch_, few_epochs)) {
        if (restrict_to(*alive)) continue;  // another point: first its certificate
        left = tyto::restrict_to(*gradient, *alive);
        gradient = &left;
        c.support = active_.support;
      }
      active_.support = solver_.advance(active_.problem, active_.x, c, *gradient, goal(c));
      if (published_stop_ < 0 && solver_.published_rule_stopped()) published_stop_ = epoch_;
    }
  }

 private:
  Certificate certify() {
    return state_.certify(active_.problem, active_.x, active_.support, active_.columns);
  }

  Progress record(const Certificate& c) {
    active_.record(c, epoch_);
    trace_.push_back({epoch_, watch_.seconds(), c.primal, c.gap, active_.problem.design.cols()});
    watch_.show(trace_.back());
    return {epoch_, active_.progress_epoch, trace_.back().seconds, watch_.interrupted(),
            c.gap <= active_.best_gap};
  }

  FitLimits limits(double tolerance) const {
    return {tolerance, state_.options.max_epochs, watch_.max_seconds(), state_.traits().patience,
            state_.options.tuning.loop.patience_share};
  }

  Goal goal(const Certificate& c) {
    return {tolerance_ * c.primal, [this] { return watch_.should_stop(trace_.back()); },
            [this](Index k) { return state_.gradient().exact(active_.columns[k]); }};
  }

  // True if x is another point now.
  bool restrict_to(const IndexSet& alive) {
    const bool moved = active_.restrict_to(alive, state_.work);
    screening_.best.restrict_to(alive);
    solver_.restrict_to(active_.problem, active_.x, alive, moved);
    return moved;
  }

  // The point at hand if it has converged, else the best so far. Where no column was dropped, c is the
  // certificate that is wanted, and c and x are moved away.
  Answer on_full_problem(Status status, Certificate& c) {
    const Index p = full_.design.cols();
    const bool converged = status == Status::kConverged;
    if (converged && active_.problem.design.cols() == p) return {status, std::move(active_.x), std::move(c)};
    Iterate x{converged ? expand(active_.x.beta, active_.columns, p) : dense(active_.best), active_.x.eta,
              active_.x.coordinates};
    if (!converged) full_.design.multiply(x.beta, x.eta, state_.work);
    Certificate certificate = state_.certify(full_, x, nonzero_entries(x.beta), state_.all);
    return {status, std::move(x), std::move(certificate)};
  }

  // Whether the end was reached on columns of which some may have been dropped by a rule that is not safe.
  bool dropped_wrongly(const Answer& answer) const {
    const bool ended = answer.status == Status::kConverged || answer.status == Status::kStalled;
    return ended && screening_.guesses && !answer.certificate.meets(state_.options.tolerance);
  }
  void take_all_columns(const Answer& from) {
    const IndexSet& support = from.certificate.support;
    active_ = {full_, from.solution, support, state_.all,
               sparse(from.solution.beta, support, state_.all, full_.design.cols())};
    active_.progress_epoch = epoch_;
    screening_.stop_guessing();
    solver_.attach(active_.problem, active_.x, state_.work);
  }

  // Whether the answer is final. Where the columns left are solved and the full problem is not, the fit goes
  // on with a smaller tolerance, unless there is another reason to stop.
  bool confirm(Answer& answer, const Certificate& c, const Progress& progress) {
    if (answer.status != Status::kConverged || answer.certificate.meets(state_.options.tolerance))
      return true;
    tolerance_ /= 2;
    const auto reason = should_stop(c, progress, limits(0));
    if (reason) answer.status = *reason;
    return reason.has_value();
  }

  Fit finish(Answer answer) {
    const Index p = full_.design.cols();
    state_.x.move_to(answer.solution, answer.certificate.support);
    Fit fit = make_fit(answer.status, std::move(answer.solution), std::move(answer.certificate));
    fit.epochs = epoch_;
    fit.published_stop = published_stop_;
    fit.screened = p - active_.problem.design.cols();
    if (state_.traits().takes_bounds) {  // columns have been kept that could be dropped
      const Index left = state_.columns_left(screening_.rule, full_, fit.solution, fit.certificate);
      fit.screened = std::max(fit.screened, p - left);
    }
    trace_.back().active = p - fit.screened;
    state_.last = trace_.back();
    fit.trace = std::move(trace_);
    fit.passes = state_.take_passes();
    fit.seconds = watch_.seconds();
    fit.cpu_seconds = watch_.cpu_seconds();
    return fit;
  }

  PathState& state_;
  Solver& solver_;
  Watch& watch_;
  const Problem full_;
  ActiveProblem active_;
  ScreeningSchedule screening_;
  double tolerance_;  // of the columns left
  Index epoch_ = 0;
  Index published_stop_ = -1;  // see Fit
  std::vector<TracePoint> trace_;
};

Problem without_gradient(Problem problem) {
  problem.at_zero = nullptr;
  return problem;
}

}  // namespace

PathState::PathState(const Problem& problem, const FitOptions& given)
    : data(without_gradient(problem)),
      nonnegative(problem.penalty.nonnegative()),
      options(given),
      work(given.threads),
      solver(make_solver(given.solver, *problem.loss, {given.stochastic, given.tuning, given.variant})),
      x(problem),
      all(Selection::first(problem.design.cols())),
      eager(problem, work),
      drift(problem, work, given.tuning.reading),
      drift_pays(DriftBounds::pays(problem.design, given.tuning.reading)),
      subspace(problem, work, given.tuning),
      ahead(given.tuning.lookahead.ahead),
      entries(problem.design.stored_entries()) {
  if (!problem.at_zero) return;
  work.count(entries);  // it was read by somebody else, for these fits
  if (may_look_ahead() && !takes_all())
    subspace.know(problem.at_zero->residual, problem.at_zero->correlation);
}

void PathState::check(const SortedL1& penalty) const {
  const Index p = data.design.cols();
  if (penalty.size() != p)
    throw InvalidArgument(fmt::format("weights: want {} entries, got {}", p, penalty.size()));
  if (penalty.nonnegative() != nonnegative)
    throw InvalidArgument("weights: want all penalties of a path to allow negative coefficients, or none");
}

Problem PathState::problem(const SortedL1& penalty) const {
  check(penalty);
  Problem result = data;
  result.penalty = penalty;
  return result;
}

Certificate PathState::certify(const Problem& problem, Iterate& at, IndexSet support,
                               const Selection& columns) {
  const LossPoint loss = loss_at(problem, at);
  at.coordinates = loss.coordinates;
  GradientBounds& bounds = gradient();
  bounds.move_to(loss.residual);
  DualNormAt known = bounds.evaluate_dual_norm(problem, at.beta, std::move(support), columns);
  return tyto::certify(problem, at, loss, std::move(known));
}

Index PathState::columns_left(const ScreeningRule& rule, const Problem& full, const Iterate& at,
                              const Certificate& c) {
  if (!rule.safe || !rule.screens) return full.design.cols();
  const Contenders& few = gradient().contenders();  // in most first fits they are enough to tell
  if (!few.columns.empty() && drops(full, c, few.level))
    return tyto::columns_left(rule, restrict_to(full, few.columns), c, few.bounds, options.tuning.screening);
  return tyto::columns_left(rule, full, c, gradient().values(full, at.beta, all), options.tuning.screening);
}

double PathState::passes(Index entries_read) const {
  return static_cast<double>(entries_read) / static_cast<double>(std::max<Index>(entries, 1));
}

double PathState::take_passes() {
  const Index read = work.entries_read();
  return passes(read - std::exchange(entries_accounted, read));
}

Fit make_fit(Status status, Iterate solution, Certificate certificate) {
  Fit fit;
  fit.status = status;
  fit.cluster = cluster_numbers(solution.beta, certificate.support);
  fit.clusters = fit.cluster.empty() ? 0 : 1 + *std::ranges::max_element(fit.cluster);
  fit.solution = std::move(solution);
  fit.certificate = std::move(certificate);
  return fit;
}

PathSolver::PathSolver(const Problem& problem, const FitOptions& options) {
  validate(options);
  validate(problem);
  state_ = std::make_unique<PathState>(problem, options);
}
PathSolver::~PathSolver() = default;

void PathSolver::start_from(const Vector& beta) {
  const Problem& data = state_->data;
  if (beta.size() != data.design.cols() || !beta.allFinite())
    throw InvalidArgument("warm_start: want " + std::to_string(data.design.cols()) + " finite numbers");
  Iterate x{state_->nonnegative ? beta.cwiseMax(0) : beta, {}};
  data.design.multiply(x.beta, x.eta, state_->work);
  const double loss = data.loss->at(x.eta).value;
  if (!std::isfinite(loss + x.eta.squaredNorm() + x.beta.squaredNorm() * (1 + data.ridge)))
    throw InvalidArgument("warm_start: want numbers so small that their squares can be added");
  state_->x.move_to(x, nonzero_entries(x.beta));
}

Fit PathSolver::fit(const SortedL1& penalty, double max_seconds, const Observer& observer) {
  Watch watch(observer, max_seconds, state_->options.tuning.loop.call_seconds);
  return Run(*state_, penalty, watch).solve();
}

NextFits PathSolver::fit_next(std::span<const SortedL1> penalties, double max_seconds,
                              const Observer& observer) {
  if (penalties.empty()) throw InvalidArgument("penalties: want at least one");
  for (const SortedL1& penalty : penalties) state_->check(penalty);
  Watch watch(observer, max_seconds, state_->options.tuning.loop.call_seconds);
  const Index read_before = state_->work.entries_read();
  std::vector<Fit> fits = state_->look_ahead(penalties, watch);
  if (!fits.empty()) return {std::move(fits), true};
  const Index in_vain = state_->work.entries_read() - read_before;
  state_->entries_accounted += in_vain;
  fits.push_back(Run(*state_, penalties.front(), watch).solve());
  fits.front().passes += state_->passes(in_vain);
  return {std::move(fits), false};
}

}  // namespace tyto
