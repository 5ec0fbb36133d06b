#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/math/entries.h"
#include "tyto/solve/solver.h"

namespace tyto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Index nonzeros(const Vector& v) { return (v.array() != 0).count(); }

// Accelerated proximal gradient (Algorithm 2 of the seed paper, with the step size 1 / L and the momentum t
// kept apart; MATH.md, section 5). The gradient at the momentum point is a combination of two that are known,
// if the loss is quadratic: then an epoch reads X once, else twice.
class Apgd final : public Solver {
 public:
  explicit Apgd(const Tuning::Gradient& tuning) : tuning_(tuning) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    const double longest = x.beta.size() > 0 ? norms(problem).maxCoeff() : 0;
    lipschitz_ = longest > 0 ? longest * longest : 1;  // a lower bound; backtracking finds the rest
    restart(x);
  }

  // The momentum goes on where only zeros have left. L may have fallen: a smaller one is tried, which costs
  // no pass over X.
  void restrict_to(const Problem&, const Iterate& x, std::span<const Index> survivors, bool moved) override {
    lipschitz_ *= tuning_.lipschitz_decay;
    Vector beta = tyto::restrict_to(previous_.beta, survivors);
    if (t_ == 1 || moved || nonzeros(beta) != nonzeros(previous_.beta)) return restart(x);
    previous_.beta = std::move(beta);
    previous_correlation_ = tyto::restrict_to(previous_correlation_, survivors);
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal&) override {
    if (c.primal > primal_ + c.rounding || t_ == 1) {
      t_ = 1;
      previous_ = x;
      previous_correlation_ = correlation;
    }
    primal_ = c.primal;
    const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2, momentum = (t_ - 1) / next_t;
    t_ = next_t;
    // The momentum point and X'r there take the place of the point before.
    Iterate& z = previous_;
    z.beta = x.beta + momentum * (x.beta - z.beta);
    z.eta = x.eta + momentum * (x.eta - z.eta);
    z.coordinates = x.coordinates;
    const bool quadratic = problem.loss->is_quadratic();
    const LossPoint at_z = quadratic ? LossPoint() : loss_at(problem, z);
    Vector& ascent = previous_correlation_;
    if (quadratic || momentum == 0)
      ascent = correlation + momentum * (correlation - ascent);
    else
      ascent = tyto::correlation(problem, z, at_z, *work_);
    Iterate last = std::exchange(x, {});
    for (;;) {
      x.beta = z.beta + ascent / lipschitz_;
      problem.penalty.prox(x.beta, 1 / lipschitz_);
      problem.design.multiply(x.beta, x.eta, *work_);
      x.coordinates = z.coordinates;
      const double length = (x.beta - z.beta).squaredNorm();
      // The change of the gradient along the step.
      const double of_loss = quadratic ? (x.eta - z.eta).squaredNorm()
                                       : (at_z.residual - loss_at(problem, x).residual).dot(x.eta - z.eta);
      const double curvature = of_loss + problem.ridge * length;
      const double excess = curvature - rounding::kCurvature * lipschitz_ * length;
      if (!(excess > 0 && excess > square(noise(problem, z)))) break;
      lipschitz_ = std::max(curvature / length, tuning_.lipschitz_growth * lipschitz_);
    }
    previous_ = std::move(last);
    previous_correlation_ = correlation;
    return nonzero_entries(x.beta);
  }

 private:
  static double noise(const Problem& problem, const Iterate& z) {  // of X z
    return rounding::kFittedValues *
           (problem.loss->response().norm() + z.beta.cwiseAbs().dot(problem.design.rounding_norms()));
  }
  static double square(double v) { return v * v; }
  void restart(const Iterate& x) {
    previous_.beta = x.beta;
    t_ = 1;
    primal_ = kInfinity;
  }

  Tuning::Gradient tuning_;
  const Work* work_ = nullptr;
  Iterate previous_;
  Vector previous_correlation_;  // X'(y - X b) at previous_
  double lipschitz_ = 1, t_ = 1, primal_ = kInfinity;
};

}  // namespace

std::unique_ptr<Solver> make_apgd(const SolverOptions& options) {
  return std::make_unique<Apgd>(options.tuning.gradient);
}

}  // namespace tyto
