#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of a design, each with the weight it has in a sum over all rows.
struct WeightedRows {
  IndexSet row;  // in increasing order
  std::vector<double> weight;
};

// 1/2 d'Hd - c'd + J(b + d) over d, by accelerated proximal gradient: H is a small matrix, and a step reads
// nothing else. L is a lower bound of the largest eigenvalue; it is raised where a step was too long.
class GramModel {
 public:
  GramModel(const Matrix& h, const SortedL1& penalty, const Vector& start, const Vector& correlation)
      : h_(h),
        penalty_(penalty),
        start_(start),
        correlation_(correlation),
        penalty_at_start_(penalty.value(start)) {}

  struct Target {
    double gap, residual_square;
    double fall;  // of the model, over d'Hd, at least: 1/2 at the solution
    int steps;
  };
  // Moves beta until the model has fallen enough and its duality gap is at most that of the target; back to
  // the start if it has not fallen enough in so many steps.
  void solve(Vector& beta, double& lipschitz, const Target& target) {
    Vector moved = product(beta), before = beta, moved_before = moved;
    double t = 1;
    for (int k = 0; k < target.steps; ++k) {
      if (k % kCheck == 0 && solved(beta, moved, target)) return;
      const double next_t = (1 + std::sqrt(1 + 4 * t * t)) / 2;
      const double momentum = (t - 1) / next_t;
      t = next_t;
      const Vector z = beta + momentum * (beta - before);
      const Vector moved_z = moved + momentum * (moved - moved_before);
      before = beta;
      moved_before = moved;
      step(z, moved_z, beta, moved, lipschitz);
      if ((z - beta).dot(beta - before) > 0) t = 1;  // the momentum leads uphill
    }
    if (!has_fallen(beta, moved, penalty_.value(beta), target.fall)) beta = start_;
  }

 private:
  static constexpr int kCheck = 8;

  void step(const Vector& z, const Vector& moved_z, Vector& beta, Vector& moved, double& lipschitz) const {
    for (;;) {
      beta = z + (correlation_ - moved_z) / lipschitz;
      penalty_.prox(beta, 1 / lipschitz);
      moved = product(beta);
      const double length = (beta - z).squaredNorm();
      const double curvature = (beta - z).dot(moved - moved_z);
      if (!(curvature > 1.000001 * lipschitz * length) || !std::isfinite(curvature)) return;
      lipschitz = std::max(curvature / length, 1.1 * lipschitz);
    }
  }
  Vector product(const Vector& beta) const {  // H (beta - start)
    Vector out(beta.size());
    transpose_product(h_, Vector(beta - start_), out);
    return out;
  }
  // A gap that is no number, where the data has changed meanwhile, ends it too.
  bool solved(const Vector& beta, const Vector& moved, const Target& target) const {
    const Vector pull = correlation_ - moved;
    const double inner = beta.dot(pull), penalty = penalty_.value(beta);
    const double gap = quadratic_gap(target.residual_square, target.residual_square + inner, penalty, inner,
                                     penalty_.dual_norm(pull), penalty_.nonnegative())
                           .gap;
    return !(gap > target.gap) && (!std::isfinite(gap) || has_fallen(beta, moved, penalty, target.fall));
  }
  bool has_fallen(const Vector& beta, const Vector& moved, double penalty, double share) const {
    const Vector d = beta - start_;
    const double curvature = d.dot(moved), slope = correlation_.dot(d);
    const double fall = slope - curvature / 2 + penalty_at_start_ - penalty;
    return fall >= share * curvature - rounding::kDescent * (std::abs(slope) + penalty_at_start_ + penalty);
  }

  const Matrix& h_;
  const SortedL1& penalty_;
  const Vector &start_, &correlation_;
  double penalty_at_start_;
};

// Proximal SVRG with one weighted batch an epoch (MATH.md, section 6; beyond the seed paper). With one batch
// for all steps of an epoch, a step needs only the batch's Gram matrix on the working set.
class SpgdGram final : public Solver {
 public:
  explicit SpgdGram(const SolverOptions& options)
      : options_(options), tuning_(options.tuning.stochastic), random_(options.stochastic.seed) {}

