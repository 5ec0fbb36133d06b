#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"
#include "tyto/solve/cluster_system.h"
#include "tyto/solve/solver.h"
#include "tyto/solve/subscript.h"

namespace tyto {
namespace {

// Working sets, and on them patterns (MATH.md, section 7). An epoch takes the columns that are in the model
// or come closest to it, and solves the problem on them: split the clusters that pull apart, solve the
// cluster problem of what results, until nothing pulls apart any more.
class Newton final : public Solver {
 public:
  void attach(const Problem& problem, const Iterate& x) override {
    columns_.attach(problem.design, problem.ridge);
    ridge_ = problem.ridge;
    reach_ = 1, gap_ = std::numeric_limits<double>::infinity();
    settled_ = false, cuts_.leaving = Cuts::kLeaving;
    if (fallback_) fallback_->attach(problem, x);
  }
  bool takes_bounds() const override { return !fallback_; }
  Index patience() const override { return fallback_ ? fallback_->patience() : 20; }
  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                   bool moved) override {
    if (fallback_) fallback_->restrict_to(problem, x, survivors, moved);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal& goal) override {
    if (fallback_) return fallback_->advance(problem, x, c, correlation, goal);
    // A first-order method, from here on; it wants the whole gradient first.
    if (too_large(problem, std::ssize(c.support))) {
      fallback_ = make_apgd({});
      columns_ = {}, system_ = {};
      fallback_->attach(problem, x);
      return c.support;
    }
    choose(problem, x, c, correlation);
    start(problem, x, c, correlation, goal.exact);
    // Far from the solution these columns are not the right ones yet. A few of many are little work beside
    // the pass that comes next.
    const bool few = 32 * columns_.size() < problem.design.cols();
    const double enough = c.gap > 0.05 * c.primal ? 0.03 * c.gap : 0;
    descend(problem.penalty.head(std::ssize(columns_.present())),
            {.gap = std::max(0.5 * goal.gap, few ? 0 : 0.0005 * c.gap), .enough = enough}, goal.stop);
    settled_ = true;
    return finish(problem, x);
  }

  bool foresee(const Problem& problem, Vector& beta, double tolerance) override {
    if (fallback_ || stale_ || columns_.size() == 0 || !columns_.covariance()) return false;
    columns_.locate(problem.design);
    for (const Index slot : columns_.present())
      if (slot >= std::ssize(known_) || !known_[at(slot)]) return false;
    if (Vector from = Vector::Zero(beta.size()); put(this->beta(), from), from != beta) return false;
    const SortedL1 penalty = problem.penalty.head(std::ssize(columns_.present()));
    settled_ = false;
    if (!descend(penalty, {.relative = 0.5 * tolerance}, [] { return false; })) return false;
    put(this->beta(), beta);
    return true;
  }
  void recall(Vector& correlation) const override {
    for (const Index slot : columns_.present()) correlation[columns_.column(slot)] = state_[slot];
  }
  bool expect(const IndexSet& columns) override {
    expected_ = columns;
    return !columns_.contains(columns);
  }
  void prepare(const Problem& problem, const Iterate& x, const Certificate& c, const Vector& correlation,
               const Exact& exact) override {
    if (fallback_ || !columns_.covariance()) return;
    include(problem.design, c.support);
    start(problem, x, c, correlation, exact);
  }

 private:
  static constexpr int kRounds = 100;

  // How small a gap on the working set is asked for.
  struct Depth {
    double gap = 0;       // absolutely, or
    double relative = 0;  // as a part of the objective;
    double enough = 0;    // this will do, if it has become slow
  };

