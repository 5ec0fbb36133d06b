#include "tyto/select/noise.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/math/entries.h"
#include "tyto/select/relax.h"

namespace tyto {
namespace {

constexpr Names kStatuses({
    std::pair<std::string_view, NoiseStatus>{"converged", NoiseStatus::kConverged},
    {"cycle", NoiseStatus::kCycle},
    {"limit", NoiseStatus::kLimit},
    {"too_many_selected", NoiseStatus::kTooManySelected},
    {"no_noise", NoiseStatus::kNoNoise},
});

// The estimates so far: supports, and the sigma of each.
struct History {
  std::vector<IndexSet> supports;
  std::vector<double> sigmas;

  // The largest sigma since this support was there the first time.
  std::optional<double> largest_since(const IndexSet& support) const {
    const auto first = std::ranges::find(supports, support);
    if (first == supports.end()) return {};
    return *std::max_element(sigmas.begin() + (first - supports.begin()), sigmas.end());
  }
};

class Estimate {
 public:
  Estimate(const Regression& regression, const FitOptions& options, const Observer& observer)
      : start_(regression),
        problem_(regression.problem),
        options_(options),
        observer_(observer),
        solver_(problem_, options) {}

  NoiseFit run(Index max_iterations) {
    const double rows = problem_.design.total_weight() - static_cast<double>(problem_.design.basis().cols());
    Problem plain = problem_;
    plain.ridge = 0;
    IndexSet support;
    for (;;) {
      const double left = rows - static_cast<double>(support.size());
      if (left <= 0) return answer(NoiseStatus::kTooManySelected);
      const double residual = least_squares(plain, support, Work(options_.threads)).residual_norm;
      // What is left over is rounding.
      if (!(residual > 1e-12 * problem_.loss->response().norm())) return answer(NoiseStatus::kNoNoise);
      const double sigma = residual / std::sqrt(left);
      past_.supports.push_back(support);
      past_.sigmas.push_back(sigma);
      fit_at(sigma);
      IndexSet selected = nonzero_entries(fit_->solution.beta);
      if (fit_->status == Status::kTimeLimit || fit_->status == Status::kInterrupted)
        return answer(NoiseStatus::kLimit);
      if (selected == support) return answer(NoiseStatus::kConverged);
      if (std::ssize(past_.sigmas) >= max_iterations) return answer(NoiseStatus::kLimit);
      if (const auto largest = past_.largest_since(selected)) {
        if (sigma_ != *largest) fit_at(*largest);
        return answer(NoiseStatus::kCycle);
      }
      support = std::move(selected);
    }
  }

 private:
  void fit_at(double sigma) {
    sigma_ = sigma;
    const double alpha = sigma * noise_unit(problem_.design);
    const Fit now =
        solver_.fit(start_.shape.scaled(alpha), std::max(0.0, options_.max_seconds - seconds_), observer_);
    const double passes = fit_ ? fit_->passes : 0;
    const double cpu = fit_ ? fit_->cpu_seconds : 0;
    fit_ = now;
    seconds_ += now.seconds;
    fit_->seconds = seconds_;
    fit_->cpu_seconds += cpu;
    fit_->passes += passes;
  }

  NoiseFit answer(NoiseStatus status) {
    const Noise noise{sigma_, std::ssize(past_.sigmas), status};
    if (fit_) return {noise, at_noise(start_, sigma_), std::move(*fit_)};
    // No noise, or too little data to see any: nothing is selected.
    const Regression regression = start_.at(start_.alpha_max > 0 ? start_.alpha_max : 1);
    return {noise, regression, fit(regression.problem, options_, nullptr, observer_)};
  }

  const Regression& start_;
  const Problem& problem_;
  const FitOptions& options_;
  const Observer& observer_;
  PathSolver solver_;
  History past_;
  double sigma_ = 0, seconds_ = 0;
  std::optional<Fit> fit_;  // at sigma; its times and passes are those of all
};

}  // namespace

std::string_view name(NoiseStatus status) { return kStatuses.name(status); }

std::string_view explained(NoiseStatus status) {
  switch (status) {
    case NoiseStatus::kConverged:
      return "";
    case NoiseStatus::kCycle:
      return "its supports come again, and sigma is the largest among them, which selects the least";
    case NoiseStatus::kLimit:
      return "the limit of rounds, epochs or time was reached";
    case NoiseStatus::kTooManySelected:
      return "the columns selected leave no degrees of freedom";
    case NoiseStatus::kNoNoise:
      return "least squares on the columns selected leaves no residual";
  }
  return "";
}

NoiseStatus parse_noise_status(std::string_view text) {
  if (const auto found = kStatuses.find(text)) return *found;
  throw DataError("expected a status of a noise estimate, got '" + std::string(text.substr(0, 40)) + "'");
}

double noise_unit(const Design& design) {
  const Vector& norms = design.norms();
  const Index columns = (norms.array() > 0).count();
  if (columns == 0) return std::sqrt(design.total_weight());
  return norms.norm() / std::sqrt(static_cast<double>(columns));
}

void validate_noise_weights(const RegressionOptions& options) {
  if (options.weight_values.size() > 0 || (options.weights != "bh" && options.weights != "gaussian"))
    throw InvalidArgument("sigma: want weights bh or gaussian, got '" + options.weights + "'");
}

void validate_sigma(double sigma) {
  if (!(sigma > 0 && std::isfinite(sigma)))
    throw InvalidArgument(fmt::format("sigma: want a number > 0, got {}", sigma));
}

Regression at_noise(const Regression& regression, double sigma) {
  validate_sigma(sigma);
  return regression.at(sigma * noise_unit(regression.problem.design));
}

NoiseFit fit_estimating_noise(const Regression& regression, const FitOptions& options,
                              const Observer& observer, Index max_iterations) {
  if (max_iterations < 1)
    throw InvalidArgument(fmt::format("max_iterations: want a number >= 1, got {}", max_iterations));
  return Estimate(regression, options, observer).run(max_iterations);
}

}  // namespace tyto
