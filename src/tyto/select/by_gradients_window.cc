// Which strengths and columns the next pass is about, and what it judges.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tyto/base/error.h"
#include "tyto/base/pass_tuning.h"
#include "tyto/math/entries.h"
#include "tyto/select/by_gradients.h"
#include "tyto/select/gradient_certificate.h"
#include "tyto/solve/clusters.h"

namespace tyto {
namespace {

IndexSet joined(const IndexSet& a, const IndexSet& b) {
  IndexSet result;
  std::ranges::set_union(a, b, std::back_inserter(result));
  return result;
}

// The columns that pull at a strength, with this gradient: those that a gradient step would move from 0.
IndexSet pulling(const Problem& problem, const Vector& gradient, double reach) {
  Vector moved = gradient;
  problem.penalty.scaled(reach).prox(moved, 1);
  return nonzero_entries(moved);
}

}  // namespace

void EstimateByGradients::advance() {
  finish_steps();
  if (passes_ >= PassTuning().most_passes) give_up();
  if (first_ == std::ssize(strengths_)) {
    finish();
    return;
  }
  widen_window();
  widen_working_set();
  if (!known_.empty()) solve_window();
}

// Steps that are done, in order.
void EstimateByGradients::finish_steps() {
  while (first_ < std::ssize(strengths_) && strengths_[static_cast<std::size_t>(first_)].done) {
    reference_ = std::move(strengths_[static_cast<std::size_t>(first_)]);
    append_step(reference_);
    ++first_;
    const PathStop stop =
        task_ == kPathTask ? rule_fired(options_.cv.path, estimate.path.steps) : PathStop::kNone;
    if (stop == PathStop::kNone || first_ == std::ssize(strengths_)) continue;
    estimate.path.stopped_by = stop;
    strengths_.resize(static_cast<std::size_t>(first_));
  }
}

// The models so far, with their certificates, are the answer; strengths that have none are left out.
void EstimateByGradients::give_up() {
  for (Strength& at : strengths_) {
    if (!at.done) at.status = Status::kEpochLimit;
    at.done = at.done || at.judged;
  }
  finish_steps();
  strengths_.resize(static_cast<std::size_t>(first_));
  if (!strengths_.empty()) return;
  throw DataError(
      fmt::format("data: expected a model after {} passes, got none: try a larger strength", passes_));
}

// Once most of a window is done, the next is twice as large.
void EstimateByGradients::widen_window() {
  const auto count = std::ssize(strengths_);
  const Index left = std::ssize(pending());
  const Index most =
      std::max<Index>(4, PassTuning().gradient_numbers / std::max<Index>(1, columns_.features()));
  if (window_ == 0)
    window_ = PassTuning().first_window;
  else if (end_ > 0 && 4 * left <= window_)
    window_ *= 2;
  window_ = std::min(window_, most);
  const Index end = std::min<Index>(count, first_ + window_);
  for (; end_ < end; ++end_) {
    Strength& fresh = strengths_[static_cast<std::size_t>(end_)];
    fresh.best = reference_.best;
    fresh.loss = reference_.loss;
    const Problem problem = estimate.regression.at(fresh.alpha).problem;
    const Vector beta = dense(fresh.best.beta);
    fresh.objective = fresh.loss + problem.penalty.value(beta) + 0.5 * problem.ridge * beta.squaredNorm();
  }
}

void EstimateByGradients::widen_working_set() {
  for (const Index k : pending()) {
    const Strength& at = strengths_[static_cast<std::size_t>(k)];
    const Problem problem = estimate.regression.at(at.alpha).problem;
    Vector gradient = at.best.gradient;
    add_ridge(problem, dense(at.best.beta), gradient);
    working_ = joined(working_, pulling(problem, gradient, PassTuning().reach));
  }
  if (!working_.empty() || columns_.features() == 0) return;
  working_ = largest_entries(reference_.best.gradient, 1);  // so that there is something to solve
}

// Between those at the steps on both sides.
CoMoments EstimateByGradients::curvature_at(Index step) const {
  const auto above = std::ranges::find_if(curvatures_, [&](const Curvature& c) { return c.step >= step; });
  if (above == curvatures_.begin()) return above->moments;
  const auto below = above - 1;
  if (above == curvatures_.end() || quadratic_) return below->moments;
  const double share =
      static_cast<double>(step - below->step) / static_cast<double>(above->step - below->step);
  return between(below->moments, above->moments, share);
}

void EstimateByGradients::solve_window() {
  FitOptions local = options_.fit;
  // The local problem has an objective of its own, and its error is one of several.
  constexpr double kLocal = 1e-3;
  constexpr double kLeastLocal = 1e-13;
  local.tolerance = std::max(kLocal * local.tolerance, std::min(kLeastLocal, local.tolerance));
  const SparseBeta* last = &reference_.best.beta;
  for (const Index k : pending()) {
    Strength& at = strengths_[static_cast<std::size_t>(k)];
    if (at.share == 1) {
      const Problem problem = estimate.regression.at(at.alpha).problem;
      const CoMoments curvature = curvature_at(k);
      const LocalModel model{known_, curvature, problem, options_.regression.intercept};
      at.target = solve(model, at.best, local, at.judged ? at.best.beta : *last);
    }
    at.trial = part_of_the_way(at.best, at.target, at.share);
    last = &at.target.beta;
  }
}

void EstimateByGradients::append_step(const Strength& at) {
  PathStep step;
  step.alpha = at.alpha;
  step.beta = at.best.beta;
  step.fit.status = at.status;
  step.fit.certificate = at.certificate;
  const Vector beta = dense(at.best.beta);
  const IndexSet support = nonzero_entries(beta);
  step.fit.cluster = cluster_numbers(beta, support);
  for (const Index number : step.fit.cluster) step.fit.clusters = std::max(step.fit.clusters, number + 1);
  step.clusters = step.fit.clusters;
  step.residual_norm = std::sqrt(2 * at.loss);
  step.explained = explained(step.residual_norm, std::sqrt(2 * null_loss_));
  step.coordinates = Vector::Constant(1, at.best.constant);
  estimate.path.steps.push_back(std::move(step));
}

void EstimateByGradients::finish() {
  done_ = true;
  const Regression& regression = estimate.regression;
  const Design& design = regression.problem.design;
  for (PathStep& step : estimate.path.steps) {
    Fit found = step.expanded();
    found.solution.coordinates = step.coordinates;
    found.certificate.support = nonzero_entries(found.solution.beta);
    Model model = make_model(data, options_.regression, regression.at(step.alpha), found, options_.fit);
    long double intercept = step.coordinates[0];
    for (SparseBeta::InnerIterator it(step.beta); it && centre_.size() > 0; ++it)
      intercept -= static_cast<long double>(centre_[it.index()]) * (it.value() / design.scale(it.index()));
    model.intercepts = {static_cast<double>(intercept)};
    model.classes = classes_;
    estimate.models.push_back(std::move(model));
  }
  estimate.path.passes = static_cast<double>(passes_);
  if (task_ == kFitTask) estimate.path.steps.front().fit.passes = estimate.path.passes;
  if (task_ == kPathTask && (options_.criteria || !options_.choose.empty())) add_criteria();
}

void EstimateByGradients::add_criteria() {
  Regression& regression = estimate.regression;
  GradientSums none;
  none.totals = Matrix::Zero(GradientSums::kTotals, 1);
  none.steepest = Vector::Zero(1);
  none.farthest = Vector::Zero(1);
  const SummedModel model{none, 0, means_, options_.regression.intercept, response_square_, 1};
  const SharedLoss stand_in = regression.problem.loss;
  regression.problem.loss = loss_of_sums(options_.regression.loss, model);
  estimate.criteria = criteria(estimate.path, regression.problem, options_.noise.sigma);
  mark_choices(options_, estimate);
  regression.problem.loss = stand_in;
}

void EstimateByGradients::took(double seconds, double cpu_seconds) {
  estimate.path.seconds = seconds;
  estimate.path.cpu_seconds = cpu_seconds;
  if (task_ == kPathTask) return;
  estimate.path.steps.front().fit.seconds = seconds;
  estimate.path.steps.front().fit.cpu_seconds = cpu_seconds;
}

}  // namespace tyto
