#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tyto/math/entries.h"
#include "tyto/solve/batch_rows.h"
#include "tyto/solve/published.h"

namespace tyto {
namespace {

// Proximal SVRG as published: mini-batches without replacement, one step size for the whole run, no
// safeguard: it may diverge. The settings are those of the public code where none are given: 50 rows, n / 50
// inner steps, step size 0.1 / L with L = 2 ||X'Xu|| for a random u of length 1.
class PublishedSpgd final : public Solver {
 public:
  PublishedSpgd(const SolverOptions& options, bool printed)
      : options_(options.stochastic),
        random_(options_.seed),
        printed_(printed),
        rows_(options.tuning.stochastic.gather_share) {}

  void attach(const Problem& problem, const Iterate&, const Work& work) override {
    work_ = &work;
    diverged_ = false;
    rows_.attach(problem.design);
    const Index n = problem.design.rows();
    order_.resize(static_cast<std::size_t>(n));
    std::iota(order_.begin(), order_.end(), Index{0});
    const Index batch = std::min(n, options_.batch > 0 ? options_.batch : kBatch);
    factor_.resize(static_cast<std::size_t>(batch));
    inner_ =
        options_.inner_steps > 0 ? options_.inner_steps : std::max<Index>(1, n / std::max<Index>(1, batch));
    step_ = options_.step_size > 0 ? options_.step_size : first_step(problem);
    all_columns(problem.design.cols());
  }

  void restrict_to(const Problem& problem, const Iterate&, std::span<const Index> survivors, bool) override {
    rows_.restrict_to(survivors);
    all_columns(problem.design.cols());
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal&) override {
    stops_ = published_rule_stops(problem, x.beta, c.primal, correlation, kPublishedTolerance);
    const Iterate start = x;
    // (n / l) (grad F_I(b~) - grad F_I(b)) estimates a difference of gradients. The paper prints 1 / l.
    const double rows = printed_ ? 1 : static_cast<double>(problem.design.rows());
    const double scale = step_ * rows / static_cast<double>(factor_.size());
    draw();
    rows_.prepare(problem.design, drawn_);
    for (Index t = 0; t < inner_; ++t) {
      const auto batch = std::span<const Index>(drawn_).subspan(static_cast<std::size_t>(t) * factor_.size(),
                                                                factor_.size());
      const Vector moved = x.beta - start.beta;
      for (std::size_t k = 0; k < batch.size(); ++k) factor_[k] = -scale * rows_.dot(batch[k], moved, all_);
      x.beta += step_ * correlation;
      if (problem.ridge > 0) x.beta -= step_ * problem.ridge * moved;
      rows_.add(batch, factor_, x.beta);
      problem.penalty.prox(x.beta, step_);
    }
    problem.design.multiply(x.beta, x.eta, *work_);
    const double size = x.eta.squaredNorm() + x.beta.squaredNorm();
    if (!(size <= kDiverged * (1 + problem.loss->response().squaredNorm()))) {
      diverged_ = true;
      x = start;
    }
    return nonzero_entries(x.beta);
  }

  bool published_rule_stopped() const override { return stops_; }
  SolverTraits traits(const Tuning::Loop& tuning) const override {
    return {false, diverged_ ? 0 : tuning.patience};
  }

 private:
  static constexpr Index kBatch = 50;
  static constexpr double kDiverged = 1e12;  // times ||y||^2: fitted values beyond it have diverged

  void all_columns(Index count) {
    all_.resize(static_cast<std::size_t>(count));
    std::iota(all_.begin(), all_.end(), Index{0});
  }
  double first_step(const Problem& problem) {
    std::normal_distribution<double> normal;
    Vector direction(problem.design.cols());
    for (double& entry : direction) entry = normal(random_);
    direction /= std::max(direction.norm(), 1e-300);
    Vector eta, back;
    problem.design.multiply(direction, eta, *work_);
    problem.design.transpose_multiply(eta, back, *work_);
    const double norm = 2 * back.norm() + problem.ridge;
    return norm > 0 ? 0.1 / norm : 1;
  }
  // The batches of an epoch, each without replacement: the first entries of a partial shuffle.
  void draw() {
    drawn_.clear();
    for (Index t = 0; t < inner_; ++t)
      for (std::size_t k = 0; k < factor_.size(); ++k) {
        std::swap(order_[k], order_[k + random_() % (order_.size() - k)]);
        drawn_.push_back(order_[k]);
      }
  }

  StochasticOptions options_;
  const Work* work_ = nullptr;
  std::mt19937_64 random_;
  bool printed_, stops_ = false, diverged_ = false;
  BatchRows rows_;
  IndexSet order_, all_, drawn_;
  std::vector<double> factor_;
  double step_ = 0;
  Index inner_ = 0;
};

}  // namespace

std::unique_ptr<Solver> make_published_spgd(const SolverOptions& options, bool printed) {
  return std::make_unique<PublishedSpgd>(options, printed);
}

}  // namespace tyto
