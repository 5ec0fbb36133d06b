// Look-ahead: the fits of several penalties, certified together.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/solve/path_state.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

class LookaheadRun {
 public:
  LookaheadRun(PathState& state, LookaheadSolver& solver, std::span<const SortedL1> penalties, Watch& watch)
      : state_(state),
        solver_(solver),
        tuning_(state.options.tuning.lookahead),
        penalties_(penalties),
        watch_(watch),
        problem_(state.problem(penalties.front())) {}

  std::vector<Fit> solve() {
    Matrix betas = propose();
    const Index count = betas.cols();
    if (count == 0 || (lacks_columns_ && count == 1)) return {};
    const Points points = state_.subspace.points_at(penalties_, std::move(betas));
    const auto gradient = state_.subspace.evaluate_dual_norm(points);
    const Index p = state_.data.design.cols();
    if (!state_.takes_all() && std::ssize(gradient.read) == p)  // directions that cost no reading
      for (const Index k : {count - 1, count / 2})
        state_.subspace.know(points.residuals.col(k), gradient.values.col(k));
    std::vector<Fit> fits = certified(points, gradient);
    const Index accepted = std::ssize(fits);
    if (accepted < count)  // columns that the solver does not have made a point infeasible
      prefetch(count - 1, points.betas.col(count - 1), gradient.values.col(count - 1));
    adapt(accepted, count);
    if (accepted == 0) return {};
    state_.x.move_to(fits.back().solution, fits.back().certificate.support);
    state_.last = fits.back().trace.back();
    state_.drift.adopt(points.residuals.col(accepted - 1), gradient.values.col(accepted - 1), gradient.read,
                       gradient.distances[accepted - 1]);
    if (accepted < count) take_in_columns();
    share_costs(fits);
    return fits;
  }

 private:
  // The solver's points, column by column. One that lacks columns is the last. If it is the first, they are
  // taken in, and it is tried again. Only how many points there are depends on the clock.
  Matrix propose() {
    const Index most = std::min<Index>(state_.ahead, std::ssize(penalties_));
    Matrix betas(state_.data.design.cols(), most);
    Vector beta = state_.x.beta;
    Index count = 0;
    bool extended = false;
    while (!lacks_columns_ && count < most && !watch_.should_stop(state_.last)) {
      problem_.penalty = penalties_[at(count)];
      if (!solver_.look_ahead(problem_, beta, state_.options.tolerance)) break;
      lacks_columns_ = lacks_columns(count, beta);
      if (lacks_columns_ && count == 0 && !extended) {
        take_in_columns();
        beta = state_.x.beta;
        lacks_columns_ = false;
        extended = true;
      } else {
        betas.col(count++) = beta;
      }
    }
    betas.conservativeResize(betas.rows(), count);
    return betas;
  }

  // Whether columns that the solver does not have seem to make its point for penalty k infeasible. Then it is
  // told of them.
  bool lacks_columns(Index k, const Vector& beta) {
    Vector guess = state_.subspace.guess(beta);
    if (guess.size() == 0) return false;
    solver_.recall(guess);
    return penalties_[at(k)].dual_norm(guess) > tuning_.too_hard && prefetch(k, beta, guess);
  }

  // Tells the solver which columns the penalties from k on will want, from X'r at a point; true if it lacks
  // some. A column is wanted where |x_j'r| is at least the weight of the next rank, some strengths later.
  bool prefetch(Index k, const Vector& beta, const Vector& correlation) {
    const auto next = penalties_.subspan(at(k));
    const Index p = beta.size();
    const Index nonzeros = (beta.array() != 0).count();
    const auto weight = [&](Index later) { return next[at(later)].weight(std::min(nonzeros, p - 1)); };
    Vector room;
    const Vector& counted = next.front().counted(correlation, room);
    const double least = std::max(weight(0) / tuning_.weight_ratio,
                                  tuning_.least_correlation * counted.lpNorm<Eigen::Infinity>());
    const double soon = weight(std::min(tuning_.soon, std::ssize(next) - 1));
    return solver_.prefetch(entries_above(counted, std::max(least, soon)));
  }