  void attach(const Problem&, const Iterate& x, const Work& work) override {
    work_ = &work;
    snapshot_ = x;
    last_gap_ = kInfinity;
    columns_.clear();
    gram_.resize(0, 0);
    width_ = tuning_.least_width;
    share_ = tuning_.rows_per_column;
    inflation_ = 1;
    mini_batches_.reset();
  }

  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                   bool moved) override {
    if (mini_batches_) return mini_batches_->restrict_to(problem, x, survivors, moved);
    snapshot_ = x;
    if (moved) last_gap_ = kInfinity;
    IndexSet slots, left;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const auto at = std::ranges::lower_bound(survivors, columns_[k]);
      if (at == survivors.end() || *at != columns_[k]) continue;
      slots.push_back(static_cast<Index>(k));
      left.push_back(at - survivors.begin());
    }
    if (slots.size() < columns_.size()) gram_ = Matrix(gram_(slots, slots));
    columns_ = std::move(left);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal& goal) override {
    if (!mini_batches_ && 2 * std::ssize(c.support) > tuning_.most_columns) hand_over(problem, x);
    if (mini_batches_) return mini_batches_->advance(problem, x, c, correlation, goal);
    judge(problem, c, correlation);
    snapshot_ = x;
    const IndexSet wanted = working_set(problem, c.support, correlation);
    if (!std::ranges::includes(columns_, wanted) || redraw_) {
      columns_ = wanted;
      draw_gram(problem.design);
    }
    step(problem, x, c, tyto::restrict_to(correlation, columns_), goal);
    return nonzero_entries(x.beta);
  }

 private:
  void hand_over(const Problem& problem, const Iterate& x) {
    mini_batches_ = make_spgd_mini_batches(options_);
    mini_batches_->attach(problem, x, *work_);
  }

  // What the last epoch was worth. After one that won little, the working set grows if the dual norm is
  // larger with the columns outside, and else the batch.
  void judge(const Problem& problem, const Certificate& c, const Vector& correlation) {
    redraw_ = c.gap > tuning_.slow * last_gap_;
    last_gap_ = c.gap;
    if (!redraw_) return;
    const double inside =
        problem.penalty.head(std::ssize(columns_)).dual_norm(tyto::restrict_to(correlation, columns_));
    if (problem.penalty.dual_norm(correlation, inside) > inside)
      width_ = std::min(2 * width_, correlation.size());
    else
      share_ = std::min(2 * share_, problem.design.rows());
  }

  // The support and the columns with the largest |x_j'r|, in increasing order.
  IndexSet working_set(const Problem& problem, const IndexSet& support, const Vector& correlation) const {
    const Index p = correlation.size();
    const Index count = std::ssize(support) + std::max(width_, std::ssize(support));
    if (count >= p) {
      IndexSet all(static_cast<std::size_t>(p));
      std::iota(all.begin(), all.end(), Index{0});
      return all;
    }
    Vector room;
    IndexSet result;
    std::ranges::set_union(support, largest_entries(problem.penalty.counted(correlation, room), count),
                           std::back_inserter(result));
    return result;
  }

  // The Gram matrix of the columns, or one of the same mean from a sample of their rows.
  void draw_gram(const Design& design) {
    const Index n = design.rows();
    const auto size = std::ssize(columns_);
    const Index batch = share_ * size;
    if (2 * batch >= n) return take_all_rows(design);
    const WeightedRows rows = sample(row_norms(design), batch);
    const auto count = std::ssize(rows.row);
    Matrix sampled(count, size);
    Vector column(n);
    for (Index k = 0; k < size; ++k) {
      design.pack({&columns_[static_cast<std::size_t>(k)], 1}, 0, n, column.data());
      for (Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        sampled(i, k) = rows.weight[at] * column[rows.row[at]];
      }
    }
    work_->count(2 * design.stored_entries(columns_));
    gram_.resize(size, size);
    gram(sampled, 0, gram_);
    start_model(false);
  }
  void take_all_rows(const Design& design) {
    gram_.resize(std::ssize(columns_), std::ssize(columns_));
    design.gram(columns_, gram_, *work_);
    start_model(true);
  }
  void start_model(bool exact) {
    exact_ = exact;
    inflation_ = 1;
    lipschitz_ = gram_.rows() > 0 ? gram_.diagonal().maxCoeff() : 0;
  }

  Vector row_norms(const Design& design) const {  // squares, on the working set
    Vector result = Vector::Zero(design.rows());
    Vector column(design.rows());
    for (const Index j : columns_) {
      design.pack({&j, 1}, 0, design.rows(), column.data());
      result.array() += column.array().square();
    }
    return result;
  }

  // A stratified sample: row i is drawn `batch` q_i times in the mean, with q_i half by its share of the sum
  // of squares and half the same for all. A row counts for as many as it stands for.
  WeightedRows sample(const Vector& squares, Index batch) {
    WeightedRows rows;
    const double total = squares.sum();
    const double even = 0.5 / static_cast<double>(squares.size());
    const auto draws = static_cast<double>(batch);
    double reached = 0;
    Index drawn = 0;
    double next = uniform() / draws;
    for (Index i = 0; i < squares.size(); ++i) {
      const double probability = total > 0 ? 0.5 * squares[i] / total + even : 2 * even;
      reached += probability;
      Index times = 0;
      for (; drawn < batch && next < reached; ++times)
        next = (static_cast<double>(++drawn) + uniform()) / draws;
      if (times == 0) continue;
      rows.row.push_back(i);
      rows.weight.push_back(std::sqrt(static_cast<double>(times) / (draws * probability)));
    }
    return rows;
  }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  // Solves the model on the working set. Where the data curves more along the step than the model does, the
  // model gets more curvature, and the step is taken again; after some tries the sample has missed something,
  // and all rows are taken.
  void step(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
            const Goal& goal) {
    const Vector start = tyto::restrict_to(x.beta, columns_);
    const double target = std::max(tuning_.goal_share * goal.gap, tuning_.gap_share * c.gap);
    Vector beta = start;
    for (int tries = 1;; ++tries) {
      const double modelled = solve_model(problem, {start, correlation}, beta, {target, c.residual_norm});
      x.beta.setZero();
      for (std::size_t k = 0; k < columns_.size(); ++k) x.beta[columns_[k]] = beta[static_cast<Index>(k)];
      problem.design.multiply(x.beta, x.eta, *work_);
      const double ridge = problem.ridge * (beta - start).squaredNorm();
      const double real = (x.eta - snapshot_.eta).squaredNorm() + ridge;
      if (exact_ || !(real > tuning_.most_curvature * modelled)) return;
      if (tries < tuning_.model_tries && modelled > 0) {
        inflation_ *= real / modelled;
      } else {
        take_all_rows(problem.design);
        beta = start;
      }
    }
  }

  struct ModelPoint {
    const Vector &beta, &correlation;
  };
  struct ModelGoal {
    double gap, residual_norm;
  };
  // Returns the curvature of the model along the step.
  double solve_model(const Problem& problem, const ModelPoint& start, Vector& beta, const ModelGoal& goal) {
    const SortedL1 penalty = problem.penalty.head(std::ssize(columns_));
    Matrix curvature = inflation_ * gram_;
    curvature.diagonal().array() += problem.ridge;
    double lipschitz = inflation_ * lipschitz_ + problem.ridge;
    if (!(lipschitz > 0)) lipschitz = 1;
    GramModel model(curvature, penalty, start.beta, start.correlation);
    // With this fall P falls too, where X d is not longer than step() allows.
    const double fall = (tuning_.most_curvature - 1) / 2;
    model.solve(beta, lipschitz,
                {goal.gap, goal.residual_norm * goal.residual_norm, fall, tuning_.model_steps});
    lipschitz_ = (lipschitz - problem.ridge) / inflation_;
    const Vector moved = beta - start.beta;
    return moved.dot(curvature * moved);
  }

  SolverOptions options_;
  Tuning::Stochastic tuning_;
  const Work* work_ = nullptr;
  std::mt19937_64 random_;
  std::unique_ptr<Solver> mini_batches_;  // once the model is too large for a working set
  Iterate snapshot_;                      // at the start of the epoch
  double last_gap_ = kInfinity;
  IndexSet columns_;  // the working set
  Matrix gram_;
  double lipschitz_ = 0;  // of the Gram matrix
  double inflation_ = 1;
  Index width_ = 0;  // columns in the working set beside the support, at least
  Index share_ = 0;  // rows in the batch for each column
  bool redraw_ = false;
  bool exact_ = false;  // the Gram matrix is that of all rows
};

}  // namespace

std::unique_ptr<Solver> make_spgd(const SolverOptions& options) {
  const StochasticOptions& s = options.stochastic;
  if (s.inner_steps > 0 || s.step_size > 0 || s.batch > 0) return make_spgd_mini_batches(options);
  return std::make_unique<SpgdGram>(options);
}

}  // namespace tyto
