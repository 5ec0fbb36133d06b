// Look-ahead: the fits of several penalties, certified together.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/sequence_state.h"

namespace tyto {

bool Sequence::State::takes_all() const {
  const Tuning::Lookahead& tuning = options.tuning.lookahead;
  return !design.is_sparse() && design.cols() <= tuning.all_columns &&
         tuning.rows_per_column * design.cols() < design.rows();
}

// Where no column can be missing, the memory of the residuals is the limit.
Index Sequence::State::furthest() const {
  const Tuning::Lookahead& tuning = options.tuning.lookahead;
  if (!takes_all()) return tuning.most_ahead;
  return std::max(tuning.most_ahead, tuning.residual_entries / design.rows());
}

bool Sequence::State::outgrown(std::span<const SortedL1> next, const Vector& beta) const {
  Vector guess = span.guess(beta);
  if (guess.size() == 0) return false;
  solver->recall(guess);
  return next.front().dual_norm(guess) > options.tuning.lookahead.too_hard && expect(next, beta, guess);
}

// A column is wanted where |x_j'r| is at least the weight of the next rank, some strengths later.
bool Sequence::State::expect(std::span<const SortedL1> next, const Vector& beta, const Vector& ascent) const {
  const Tuning::Lookahead& tuning = options.tuning.lookahead;
  const Index p = beta.size(), nonzeros = (beta.array() != 0).count();
  const auto weight = [&](Index k) {
    return next[static_cast<std::size_t>(k)].weight(std::min(nonzeros, p - 1));
  };
  Vector room;
  const Vector& counted = next.front().counted(ascent, room);
  const double least =
      std::max(weight(0) / tuning.weight_ratio, tuning.least_correlation * counted.lpNorm<Eigen::Infinity>());
  const double soon = weight(std::min(tuning.soon, std::ssize(next) - 1));
  return solver->expect(entries_above(counted, std::max(least, soon)));
}

void Sequence::State::extend(const Problem& problem) {
  const Iterate at{x.beta, x.eta};
  Certificate c;
  c.support = x.support();
  c.residual_norm = std::sqrt((y - at.eta).squaredNorm() + ridge * at.beta.squaredNorm());
  solver->prepare(problem, at, c, correlation.values(problem, at.beta, all),
                  [this](Index j) { return correlation.exact(j); });
}

NextFits Sequence::fit_next(std::span<const SortedL1> penalties, double max_seconds,
                            const Observer& observer) {
  if (penalties.empty()) throw InvalidArgument("penalties: want at least one");
  for (const SortedL1& penalty : penalties) state_->check(penalty);
  const Stopwatch watch;
  const Index read_before = state_->work->entries_read();
  const bool many = std::ssize(penalties) > state_->options.tuning.lookahead.ahead;
  if (!std::exchange(state_->on_path, true) && many && state_->takes_all())
    state_->solver->expect(all_but({}, state_->design.cols()));
  NextFits next{foreseen(penalties, max_seconds, observer, watch), true};
  if (!next.fits.empty()) return next;
  const double passes = state_->passes_since(read_before);
  next.fits.push_back(fit(penalties.front(), max_seconds, observer, watch));
  next.foreseen = false;
  next.fits.front().passes += passes;
  return next;
}

// The solver goes from penalty to penalty without reading X, but for columns that it takes in. Then one pass
// certifies all of its points; those up to the first that misses the tolerance are answers.
std::vector<Fit> Sequence::foreseen(std::span<const SortedL1> penalties, double max_seconds,
                                    const Observer& observer, const Stopwatch& watch) {
  State& state = *state_;
  const Index read_before = state.work->entries_read(), p = state.design.cols();
  const Index most = std::min<Index>(state.ahead, std::ssize(penalties));
  if (state.design.is_sparse() || state.design.rows() <= p) return {};
  Problem problem = state.problem(penalties.front());
  Matrix betas(p, most);
  Vector beta = state.x.beta;
  Index count = 0;
  double asked = 0;
  const auto stop = [&] {  // only how many points there are depends on the clock
    TracePoint at = state.last;
    at.seconds = watch.seconds();
    if (at.seconds >= max_seconds) return true;
    if (at.seconds < asked + state.options.tuning.loop.call_seconds) return false;
    asked = at.seconds;
    return observer && !observer(at);
  };
  // A point that lacks columns is the last one. If it is the first, they are taken in, and it is tried again.
  bool outgrown = false, extended = false;
  while (!outgrown && count < most && !stop()) {
    problem.penalty = penalties[static_cast<std::size_t>(count)];
    if (!state.solver->foresee(problem, beta, state.options.tolerance)) break;
    outgrown = state.outgrown(penalties.subspan(static_cast<std::size_t>(count)), beta);
    if (outgrown && count == 0 && !extended) {
      state.extend(problem);
      beta = state.x.beta;
      outgrown = false;
      extended = true;
    } else {
      betas.col(count++) = beta;
    }
  }
  if (count == 0 || (outgrown && count == 1)) return {};
  betas.conservativeResize(p, count);
  const Points points = state.span.points_at(state.ridge, penalties, std::move(betas));
  const auto settled = state.span.settle(points);
  if (!state.takes_all() && std::ssize(settled.read) == p)  // X'r is known: directions that cost no reading
    for (const Index k : {count - 1, count / 2})
      state.span.know(points.residuals.col(k), settled.values.col(k));

  std::vector<Fit> fits;
  fits.reserve(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) {
    problem.penalty = penalties[static_cast<std::size_t>(k)];
    Iterate x{points.betas.col(k), state.y - points.residuals.col(k)};
    const Vector bounds = settled.bounds.col(k);
    IndexSet support = nonzero_entries(x.beta);
    Vector at_support = restrict_to(bounds, support);
    Certificate c = certify(problem, x, {settled.dual_norms[k], std::move(support), std::move(at_support)});
    if (!c.meets(state.options.tolerance)) break;
    Fit& fit = fits.emplace_back();
    fit.status = Status::kConverged;
    fit.epochs = 1;
    const ScreeningRule& rule = screening_rule(state.options.screening);
    fit.screened = p - columns_left(rule, problem, c, bounds, state.options.tuning.screening);
    fit.trace = {{1, 0, c.primal, c.gap, p - fit.screened}};
    fit.solution = std::move(x);
    fit.certificate = std::move(c);
  }
  const Index accepted = std::ssize(fits);
  if (accepted < count)  // columns that the solver does not have made a point infeasible
    state.expect(penalties.subspan(static_cast<std::size_t>(count - 1)), points.betas.col(count - 1),
                 settled.values.col(count - 1));
  const Tuning::Lookahead& tuning = state.options.tuning.lookahead;
  state.ahead = accepted == 0           ? std::max(tuning.least_ahead, state.ahead / 2)
                : accepted + 1 >= count ? state.furthest()
                                        : tuning.ahead;
  if (accepted == 0) return {};
  state.x.move_to(fits.back().solution, fits.back().certificate.support);
  state.last = fits.back().trace.back();
  state.correlation.adopt(points.residuals.col(accepted - 1), settled.values.col(accepted - 1), settled.read,
                          settled.distances[accepted - 1]);
  if (accepted < count) state.extend(problem);
  const double share = 1 / static_cast<double>(accepted);
  const double passes = share * state.passes_since(read_before);
  const double seconds = share * watch.seconds(), cpu_seconds = share * watch.cpu_seconds();
  for (Fit& fit : fits) {
    fit.passes = passes;
    fit.seconds = seconds;
    fit.cpu_seconds = cpu_seconds;
    fit.trace.back().seconds = seconds;
  }
  return fits;
}

}  // namespace tyto