  // The solver takes in the columns it was told of, at the point of the last certificate.
  void take_in_columns() {
    const Iterate x{state_.x.beta, state_.x.eta};
    Certificate c;
    c.support = state_.x.support();
    c.residual_norm =
        std::sqrt((problem_.loss->response() - x.eta).squaredNorm() + problem_.ridge * x.beta.squaredNorm());
    solver_.prepare(problem_, x, c, state_.drift.values(problem_, x.beta, state_.all),
                    [this](Index j) { return state_.drift.exact(j); });
  }

  // The fits up to the first point that misses the tolerance.
  std::vector<Fit> certified(const Points& points, const SubspaceBounds::DualNorms& gradient) {
    const ScreeningRule& rule = screening_rule(state_.options.screening);
    const Index p = state_.data.design.cols();
    std::vector<Fit> fits;
    fits.reserve(at(points.betas.cols()));
    for (Index k = 0; k < points.betas.cols(); ++k) {
      problem_.penalty = penalties_[at(k)];
      Iterate x{points.betas.col(k), problem_.loss->response() - points.residuals.col(k)};
      const Vector bounds = gradient.bounds.col(k);
      IndexSet support = nonzero_entries(x.beta);
      Vector at_support = restrict_to(bounds, support);
      Certificate c = certify(problem_, x, loss_at(problem_, x),
                              {gradient.dual_norms[k], std::move(support), std::move(at_support)});
      if (!c.meets(state_.options.tolerance)) break;
      const Index left = columns_left(rule, problem_, c, bounds, state_.options.tuning.screening);
      Fit& fit = fits.emplace_back(make_fit(Status::kConverged, std::move(x), std::move(c)));
      fit.epochs = 1;
      fit.screened = p - left;
      fit.trace = {{1, 0, fit.certificate.primal, fit.certificate.gap, left}};
    }
    return fits;
  }

  // How many are tried at once the next time.
  void adapt(Index accepted, Index count) {
    if (accepted == 0)
      state_.ahead = std::max(tuning_.least_ahead, state_.ahead / 2);
    else if (accepted + 1 < count)
      state_.ahead = tuning_.ahead;
    else if (!state_.takes_all())
      state_.ahead = tuning_.most_ahead;
    else  // no column can be missing: the memory of the residuals is the limit
      state_.ahead = std::max(tuning_.most_ahead, tuning_.residual_entries / state_.data.design.rows());
  }

  void share_costs(std::vector<Fit>& fits) {
    const double share = 1 / static_cast<double>(fits.size());
    const double passes = share * state_.take_passes();
    const double seconds = share * watch_.seconds();
    const double cpu_seconds = share * watch_.cpu_seconds();
    for (Fit& fit : fits) {
      fit.passes = passes;
      fit.seconds = seconds;
      fit.cpu_seconds = cpu_seconds;
      fit.trace.back().seconds = seconds;
    }
  }

  PathState& state_;
  LookaheadSolver& solver_;
  const Tuning::Lookahead& tuning_;
  std::span<const SortedL1> penalties_;
  Watch& watch_;
  Problem problem_;
  bool lacks_columns_ = false;  // of the last point that was proposed
};

}  // namespace

bool PathState::takes_all() const {
  const Tuning::Lookahead& tuning = options.tuning.lookahead;
  const Design& design = data.design;
  return !design.is_sparse() && design.cols() <= tuning.all_columns &&
         tuning.rows_per_column * design.cols() < design.rows();
}

std::vector<Fit> PathState::look_ahead(std::span<const SortedL1> penalties, Watch& watch) {
  LookaheadSolver* const ahead_solver = solver->lookahead();
  if (ahead_solver == nullptr) return {};
  const bool many = std::ssize(penalties) > options.tuning.lookahead.ahead;
  if (!std::exchange(on_path, true) && many && takes_all())
    ahead_solver->prefetch(all_but({}, data.design.cols()));
  if (!may_look_ahead()) return {};
  return LookaheadRun(*this, *ahead_solver, penalties, watch).solve();
}

}  // namespace tyto
