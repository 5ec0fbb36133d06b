#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tyto/design/rows.h"
#include "tyto/math/entries.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

// Stochastic proximal gradient with variance reduction (Algorithm 3 of the seed paper: proximal SVRG of Xiao
// & Zhang 2014), with the correction on the scale of the sum: v = (n/l) (grad F_I(b~) - grad F_I(b)) + grad
// F(b). An epoch is a full gradient, which the certificate has paid for, and some steps on mini-batches of l
// rows. An epoch that raises the objective is taken back and the step size halved, as it is after an epoch
// that ends where it began: it cannot diverge, whatever the settings.
class Spgd final : public Solver {
 public:
  explicit Spgd(const SolverOptions& options)
      : options_(options.stochastic), tuning_(options.tuning.stochastic), random_(options_.seed) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    snapshot_ = x;
    primal_ = std::numeric_limits<double>::infinity();
    order_.resize(static_cast<std::size_t>(problem.design.rows()));
    std::iota(order_.begin(), order_.end(), Index{0});
    direction_ = problem.y;
    choose(problem);
  }

  void restrict_to(const Problem& problem, const Iterate& x, std::span<const Index>, bool) override {
    snapshot_ = x;
    primal_ = std::numeric_limits<double>::infinity();
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
      step_ /= 2;
    }
    const double scale = step_ * static_cast<double>(rows_.count()) / static_cast<double>(factor_.size());
    for (Index t = 0; t < inner_; ++t) {
      const std::span<const Index> batch = draw();
      difference(x.beta);
      for (std::size_t k = 0; k < batch.size(); ++k)
        factor_[k] = -scale * rows_.dot(batch[k], difference_, support_);
      x.beta += step_ * ascent_;
      if (problem.ridge > 0) x.beta -= step_ * problem.ridge * difference_;
      rows_.add(batch, factor_, x.beta);
      problem.penalty.prox(x.beta, step_);
    }
    problem.design.multiply(x.beta, x.eta, *work_);
    return nonzero_entries(x.beta);
  }

 private:
  // Expected smoothness of a mini-batch of l rows without replacement (Sebbouh et al. 2019), in sum form:
  //   L(l) = (n (l - 1) lambda_max(X'X) + (n - l) n max_i ||a_i||^2) / (l (n - 1)).
  // The step is 1 / L(l). The batch minimises the work of a unit of progress, (l + a) L(l), where a rows take
  // as long as a proximal step.
  void choose(const Problem& problem) {
    rows_ = Rows(problem.design);
    const Index n = rows_.count();
    inner_ = 0;
    if (n == 0 || problem.design.cols() == 0) return;
    const double largest = static_cast<double>(n) * rows_.squared_norms().maxCoeff();
    const double smooth = spectral_norm(problem.design);
    const auto smoothness = [&](Index l) {
      if (n == 1) return smooth;
      return (static_cast<double>(n * (l - 1)) * smooth + static_cast<double>(n - l) * largest) /
             static_cast<double>(l * (n - 1));
    };
    Index best = 1;
    for (Index l = 2; l <= n / 2; ++l)
      if (static_cast<double>(l + tuning_.prox_rows) * smoothness(l) <
          static_cast<double>(best + tuning_.prox_rows) * smoothness(best))
        best = l;
    const Index batch = options_.batch > 0 ? std::min(options_.batch, n) : best;
    inner_ = options_.inner_steps > 0 ? options_.inner_steps : (tuning_.passes * n + batch - 1) / batch;
    step_ = options_.step_size > 0 ? options_.step_size : 1 / (smoothness(batch) + problem.ridge);
    factor_.resize(static_cast<std::size_t>(batch));
  }

  // lambda_max(X'X) by the power method, which goes on from the direction found before columns left. The
  // result may be a little too small: an epoch that fails for that is taken back.
  double spectral_norm(const Design& design) {
    double norm = 0;
    Vector back;
    for (int i = 0; i < tuning_.power_steps; ++i) {
      const double length = direction_.norm();
      if (!(length > 0)) return 1;
      direction_ /= length;
      design.transpose_multiply(direction_, back, *work_);
      design.multiply(back, direction_, *work_);
      norm = back.squaredNorm();
    }
    return norm > 0 ? tuning_.spectral_margin * norm : 1;
  }

  // A mini-batch without replacement: the first entries of a partial shuffle.
  std::span<const Index> draw() {
    for (std::size_t k = 0; k < factor_.size(); ++k)
      std::swap(order_[k], order_[k + random_() % (order_.size() - k)]);
    return {order_.data(), factor_.size()};
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
  Rows rows_;
  Iterate snapshot_;
  Vector ascent_, difference_, direction_;
  IndexSet order_, support_;
  std::vector<double> factor_;
  double step_ = 0, primal_ = 0;
  Index inner_ = 0;
};

}  // namespace

std::unique_ptr<Solver> make_spgd(const SolverOptions& options) { return std::make_unique<Spgd>(options); }

}  // namespace tyto