  // Rounds of splitting and solving until the gap is small enough, or nothing helps. True if it is.
  bool descend(const SortedL1& penalty, const Depth& depth, const std::function<bool()>& stop) {
    // A round's gap over that of the last one.
    constexpr double kFast = 0.3, kSlow = 0.5, kVerySlow = 0.6, kWorse = 1.5;
    const double stuck = depth.enough > 0 ? kFast : 0.8;  // then clusters are solved more exactly
    Vector ascent;
    constexpr double kExact = 1e-12;
    double precision = 1e-2, last = std::numeric_limits<double>::infinity();
    bool followed = false;
    for (int round = 0; round < kRounds; ++round) {
      columns_.ascent(state_, ascent);
      if (ridge_ > 0 && !columns_.covariance()) ascent -= ridge_ * beta();
      const bool solved = round > 0 || settled_ || system_.pattern().empty();
      if (!solved && system_.follow(ascent, penalty, columns_, state_)) continue;
      const auto [gap, primal] = estimate(ascent, penalty);
      const double target = std::max(depth.gap, depth.relative * primal);
      if (std::isnan(gap)) break;  // of data that somebody changed
      if (gap <= target) {  // what is good enough is made exact, where one step will do
        if (std::exchange(followed, true) || gap <= kExact * primal) return true;
        if (!system_.follow(ascent, penalty, columns_, state_)) return true;
        continue;
      }
      if (gap <= depth.enough && gap > kVerySlow * last) return false;
      if (round > 2 && stop()) break;  // a few rounds at least: the next epoch goes on from there
      if (round > 1 && gap > kWorse * last) cuts_.share = std::max(0.1, 0.5 * cuts_.share);
      if (gap < kFast * last) cuts_.share = std::min(1.0, 2 * cuts_.share);
      if (gap > stuck * last) precision = std::max(0.1 * precision, kExact);
      cuts_.parts = round > 1 && depth.enough > 0 && gap > kSlow * last ? Parts::kAll : Parts::kTwo;
      last = gap;
      // A pattern that has been solved for this penalty is split further. If it is not, it has to be solved
      // more exactly: the gap goes with the root of what the objective is off by.
      const Pattern& pattern = system_.pattern();
      const Index clusters_before = std::ssize(pattern), before = columns_in(pattern);
      Index left_zero = 0;  // clusters
      if (solved && !refine(ascent, penalty, left_zero)) {
        if (precision <= kExact) break;
        precision = std::max(precision * std::clamp(target * target / (gap * gap), 1e-4, 0.1), kExact);
      }
      const Index tried = columns_in(pattern);
      ClusterProblem clusters = system_.problem(ascent, penalty);
      const double rough = gap > 0.05 * primal ? 30 : 1;  // clusters will come apart again
      clusters.solve(rough * precision * std::max(target, 0.01 * gap));
      system_.adopt(std::move(clusters), columns_, state_);
      // Where what leaves zero stays away from it, and some joins the clusters that there are, more may leave
      // next time.
      const bool joined = 4 * (columns_in(pattern) - before) > 3 * (tried - before) &&
                          std::ssize(pattern) - clusters_before < left_zero;
      cuts_.leaving = joined ? std::min(2 * cuts_.leaving, Cuts::kMostLeaving) : Cuts::kLeaving;
    }
    return false;
  }

  // Where a factor of the cluster problem takes longer than many passes of a first-order method.
  // So does a sparse model of more than a quarter of all columns, and it would copy as much of X.
  bool too_large(const Problem& problem, Index nonzeros) const {
    const Index clusters = std::ssize(system_.pattern());
    if (problem.design.is_sparse() && nonzeros > 1000 && 4 * nonzeros > columns_.full_cols()) return true;
    return clusters > 2500 || (clusters > 500 && clusters * clusters * clusters > 2000 * columns_.entries());
  }

  // How many columns are little work beside a pass over all of them. The Gram matrix of 2 sqrt(p) is no more
  // than two passes, and much faster than these where columns are dense. Of a first working set, fewer are
  // wanted where J°(X'y), which is 1 over the scale there, is not much more than 1.
  Index unnoticed(const Design& design, bool cold, double scale) const {
    const Index p = design.cols();
    const double share = cold && !design.is_sparse() ? std::min(1.0, 0.5 / scale - 0.5) / 64 : 1.0 / 256;
    const auto part = static_cast<Index>(share * static_cast<double>(p));
    if (design.is_sparse()) return columns_.better_as_covariance(part) ? 0 : part;
    return std::min(part, static_cast<Index>(2 * std::sqrt(static_cast<double>(p))));
  }

  // The support, and about as many of the columns that pull hardest. A Gram matrix grows by what is expected,
  // or else only by what comes near its price: a column costs as many products as there are columns.
  void choose(const Problem& problem, const Iterate& x, const Certificate& c, const Vector& correlation) {
    const Index p = problem.design.cols();
    reach_ = c.gap > 0.5 * gap_ ? std::min(2 * reach_, p)
                                : std::max<Index>(1, reach_ / 2);  // further after a failure
    gap_ = c.gap;
    const Index little = unnoticed(problem.design, c.support.empty(), c.scale);
    const Index count = std::min(p, reach_ * std::max({Index{32}, std::ssize(c.support), little}));
    Vector room;
    const Vector& pull = problem.penalty.counted(correlation, room);
    IndexSet want = hardest(c.support, pull, count);
    if (columns_.covariance() && !columns_.contains(problem.design, want)) {
      const double price = problem.penalty.weight(count - 1);
      const double near = 0.9 * price / static_cast<double>(reach_);
      std::erase_if(want, [&](Index j) { return x.beta[j] == 0 && std::abs(pull[j]) < near; });
    }
    include(problem.design, want);
  }

