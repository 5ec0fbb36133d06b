#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/loss/multinomial.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kNever = Index{1} << 40;
constexpr int kMostStuck = 3;  // rounds in which the gap of a model does not fall

// Proximal Newton steps on working sets, for losses whose curvature changes (MATH.md, section 14). An epoch
// takes the columns that are in the model or come closest to it. On them, a step replaces the loss by its
// quadratic model, which is a problem with squared error: rows times the roots of the curvature, without what
// lies along the intercept and the unpenalised columns. The solver for squared error solves it.
class ProximalNewton final : public Solver {
 public:
  explicit ProximalNewton(const SolverOptions& options)
      : options_(options),
        direct_options_(options),
        gram_options_(options),
        tuning_(options.tuning.proximal) {
    direct_options_.tuning.working_set.gram_at_first = kNever;
    direct_options_.tuning.working_set.gram_enters = kNever;
    gram_options_.tuning.working_set.gram_at_first = 0;
    gram_options_.tuning.working_set.gram_enters = 0;
    gram_options_.tuning.working_set.gram_stays = 0;
  }

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
    columns_.clear();
    if (fallback_) fallback_->restrict_to(problem, x, survivors, moved);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal& goal) override {
    if (fallback_) return fallback_->advance(problem, x, c, correlation, goal);
    IndexSet want = chosen(problem, c, correlation);
    if (copied_entries(problem, want) > tuning_.most_entries) {
      // A first-order method goes on from here. It needs all of the gradient: so x stays, and is certified
      // again.
      fallback_ = make_apgd(options_);
      fallback_->attach(problem, x, *work_);
      return c.support;
    }
    gather(problem, std::move(want));
    const bool cold = c.support.empty() || c.gap > tuning_.far * c.primal;
    const double share = cold ? tuning_.far_share : tuning_.gap_share;
    descend(problem, x, std::max(share * c.gap, tuning_.goal_share * goal.gap), goal.stop);
    return finish(x);
  }

 private:
  // The support, and about as many others, those with the largest |x_j'r|; more after a failure.
  IndexSet chosen(const Problem& problem, const Certificate& c, const Vector& correlation) {
    const Index p = problem.design.cols();
    const bool failed = c.gap > tuning_.failure * gap_;
    reach_ = failed ? std::min(2 * reach_, p) : std::max<Index>(1, reach_ / 2);
    gap_ = c.gap;
    const Index least = problem.design.rows() > p ? tuning_.least_tall : tuning_.least;
    const Index others = reach_ * std::max(least, std::ssize(c.support) / 2);
    Vector room;
    const Vector& counted = problem.penalty.counted(correlation, room);
    const IndexSet most = largest_entries(counted, std::min(p, std::ssize(c.support) + others));
    IndexSet result;
    std::ranges::set_union(c.support, most, std::back_inserter(result));
    return result;
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
    if (want == columns_) return;
    columns_ = std::move(want);
    const Design& design = problem.design;
    part_ = Problem{design.select(columns_), problem.loss, problem.penalty.head(std::ssize(columns_)),
                    problem.ridge};
    if (packs(problem)) {
      packed_.resize(design.rows(), std::ssize(columns_));
      design.pack(columns_, 0, design.rows(), packed_.data());
      work_->count(design.stored_entries(columns_));
      part_.design = Design::dense(packed_);
      places_.assign(static_cast<std::size_t>(design.classes()), {});
      for (Index k = 0; k < std::ssize(columns_); ++k)
        places_[static_cast<std::size_t>(design.class_of(columns_[static_cast<std::size_t>(k)]))].push_back(
            k);
    } else {
      part_.design = design.gather(columns_, *work_);
    }
  }

  // Newton steps until the gap on these columns is small enough, or no step helps. The last step is a whole
  // one: only such a point has exact zeros and ties.
  void descend(const Problem& problem, const Iterate& x, double target, const std::function<bool()>& stop) {
    part_.penalty = problem.penalty.head(std::ssize(columns_));
    point_ = {tyto::restrict_to(x.beta, columns_), x.eta, x.coordinates};
    LossPoint at = loss_at(part_, point_);
    bool whole = true;
    for (int step = 0; step < tuning_.most_steps; ++step) {
      const Certificate c = certified(at);
      if (!std::isfinite(c.gap)) return;
      if (c.gap <= std::max(target, rounding::kEpsilon * c.primal) && whole) return;
      if (step > 1 && stop()) return;
      const Vector proposal =
          minimised(at, std::max(tuning_.model_share * c.gap, tuning_.target_share * target));
      const double length = search(proposal, c, at);
      if (length == 0) return;
      whole = length == 1;
    }
  }

  Certificate certified(const LossPoint& at) const {
    const Vector ascent = tyto::correlation(part_, point_, at);
    return certify_roughly(part_, point_, at,
                           evaluate_dual_norm(part_, ascent, nonzero_entries(point_.beta)));
  }

  // The minimiser of the quadratic model at the point, to within `target`.
  Vector minimised(LossPoint at, double target) {
    at.curvature = at.curvature.cwiseMax(tuning_.least_curvature * at.curvature.maxCoeff());
    const Work uncounted(work_->threads());
    Taken taken;
    Problem model{weighted_design(at, taken, uncounted), {}, part_.penalty, part_.ridge};
    Iterate z = make_iterate(model, point_.beta, uncounted);
    model.loss = z.eta + part_.loss->working_residual(at);
    // The model is solved once: a Gram matrix of all its columns pays only where most are in the model.
    const Index support = (point_.beta.array() != 0).count();
    const bool gram_pays = above_share(support, tuning_.gram_share, std::ssize(columns_));
    const bool by_classes = gram_pays && std::ssize(places_) > 1;
    if (by_classes) model.gram_cache = class_products(at, taken);
    const std::unique_ptr<Solver> solver = make_newton(by_classes  ? gram_options_
                                                       : gram_pays ? options_
                                                                   : direct_options_);
    solver->attach(model, z, uncounted);
    double last = kInfinity;
    int stuck = 0;
    for (int round = 0; round < tuning_.model_rounds; ++round) {
      const LossPoint there = loss_at(model, z);
      const Vector ascent = tyto::correlation(model, z, there, uncounted);
      const Certificate c =
          certify_roughly(model, z, there, evaluate_dual_norm(model, ascent, nonzero_entries(z.beta)));
      // Where f'' is 0 in some rows, the gap of the model is far below that of the problem: the first round
      // takes a step in any case.
      if (round == 0)
        target = std::max(std::min(target, tuning_.model_share * c.gap), rounding::kModelGap * c.primal);
      stuck = c.gap > tuning_.model_stuck * last ? stuck + 1 : 0;
      if (round > 0 && (c.gap <= target || stuck > kMostStuck)) break;
      last = c.gap;
      Goal goal;
      goal.gap = target;
      solver->advance(model, z, c, ascent, goal);
    }
    return std::move(z.beta);
  }

  // What is taken out of the weighted columns X: A'S with A = B'X of the weighted intercept and unpenalised
  // columns B, and S = (B'B)^-1 A.
  struct Taken {
    Eigen::MatrixXd products, solved;  // A, S
  };

  // The root of the curvature times the columns, less what lies along the weighted intercept and unpenalised
  // columns.
  Design weighted_design(const LossPoint& at, Taken& taken, const Work& work) const {
    if (part_.design.is_sparse()) return part_.design.reweighted(at.curvature, work);
    Eigen::MatrixXd weighted = packed_;
    part_.loss->apply_root(at, weighted);
    if (part_.loss->basis().cols() > 0) {
      Eigen::MatrixXd basis = part_.loss->basis();
      part_.loss->apply_root(at, basis);
      taken.products = basis.transpose() * weighted;
      taken.solved = (basis.transpose() * basis).ldlt().solve(taken.products);
      weighted.noalias() -= basis * taken.solved;
    }
    return Design::dense(std::move(weighted));
  }

  // Their inner products, of several classes: a column has rows in its own class alone, so that those of
  // classes c and e are sums over as many rows as the data has, and not as many times that as there are
  // classes.
  std::shared_ptr<GramCache> class_products(const LossPoint& at, const Taken& taken) const {
    const auto classes = std::ssize(places_);
    const Index n = packed_.rows() / classes;
    Eigen::MatrixXd products(packed_.cols(), packed_.cols());
    const auto own = [&](Index c) -> Eigen::MatrixXd {
      return packed_.middleRows(c * n, n)(Eigen::all, places_[static_cast<std::size_t>(c)]);
    };
    for (Index e = 0; e < classes; ++e) {
      const Eigen::MatrixXd right = own(e);
      for (Index c = 0; c <= e; ++c) {
        const Eigen::MatrixXd weighted = class_curvature(at, classes, c, e).asDiagonal() * right;
        Eigen::MatrixXd block(std::ssize(places_[static_cast<std::size_t>(c)]), right.cols());
        transpose_product(own(c), weighted, 0, block);
        const auto& rows = places_[static_cast<std::size_t>(c)];
        const auto& columns = places_[static_cast<std::size_t>(e)];
        products(rows, columns) = block;
        if (c < e) products(columns, rows) = block.transpose();
      }
    }
    if (taken.products.rows() > 0) products.noalias() -= taken.products.transpose() * taken.solved;
    IndexSet all = all_but({}, packed_.cols());
    return std::make_shared<GramCache>(packed_.cols(), std::move(all), std::move(products));
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
                   point_.eta + length * change, point_.coordinates};
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
  SolverOptions direct_options_;  // with columns themselves, never their Gram matrix
  SolverOptions gram_options_;    // with their Gram matrix, which is known
  Tuning::Proximal tuning_;
  const Work* work_ = nullptr;
  std::unique_ptr<Solver> fallback_;
  IndexSet columns_;              // the working set
  Eigen::MatrixXd packed_;        // its columns
  std::vector<IndexSet> places_;  // which of them belong to each class; one list where there are none
  Problem part_;                  // on them
  Iterate point_;
  Index reach_ = 1;
  double gap_ = kInfinity;
};

}  // namespace

std::unique_ptr<Solver> make_proximal_newton(const SolverOptions& options) {
  return std::make_unique<ProximalNewton>(options);
}

}  // namespace tyto
