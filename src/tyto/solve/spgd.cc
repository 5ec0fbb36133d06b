#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tyto/math/entries.h"
#include "tyto/solve/batch_rows.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Stochastic proximal gradient with variance reduction (Algorithm 3 of the seed paper: proximal SVRG of Xiao
// & Zhang 2014) with the settings that a user gives (MATH.md, section 6). Rows are drawn with probabilities
// q_i = ||a_i||^2 / ||X||^2, and the correction is on the scale of the sum:
//   v = (1/l) sum_k a_k a_k'(b~ - b) / q_k + grad F(b).
// An epoch is a full gradient, which the certificate has paid for, and some steps on mini-batches of l rows.
// An epoch that raises the objective is taken back and the step size halved, as it is after an epoch that
// ends where it began: it cannot diverge, whatever the settings.
class MiniBatches final : public Solver {
 public:
  explicit MiniBatches(const SolverOptions& options)
      : options_(options.stochastic),
        tuning_(options.tuning.stochastic),
        random_(options_.seed),
        rows_(tuning_.gather_share) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    snapshot_ = x;
    primal_ = kInfinity;
    damping_ = 1;
    rows_.attach(problem.design);
    direction_ = problem.loss->response();
    spectral_norm_ = options_.step_size > 0 ? 0 : spectral_norm(problem.design, tuning_.power_steps);
    choose(problem);
  }

  // What depends on rows and columns is made again, but for the largest eigenvalue, which only falls: that
  // when half of the columns are gone.
  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index> survivors,
                   bool) override {
    snapshot_ = x;
    primal_ = kInfinity;
    rows_.restrict_to(survivors);
    if (options_.step_size == 0 && 2 * std::ssize(survivors) < measured_columns_)
      spectral_norm_ = std::min(spectral_norm_, spectral_norm(problem.design, tuning_.few_power_steps));
    choose(problem);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal&) override {
    const bool first = !std::isfinite(primal_);
    if (first || (c.primal <= primal_ + c.rounding && x.beta != snapshot_.beta)) {
      snapshot_ = x;
      ascent_ = correlation;
      primal_ = c.primal;
    } else {
      x = snapshot_;
      damping_ /= 2;
    }
    const double step = damping_ * step_;
    draw();
    rows_.prepare(problem.design, drawn_);
    for (Index t = 0; t < inner_; ++t) {
      const std::span<const Index> batch = this->batch(t);
      difference(x.beta);
      for (std::size_t k = 0; k < batch.size(); ++k)
        factor_[k] = -step * weight(batch[k]) * rows_.dot(batch[k], difference_, support_);
      x.beta += step * ascent_;
      if (problem.ridge > 0) x.beta -= step * problem.ridge * difference_;
      rows_.add(batch, factor_, x.beta);
      problem.penalty.prox(x.beta, step);
    }
    problem.design.multiply(x.beta, x.eta, *work_);
    return nonzero_entries(x.beta);
  }

 private:
  bool all_rows() const { return factor_.size() >= cumulative_.size(); }
  std::span<const Index> batch(Index t) const {
    const std::size_t first = all_rows() ? 0 : static_cast<std::size_t>(t) * factor_.size();
    return std::span(drawn_).subspan(first, factor_.size());
  }
  // What row i counts for: 1 / (l q_i).
  double weight(Index row) const {
    if (all_rows()) return 1;
    const double before = row > 0 ? cumulative_[static_cast<std::size_t>(row) - 1] : 0;
    const double share = cumulative_[static_cast<std::size_t>(row)] - before;
    return cumulative_.back() / (share * static_cast<double>(factor_.size()));
  }

  // Expected smoothness of a mini-batch of l rows: L(l) = (||X||^2 + (l - 1) lambda_max(X'X)) / l. The step
  // is 1 / L(l). The batch minimises the work of a unit of progress, (l + a) L(l), where a rows take as long
  // as a proximal step.
  void choose(const Problem& problem) {
    const Index n = problem.design.rows();
    inner_ = 0;
    if (n == 0 || problem.design.cols() == 0) return;
    const Vector squares = squared_row_norms(problem.design);
    work_->count(problem.design.stored_entries());
    cumulative_.resize(static_cast<std::size_t>(n));
    std::partial_sum(squares.begin(), squares.end(), cumulative_.begin());
    const double trace = cumulative_.back();
    const double excess = std::max(0.0, trace - spectral_norm_);
    const double best = std::sqrt(static_cast<double>(tuning_.prox_rows) * excess / spectral_norm_);
    Index batch = options_.batch;
    if (batch == 0) batch = std::isfinite(best) ? std::max(Index{1}, static_cast<Index>(best)) : 1;
    batch = trace > 0 ? std::min(batch, n) : n;
    factor_.resize(static_cast<std::size_t>(batch));
    const Index drawn = std::max(Index{1}, share_of(tuning_.epoch_share, n));
    inner_ = options_.inner_steps > 0 ? options_.inner_steps : (drawn + batch - 1) / batch;
    const double smooth =
        all_rows() ? spectral_norm_
                   : (trace + static_cast<double>(batch - 1) * spectral_norm_) / static_cast<double>(batch);
    step_ = options_.step_size > 0 ? options_.step_size : 1 / (smooth + problem.ridge);
  }

  // lambda_max(X'X) by the power method, which goes on from the direction found before columns left. The
  // result may be a little too small: an epoch that fails for that is taken back.
  double spectral_norm(const Design& design, int steps) {
    measured_columns_ = design.cols();
    double norm = 0;
    Vector back;
    for (int i = 0; i < steps; ++i) {
      const double length = direction_.norm();
      if (!(length > 0)) return 1;
      direction_ /= length;
      design.transpose_multiply(direction_, back, *work_);
      design.multiply(back, direction_, *work_);
      norm = back.squaredNorm();
    }
    return norm > 0 ? tuning_.spectral_margin * norm : 1;
  }

  // The rows of an epoch, with replacement, each with its probability; all rows once, if a batch is that
  // large.
  void draw() {
    drawn_.resize(factor_.size() * (all_rows() ? 1 : static_cast<std::size_t>(inner_)));
    std::iota(drawn_.begin(), drawn_.end(), Index{0});
    if (all_rows()) return;
    for (Index& row : drawn_) {
      const double at = static_cast<double>(random_() >> 11) * 0x1p-53 * cumulative_.back();
      const auto found = std::ranges::upper_bound(cumulative_, at);
      row = std::min<Index>(found - cumulative_.begin(), std::ssize(cumulative_) - 1);
    }
  }

  void difference(const Vector& beta) {
    support_.clear();
    difference_ = beta - snapshot_.beta;
    for (Index j = 0; j < beta.size(); ++j)
      if (difference_[j] != 0) support_.push_back(j);
  }

  StochasticOptions options_;
  Tuning::Stochastic tuning_;
  const Work* work_ = nullptr;
  std::mt19937_64 random_;
  BatchRows rows_;
  std::vector<double> cumulative_;  // sums of ||a_i||^2
  Iterate snapshot_;
  Vector ascent_, difference_, direction_;
  IndexSet drawn_;  // rows of an epoch, batch after batch
  IndexSet support_;
  std::vector<double> factor_;
  double step_ = 0, damping_ = 1, primal_ = 0, spectral_norm_ = 0;
  Index inner_ = 0, measured_columns_ = 0;
};

}  // namespace

std::unique_ptr<Solver> make_spgd_mini_batches(const SolverOptions& options) {
  return std::make_unique<MiniBatches>(options);
}

}  // namespace tyto