  // These columns, and those that are expected.
  void include(const Design& design, const IndexSet& columns) {
    IndexSet both;
    both.reserve(columns.size() + expected_.size());
    if (design.cols() != columns_.full_cols()) expected_.clear();
    std::ranges::set_union(columns, expected_, std::back_inserter(both));
    expected_.clear();
    if (!columns_.contains(design, both) && rest_pays(design, std::ssize(both)))
      both = all_but({}, design.cols());
    if (columns_.include(design, both)) stale_ = true;
  }

  // Where a Gram matrix of short dense columns has many of them, the rest is less work than to find out time
  // and again what is missing.
  bool rest_pays(const Design& design, Index wanted) const {
    constexpr Index kShort = 4096;
    const Index n = design.rows(), p = design.cols();
    return columns_.covariance() && !design.is_sparse() && 5 * wanted > 2 * p && 2 * p < n && n <= kShort;
  }

  // The support, and `count` others that pull hardest.
  static IndexSet hardest(const IndexSet& support, const Vector& pull, Index count) {
    const IndexSet most = largest_entries(pull, std::ssize(support) + count);
    IndexSet others, result;
    others.reserve(most.size());
    std::ranges::set_difference(most, support, std::back_inserter(others));
    keep_largest(others, pull, count);
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
      state_ = start_ascent_ = read_ascent(problem, problem.y - x.eta, correlation, exact, carried);
    else
      state_ = problem.y - x.eta;
  }

  // X'r by slot: what is exact already; if the pattern is `carried`, what the Gram matrix made of the last
  // one; else from the data.
  Vector read_ascent(const Problem& problem, const Vector& r, const Vector& correlation, const Exact& exact,
                     bool carried) {
    Vector ascent = Vector::Zero(columns_.size());
    std::vector<Index> unread, slots;
    for (const Index slot : columns_.present()) {
      const Index j = columns_.column(slot);
      if (exact(j))
        ascent[slot] = correlation[j];
      else if (carried && slot < std::ssize(known_) && known_[at(slot)])
        ascent[slot] = state_[slot];
      else
        unread.push_back(j), slots.push_back(slot);
    }
    Vector values(std::ssize(unread));
    problem.design.transpose_multiply(unread, r, values.data());
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
    const Gap gap = duality_gap(rr, rr + product, norm, product, bound, penalty.nonnegative());
    return {gap.gap, 0.5 * rr + norm};
  }

  // Cuts clusters that pull apart; false if there are none. Says how many left zero.
  bool refine(const Vector& ascent, const SortedL1& penalty, Index& left_zero) {
    Refinement next = refined(system_.take_pattern(), columns_.present(), ascent, penalty, cuts_);
    system_.refine(std::move(next.pattern), next.origin, columns_);
    left_zero = next.left_zero;
    return next.changed;
  }

  IndexSet finish(const Problem& problem, Iterate& x) {
    const Vector beta = this->beta();
    put(beta, x.beta);  // the columns that were not 0 before are among them
    IndexSet support;
    for (const Index slot : columns_.present())
      if (beta[slot] != 0) support.push_back(columns_.column(slot));
    std::ranges::sort(support);
    problem.design.multiply(support, x.beta(support), x.eta);
    return support;
  }
  // From slots to columns.
  void put(const Vector& by_slot, Vector& beta) const {
    for (const Index slot : columns_.present()) beta[columns_.column(slot)] = by_slot[slot];
  }

  std::unique_ptr<Solver> fallback_;
  WorkingSet columns_;
  ClusterSystem system_;
  Vector state_, start_, start_ascent_;
  IndexSet expected_;
  std::vector<bool> known_;  // by slot: state_ is right there, and not only moved along
  double rr_ = 0, ridge_ = 0;
  Index reach_ = 1;
  double gap_ = 0;
  Cuts cuts_;
  bool stale_ = false;
  bool settled_ = false;  // the pattern is that of the penalty at hand
};

}  // namespace

std::unique_ptr<Solver> make_newton(const StochasticOptions&) { return std::make_unique<Newton>(); }

}  // namespace tyto
