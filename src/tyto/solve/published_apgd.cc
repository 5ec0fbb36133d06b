#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tyto/math/entries.h"
#include "tyto/solve/published.h"

namespace tyto {
namespace {

// Accelerated proximal gradient as published: L from one product with a random vector, doubled by
// backtracking and never lowered; two products with all of X an iteration; no restart. The iterate is the
// momentum point, where the published code takes gradient, gap and answer. Here columns leave together with
// what they added to X b, which the published code keeps.
class PublishedApgd final : public Solver {
 public:
  PublishedApgd(const SolverOptions& options, bool resets)
      : random_(options.stochastic.seed), resets_(resets) {}

  void attach(const Problem& problem, const Iterate& x, const Work& work) override {
    work_ = &work;
    point_ = x;
    t_ = 1;
    iteration_ = 0;
    lipschitz_ = first_lipschitz(problem);
  }

  void restrict_to(const Problem& problem, const Iterate&, std::span<const Index> survivors, bool) override {
    point_.beta = tyto::restrict_to(point_.beta, survivors);
    multiply(problem.design, point_.beta, point_.eta);
    if (resets_) t_ = 1;
  }

  IndexSet advance(const Problem& problem, Iterate& x, const Certificate& c, const Vector& correlation,
                   const Goal&) override {
    stops_ = published_rule_stops(problem, x.beta, c.primal, correlation, kPublishedTolerance);
    const Iterate before = std::move(point_);
    const double smooth = smooth_part(problem, x);
    for (;;) {
      point_.beta = x.beta + correlation / lipschitz_;
      problem.penalty.prox(point_.beta, 1 / lipschitz_);
      multiply(problem.design, point_.beta, point_.eta);
      const Vector moved = point_.beta - x.beta;
      const double bound = smooth - moved.dot(correlation) + lipschitz_ / 2 * moved.squaredNorm();
      if (!(bound < smooth_part(problem, point_) * (1 - 1e-12))) break;
      lipschitz_ *= 2;
    }
    const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2;
    const double momentum = (t_ - 1) / next_t;
    t_ = next_t;
    x.beta = point_.beta + momentum * (point_.beta - before.beta);
    x.eta = point_.eta + momentum * (point_.eta - before.eta);
    const bool clipped = problem.penalty.nonnegative() && x.beta.size() > 0 && x.beta.minCoeff() < 0;
    if (clipped) x.beta = x.beta.cwiseMax(0);
    if (clipped || ++iteration_ % kExactEvery == 0) multiply(problem.design, x.beta, x.eta);
    return nonzero_entries(x.beta);
  }

  bool published_rule_stopped() const override { return stops_; }

 private:
  static constexpr Index kExactEvery = 20;  // iterations: X times the momentum point is computed afresh

  static double smooth_part(const Problem& problem, const Iterate& at) {
    return (problem.loss->response() - at.eta).squaredNorm() / 2 + problem.ridge / 2 * at.beta.squaredNorm();
  }
  // With all columns, those with coefficient 0 too.
  void multiply(const Design& design, const Vector& beta, Vector& eta) const {
    IndexSet all(static_cast<std::size_t>(beta.size()));
    std::iota(all.begin(), all.end(), Index{0});
    design.multiply(all, beta, eta, *work_);
  }
  double first_lipschitz(const Problem& problem) {
    std::normal_distribution<double> normal;
    Vector direction(problem.design.cols());
    for (double& entry : direction) entry = normal(random_);
    direction /= std::max(direction.norm(), 1e-300);
    Vector eta, back;
    multiply(problem.design, direction, eta);
    problem.design.transpose_multiply(eta, back, *work_);
    const double norm = 2 * back.norm() + problem.ridge;
    return norm > 0 ? norm : 1;
  }

  const Work* work_ = nullptr;
  std::mt19937_64 random_;
  bool resets_, stops_ = false;
  Iterate point_;  // the last proximal point
  double t_ = 1, lipschitz_ = 1;
  Index iteration_ = 0;
};

}  // namespace

bool published_rule_stops(const Problem& problem, const Vector& beta, double primal,
                          const Vector& correlation, double tolerance) {
  const double gap = problem.penalty.value(beta) - beta.dot(correlation);
  if (!(std::abs(gap) < tolerance * std::max(1.0, primal))) return false;
  Vector sorted = correlation;
  for (double& entry : sorted) entry = -problem.penalty.pull(entry);
  std::ranges::sort(sorted);
  double sum = 0, excess = 0;
  for (Index k = 0; k < sorted.size(); ++k) {
    sum += -sorted[k] - problem.penalty.weight(k);
    excess = std::max(excess, sum);
  }
  return sorted.size() == 0 || excess < tolerance * problem.penalty.weight(0);
}

std::unique_ptr<Solver> make_published_apgd(const SolverOptions& options, bool printed) {
  return std::make_unique<PublishedApgd>(options, printed);
}

}  // namespace tyto
