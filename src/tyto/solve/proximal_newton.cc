#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/kernels.h"
#include "tyto/solve/quadratic_model.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Proximal Newton steps on working sets, for losses whose curvature changes (MATH.md, section 14). An epoch
// takes the columns that are in the model or come closest to it. On them, a step replaces the loss by its
// quadratic model, which is a problem with squared error: rows times the roots of the curvature, without what
// lies along the intercept and the unpenalised columns. The solver for squared error solves it. Working set
// and curvature are kept while they serve, also from one penalty to the next.
class ProximalNewton final : public Solver {
 public:
  explicit ProximalNewton(const SolverOptions& options)
      : options_(options), tuning_(options.tuning.proximal), model_(options) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    reach_ = 1;
    gap_ = kInfinity;
    if (fallback_) fallback_->attach(problem, x, work);
  }
  SolverTraits traits(const Tuning::Loop& tuning) const override {
    return fallback_ ? fallback_->traits(tuning) : SolverTraits{true, tuning.newton_patience};
  }
  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                   bool moved) override {
    if (fallback_) fallback_->restrict_to(problem, x, survivors, moved);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal& goal) override {
    if (fallback_) return fallback_->advance(problem, x, c, correlation, goal);
    if (!choose(problem, c, correlation)) {
      // A first-order method goes on from here. It needs all of the gradient: so x stays, and is certified
      // again.
      fallback_ = make_apgd(options_);
      fallback_->attach(problem, x, *work_);
      return c.support;
    }
    const bool cold = c.support.empty() || c.gap > tuning_.far * c.primal;
    const double share = cold ? tuning_.far_share : tuning_.gap_share;
    descend(x, std::max(share * c.gap, tuning_.goal_share * goal.gap), goal.stop);
    return finish(x);
  }

 private:
  // The support, and about as many others, those with the largest |x_j'r|; more after a failure. The columns
  // that are there stay, if they are enough. False if there are too many to copy.
  bool choose(const Problem& problem, const Certificate& c, const Vector& correlation) {
    const Index p = problem.design.cols();
    const bool failed = c.gap > tuning_.failure * gap_;
    reach_ = failed ? std::min(2 * reach_, p) : std::max<Index>(1, reach_ / 2);
    gap_ = c.gap;
    const Index least = problem.design.rows() > p ? tuning_.least_tall : tuning_.least;
    const Index others = reach_ * std::max(least, std::ssize(c.support) / 2);
    Vector room;
    const Vector& counted = problem.penalty.counted(correlation, room);
    const Index kept = share_of(tuning_.kept_share, others);
    if (located(problem.design) &&
        serves(c.support, counted, std::ssize(c.support) + (failed ? others : kept))) {
      part_.penalty = problem.penalty.head(std::ssize(columns_));
      return true;
    }
    const IndexSet most = largest_entries(counted, std::min(p, std::ssize(c.support) + others));
    IndexSet want;
    std::ranges::set_union(c.support, most, std::back_inserter(want));
    if (copied_entries(problem, want) > tuning_.most_entries) return false;
    gather(problem, std::move(want));
    return true;
  }

  // Finds the working set among the columns of the problem; false if they are not all there, or it is empty.
  bool located(const Design& design) {
    for (std::size_t k = 0; k < raw_.size(); ++k) {
      columns_[k] = design.find(raw_[k]);
      if (columns_[k] < 0) return false;
    }
    return !raw_.empty();
  }

  // Whether the working set has the support and the `count` columns with the largest entries.
  bool serves(const IndexSet& support, const Vector& counted, Index count) const {
    if (!std::ranges::includes(columns_, support)) return false;
    double outside = 0;
    Index begin = 0;
    for (std::size_t k = 0; k <= columns_.size(); ++k) {
      const Index end = k < columns_.size() ? columns_[k] : counted.size();
      if (end > begin)
        outside = std::max(outside, kernels::magnitudes(counted.data() + begin, end - begin).largest);
      begin = end + 1;
    }
    const auto above =
        std::ranges::count_if(columns_, [&](Index j) { return std::abs(counted[j]) >= outside; });
    return above >= std::min(count, counted.size());
  }

  // Sparse columns are copied as they are stored, where the curvature of the loss leaves them sparse.
  static bool packs(const Problem& problem) {
    return !problem.design.is_sparse() || problem.loss->mixes_rows();
  }
  static Index copied_entries(const Problem& problem, const IndexSet& columns) {
    if (packs(problem)) return problem.design.rows() * std::ssize(columns);
    return problem.design.stored_entries(columns);
  }

  void gather(const Problem& problem, IndexSet want) {
    columns_ = std::move(want);
    const Design& design = problem.design;
    raw_.clear();
    for (const Index j : columns_) raw_.push_back(design.raw(j));
    std::vector<IndexSet> places;
    Design copy;
    if (packs(problem)) {
      Eigen::MatrixXd packed(design.rows(), std::ssize(columns_));
      design.pack(columns_, 0, design.rows(), packed.data());
      work_->count(design.stored_entries(columns_));
      copy = Design::dense(std::move(packed));
      places.resize(static_cast<std::size_t>(design.classes()));
      for (Index k = 0; k < std::ssize(columns_); ++k)
        places[static_cast<std::size_t>(design.class_of(columns_[static_cast<std::size_t>(k)]))].push_back(k);
    } else {
      copy = design.gather(columns_, *work_);
    }
    part_ = Problem{std::move(copy), problem.loss, problem.penalty.head(std::ssize(columns_)), problem.ridge};
    model_.attach(part_, std::move(places), work_->threads());
  }

  // Newton steps until the gap on these columns is small enough, or no step helps. The last step is a whole
  // one: only such a point has exact zeros and ties.
  void descend(const Iterate& x, double target, const std::function<bool()>& stop) {
    point_ = {tyto::restrict_to(x.beta, columns_), x.eta, x.coordinates};
    LossPoint at = loss_at(part_, point_);
    bool whole = true;
    double last = kInfinity;
    for (int step = 0; step < tuning_.most_steps; ++step) {
      const Vector ascent = tyto::correlation(part_, point_, at);
      const Certificate c =
          certify_roughly(part_, point_, at, evaluate_dual_norm(part_, ascent, nonzero_entries(point_.beta)));
      if (!std::isfinite(c.gap)) return;
      if (c.gap <= std::max(target, rounding::kEpsilon * c.primal) && whole) return;
      if (step > 1 && stop()) return;
      // Old curvature serves while it makes the gap fall fast enough.
      const bool old = model_.is_curved() && whole && !(c.gap > tuning_.chord_share * last);
      if (!old) model_.curve(at, std::ssize(c.support));
      last = c.gap;
      const double goal = std::max(tuning_.model_share * c.gap, tuning_.target_share * target);
      const auto proposal = [&] { return model_.minimise(point_.beta, at, ascent, part_.penalty, goal); };
      double length = search(proposal(), c, at);
      if (length == 0 && old) {
        model_.curve(at, std::ssize(c.support));
        length = search(proposal(), c, at);
      }
      if (length == 0) return;
      whole = length == 1;
    }
  }

  // The step towards the proposal that lowers the objective enough; 0 if none does.
  double search(const Vector& proposal, const Certificate& c, LossPoint& at) {
    const Vector direction = proposal - point_.beta;
    const Vector change = make_iterate(part_, direction, Work(work_->threads())).eta;
    const double norm = part_.penalty.value(point_.beta);
    const double slope = -at.residual.dot(change) + part_.ridge * point_.beta.dot(direction) +
                         part_.penalty.value(proposal) - norm;
    const double slack = rounding::kLineSearch * c.primal;
    double length = 1;
    for (int cut = 0; cut < tuning_.most_cuts; ++cut, length /= 2) {
      Iterate next{length == 1 ? proposal : Vector(point_.beta + length * direction),
                   point_.eta + length * change, at.coordinates};
      LossPoint there = loss_at(part_, next);
      const double primal =
          there.value + 0.5 * part_.ridge * next.beta.squaredNorm() + part_.penalty.value(next.beta);
      if (!(primal <= c.primal + tuning_.descent_share * length * slope + slack)) continue;
      next.coordinates = there.coordinates;
      point_ = std::move(next);
      at = std::move(there);
      return length;
    }
    return 0;
  }

  IndexSet finish(Iterate& x) const {
    x.beta.setZero();
    IndexSet support;
    for (Index k = 0; k < point_.beta.size(); ++k) {
      if (point_.beta[k] == 0) continue;
      const Index j = columns_[static_cast<std::size_t>(k)];
      x.beta[j] = point_.beta[k];
      support.push_back(j);
    }
    part_.design.multiply(point_.beta, x.eta, Work(work_->threads()));
    x.coordinates = point_.coordinates;
    return support;
  }

  SolverOptions options_;
  Tuning::Proximal tuning_;
  const Work* work_ = nullptr;
  std::unique_ptr<Solver> fallback_;
  IndexSet columns_;        // the working set: numbers in the problem at hand
  std::vector<Index> raw_;  // and in storage
  Problem part_;            // on them
  QuadraticModel model_;    // of that
  Iterate point_;
  Index reach_ = 1;
  double gap_ = kInfinity;
};

}  // namespace

std::unique_ptr<Solver> make_proximal_newton(const SolverOptions& options) {
  return std::make_unique<ProximalNewton>(options);
}

}  // namespace tyto
