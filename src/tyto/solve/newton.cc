#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/solve/cluster_system.h"
#include "tyto/solve/solver.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

// Working sets, and on them patterns (MATH.md, section 7). An epoch takes the columns that are in the model
// or come closest to it, and solves the problem on them: it cuts the clusters whose columns move apart along
// the direction of steepest descent, solves the cluster problem, and repeats until no cluster is cut.
class Newton final : public Solver, public LookaheadSolver {
 public:
  explicit Newton(const Tuning& tuning) : tuning_(tuning) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    columns_.attach(problem.design, problem.ridge, work, problem.gram_cache);
    ridge_ = problem.ridge;
    reach_ = 1;
    gap_ = std::numeric_limits<double>::infinity();
    pattern_solved_ = false;
    cuts_.leaving = tuning_.pattern.leaving;
    if (fallback_) fallback_->attach(problem, x, work);
  }
  SolverTraits traits(const Tuning::Loop& tuning) const override {
    return fallback_ ? fallback_->traits(tuning) : SolverTraits{true, tuning.newton_patience};
  }
  LookaheadSolver* lookahead() override { return fallback_ ? nullptr : this; }
  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                   bool moved) override {
    if (fallback_) fallback_->restrict_to(problem, x, survivors, moved);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal& goal) override {
    if (fallback_) return fallback_->advance(problem, x, c, correlation, goal);
    // A first-order method goes on from here. It needs all of the gradient: so x stays, and is certified
    // again.
    if (too_large(problem, std::ssize(c.support))) {
      fallback_ = make_apgd({.tuning = tuning_});
      columns_ = WorkingSet(tuning_.working_set);
      system_ = ClusterSystem(tuning_);
      fallback_->attach(problem, x, *work_);
      return c.support;
    }
    choose(problem, x, c, correlation);
    start(problem, x, c, correlation, goal.exact);
    // Far from the solution these columns are not the right ones yet. A few of many columns are little work
    // beside the pass that comes next: they are solved to the goal at once.
    const Tuning::Descent& tuning = tuning_.descent;
    const bool few = tuning_.working_set.few_ratio * columns_.size() < problem.design.cols();
    const double enough = c.gap > tuning.far * c.primal ? tuning.far_share * c.gap : 0;
    const double least = few ? 0 : tuning.gap_share * c.gap;
    descend(problem.penalty.head(std::ssize(columns_.present())),
            {.gap = std::max(tuning.goal_share * goal.gap, least), .enough = enough}, goal.stop);
    pattern_solved_ = true;
    return finish(problem, x);
  }

  bool look_ahead(const Problem& problem, Vector& beta, double tolerance) override {
    if (fallback_ || stale_ || columns_.size() == 0 || !columns_.covariance()) return false;
    columns_.locate(problem.design);
    for (const Index slot : columns_.present())
      if (slot >= std::ssize(known_) || !known_[at(slot)]) return false;
    Vector from = Vector::Zero(beta.size());
    put(this->beta(), from);
    if (from != beta) return false;
    const SortedL1 penalty = problem.penalty.head(std::ssize(columns_.present()));
    pattern_solved_ = false;
    const Depth depth{.relative = tuning_.descent.goal_share * tolerance};
    if (!descend(penalty, depth, [] { return false; })) return false;
    put(this->beta(), beta);
    return true;
  }
  void recall(Vector& correlation) const override {
    for (const Index slot : columns_.present()) correlation[columns_.column(slot)] = state_[slot];
  }
  bool prefetch(const IndexSet& columns) override {
    prefetched_ = columns;
    return !columns_.contains(columns);
  }
  void prepare(const Problem& problem, const Iterate& x, const Certificate& c, const Vector& correlation,
               const Exact& exact) override {
    if (fallback_ || !columns_.covariance()) return;
    include(problem.design, c.support);
    start(problem, x, c, correlation, exact);
  }

 private:
  // How small a gap on the working set is asked for.
  struct Depth {
    double gap = 0;       // absolute
    double relative = 0;  // as a share of the objective; the larger of the two counts
    double enough = 0;    // a gap that is accepted once rounds become slow; 0: none
  };

  // Rounds of cutting and solving until the gap is small enough, or nothing helps. True if it is small
  // enough.
  bool descend(const SortedL1& penalty, const Depth& depth, const std::function<bool()>& stop) {
    const Tuning::Descent& tuning = tuning_.descent;
    const double stuck = depth.enough > 0 ? tuning.fast : tuning.stuck;
    Vector ascent;
    double precision = tuning.precision, last = std::numeric_limits<double>::infinity();
    bool followed = false;
    for (int round = 0; round < tuning.rounds; ++round) {
      columns_.ascent(state_, ascent);
      if (ridge_ > 0 && !columns_.covariance()) ascent -= ridge_ * beta();
      const bool solved = round > 0 || pattern_solved_ || system_.pattern().empty();
      if (!solved && system_.follow(ascent, penalty, columns_, state_)) continue;
      const auto [gap, primal] = estimate(ascent, penalty);
      if (!std::isfinite(gap)) return false;  // overflow, or data that changed
      const double target = std::max(depth.gap, depth.relative * primal);
      if (gap <= target) {  // one more step makes it exact, if the pattern is right
        if (std::exchange(followed, true) || gap <= rounding::kExactGap * primal) return true;
        if (!system_.follow(ascent, penalty, columns_, state_)) return true;
        continue;
      }
      if (gap <= depth.enough && gap > tuning.very_slow * last) return false;
      if (round > tuning.least_rounds && stop()) break;  // the next epoch goes on from there
      const bool judged = round > tuning.free_rounds;
      if (judged && gap > tuning.worse * last) cuts_.share = std::max(tuning.least_cuts, 0.5 * cuts_.share);
      if (gap < tuning.fast * last) cuts_.share = std::min(1.0, 2 * cuts_.share);
      if (gap > stuck * last) precision = std::max(tuning.sharper * precision, rounding::kExactGap);
      const bool all_parts = judged && depth.enough > 0 && gap > tuning.slow * last;
      cuts_.parts = all_parts ? Parts::kAll : Parts::kTwo;
      last = gap;
      // A pattern that has been solved for this penalty is cut further. If no cluster is cut, it has to be
      // solved more exactly: the gap goes with the root of the error of the objective.
      const Index clusters_before = std::ssize(system_.pattern()), before = columns_in(system_.pattern());
      Index left_zero = 0;  // clusters
      if (solved && !refine(ascent, penalty, left_zero)) {
        if (precision <= rounding::kExactGap) break;
        const double sharper = std::clamp(target * target / (gap * gap), tuning.sharpest, tuning.sharper);
        precision = std::max(precision * sharper, rounding::kExactGap);
      }
      const Index tried = columns_in(system_.pattern());
      ClusterProblem clusters = system_.problem(ascent, penalty);
      const double rough = gap > tuning.far * primal ? tuning.rough : 1;  // clusters will be cut again
      clusters.solve(rough * precision * std::max(target, tuning.target_share * gap));
      system_.adopt(std::move(clusters), columns_, state_);
      allow_leaving(tried - before, before, left_zero + clusters_before);
    }
    return false;
  }

  // Called after a round that had `before` columns in clusters, and let `tried` more leave zero, in `most`
  // clusters together with those that there were. More may leave in the next round, if most of those columns
  // stayed away from zero and some of them joined other clusters.
  void allow_leaving(Index tried, Index before, Index most) {
    const Tuning::Pattern& tuning = tuning_.pattern;
    const Pattern& pattern = system_.pattern();
    const bool joined =
        above_share(columns_in(pattern) - before, tuning.joined_share, tried) && std::ssize(pattern) < most;
    cuts_.leaving = joined ? std::min(2 * cuts_.leaving, tuning.most_leaving) : tuning.leaving;
  }

  // Whether a factor of the cluster problem takes longer than many passes of a first-order method. The same
  // goes for a sparse model of a large share of all columns, of which the solver would keep a copy.
  bool too_large(const Problem& problem, Index nonzeros) const {
    const Tuning::Fallback& tuning = tuning_.fallback;
    const Index clusters = std::ssize(system_.pattern());
    if (problem.design.is_sparse() && nonzeros > tuning.sparse_support &&
        above_share(nonzeros, tuning.sparse_share, columns_.full_cols()))
      return true;
    return clusters > tuning.clusters ||
           (clusters > tuning.some_clusters &&
            clusters * clusters * clusters > tuning.cubes_per_entry * columns_.entries());
  }

  // How many columns are little work beside a pass over all of them. The Gram matrix of 2 sqrt(p) dense
  // columns is no more work than two passes, and much faster. A first working set is smaller where J°(X'y),
  // which is 1 / scale there, is not much more than 1.
  Index unnoticed(const Design& design, bool cold, double scale) const {
    const Tuning::WorkingSet& tuning = tuning_.working_set;
    const Index p = design.cols();
    const bool first = cold && !design.is_sparse();
    const double growth = std::min(1.0, tuning.first_slope / scale - tuning.first_slope);
    const Index part = share_of(first ? growth * tuning.first_share : tuning.share, p);
    if (design.is_sparse()) return columns_.better_as_covariance(part) ? 0 : part;
    return std::min(part, static_cast<Index>(tuning.most_roots * std::sqrt(static_cast<double>(p))));
  }

  // The support, and about as many others, those with the largest |x_j'r|; more after a failure. A Gram
  // matrix grows by columns that are expected, or else only by those with |x_j'r| near their weight: a new
  // column costs as many products as there are columns.
  void choose(const Problem& problem, const Iterate& x, const Certificate& c, const Vector& correlation) {
    const Tuning::WorkingSet& tuning = tuning_.working_set;
    const Index p = problem.design.cols();
    const bool failed = c.gap > tuning.failure * gap_;
    reach_ = failed ? std::min(2 * reach_, p) : std::max<Index>(1, reach_ / 2);
    gap_ = c.gap;
    const Index little = unnoticed(problem.design, c.support.empty(), c.scale);
    const Index count = std::min(p, reach_ * std::max({tuning.least, std::ssize(c.support), little}));
    Vector room;
    const Vector& counted = problem.penalty.counted(correlation, room);
    IndexSet want = hardest(c.support, counted, count);
    if (columns_.covariance() && !columns_.contains(problem.design, want)) {
      const double weight = problem.penalty.weight(count - 1);
      const double near = tuning.near_weight * weight / static_cast<double>(reach_);
      std::erase_if(want, [&](Index j) { return x.beta[j] == 0 && std::abs(counted[j]) < near; });
    }
    include(problem.design, want);
  }

  // Takes in these columns, and those that are expected.
  void include(const Design& design, const IndexSet& columns) {
    IndexSet both;
    both.reserve(columns.size() + prefetched_.size());
    if (design.cols() != columns_.full_cols()) prefetched_.clear();
    std::ranges::set_union(columns, prefetched_, std::back_inserter(both));
    prefetched_.clear();
    if (!columns_.contains(design, both) && rest_pays(design, std::ssize(both)))
      both = all_but({}, design.cols());
    if (columns_.include(design, both)) stale_ = true;
  }

  // Where a Gram matrix of short dense columns has many of them, to add all others is less work than to find
  // out again and again which are missing.
  bool rest_pays(const Design& design, Index wanted) const {
    const Tuning::WorkingSet& tuning = tuning_.working_set;
    const Index n = design.rows(), p = design.cols();
    return columns_.covariance() && !design.is_sparse() && above_share(wanted, tuning.whole_share, p) &&
           tuning.whole_rows * p < n && n <= tuning.whole_column;
  }

  // The support, and the `count` other columns with the largest entries.
  static IndexSet hardest(const IndexSet& support, const Vector& counted, Index count) {
    const IndexSet most = largest_entries(counted, std::ssize(support) + count);
    IndexSet others, result;
    others.reserve(most.size());
    std::ranges::set_difference(most, support, std::back_inserter(others));
    keep_largest(others, counted, count);
    result.reserve(support.size() + others.size());
    std::ranges::merge(support, others, std::back_inserter(result));
    return result;
  }

  void start(const Problem& problem, const Iterate& x, const Certificate& c, const Vector& correlation,
             const Exact& exact) {
    Vector beta = Vector::Zero(columns_.size());
    for (const Index slot : columns_.present()) beta[slot] = x.beta[columns_.column(slot)];
    start_ = beta;
    // The pattern of the last time, if x is still its point and its columns have their slots.
    const bool carried = !stale_ && this->beta() == beta;
    if (!carried) system_.assign(pattern_of(beta), columns_);
    stale_ = false;
    rr_ = c.residual_norm * c.residual_norm;
    if (columns_.covariance())
      state_ = start_ascent_ =
          read_ascent(problem, loss_at(problem, x).residual, correlation, exact, carried);
    else
      state_ = loss_at(problem, x).residual;
  }

  // X'r by slot: from `correlation` where it is exact; from the state, which the Gram matrix has moved along,
  // if the pattern is `carried`; else from the data.
  Vector read_ascent(const Problem& problem, const Vector& r, const Vector& correlation, const Exact& exact,
                     bool carried) {
    Vector ascent = Vector::Zero(columns_.size());
    std::vector<Index> unread, slots;
    for (const Index slot : columns_.present()) {
      const Index j = columns_.column(slot);
      if (exact(j)) {
        ascent[slot] = correlation[j];
      } else if (carried && slot < std::ssize(known_) && known_[at(slot)]) {
        ascent[slot] = state_[slot];
      } else {
        unread.push_back(j);
        slots.push_back(slot);
      }
    }
    Vector values(std::ssize(unread));
    problem.design.transpose_multiply(unread, r, values.data(), *work_);
    for (Index k = 0; k < values.size(); ++k) ascent[slots[at(k)]] = values[k];
    known_.assign(at(columns_.size()), false);
    for (const Index slot : columns_.present()) known_[at(slot)] = true;
    return ascent;
  }

  Vector beta() const {
    Vector beta = Vector::Zero(columns_.size());
    for (const Cluster& cluster : system_.pattern())
      for (std::size_t i = 0; i < cluster.columns.size(); ++i)
        beta[cluster.columns[i]] = cluster.signs[i] * cluster.magnitude;
    return beta;
  }

  // The gap and the objective on the working set.
  struct Estimate {
    double gap, primal;
  };
  Estimate estimate(const Vector& ascent, const SortedL1& penalty) const {
    double norm = 0, product = 0, squares = 0;  // J(b), b'X'r, b'b
    Index above = 0;
    for (const Cluster& cluster : system_.pattern()) {
      const Index below = above + cluster.size();
      norm += cluster.magnitude * (penalty.weight_sum(below) - penalty.weight_sum(above));
      product += cluster.magnitude * signed_sum(cluster, ascent);
      squares += static_cast<double>(cluster.size()) * cluster.magnitude * cluster.magnitude;
      above = below;
    }
    const double rr = columns_.covariance()
                          ? std::max(0.0, rr_ - (beta() - start_).dot(start_ascent_ + ascent))
                          : state_.squaredNorm() + ridge_ * squares;
    const bool all = std::ssize(columns_.present()) == columns_.size();
    const double bound = penalty.dual_norm(all ? ascent : tyto::restrict_to(ascent, columns_.present()));
    const Gap gap = quadratic_gap(rr, rr + product, norm, product, bound, penalty.nonnegative());
    return {gap.gap, 0.5 * rr + norm};
  }

  // Cuts clusters whose columns move apart; false if there are none. Says how many clusters left zero.
  bool refine(const Vector& ascent, const SortedL1& penalty, Index& left_zero) {
    Refinement next = refined(system_.take_pattern(), columns_.present(), ascent, penalty, cuts_);
    system_.refine(std::move(next.pattern), next.origin, columns_);
    left_zero = next.left_zero;
    return next.changed;
  }

  IndexSet finish(const Problem& problem, Iterate& x) {
    const Vector beta = this->beta();
    put(beta, x.beta);  // the support of x before is part of the working set
    IndexSet support;
    for (const Index slot : columns_.present())
      if (beta[slot] != 0) support.push_back(columns_.column(slot));
    std::ranges::sort(support);
    problem.design.multiply(support, x.beta(support), x.eta, *work_);
    return support;
  }
  // From slots to columns.
  void put(const Vector& by_slot, Vector& beta) const {
    for (const Index slot : columns_.present()) beta[columns_.column(slot)] = by_slot[slot];
  }

  Tuning tuning_;
  const Work* work_ = nullptr;
  std::unique_ptr<Solver> fallback_;
  WorkingSet columns_{tuning_.working_set};
  ClusterSystem system_{tuning_};
  Vector state_, start_, start_ascent_;
  IndexSet prefetched_;
  std::vector<bool> known_;  // by slot: state_ was X'r when the epoch began, so that it is still
  double rr_ = 0, ridge_ = 0;
  Index reach_ = 1;
  double gap_ = 0;
  Cuts cuts_{.leaving = tuning_.pattern.leaving, .tuning = tuning_.pattern};
  bool stale_ = false;           // slots have changed their columns: the pattern is not that of x
  bool pattern_solved_ = false;  // the pattern has been solved for the present penalty
};

}  // namespace

std::unique_ptr<Solver> make_newton(const SolverOptions& options) {
  return std::make_unique<Newton>(options.tuning);
}

}  // namespace tyto
