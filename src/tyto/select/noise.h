#pragma once

#include <optional>
#include <string_view>

#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto {

// How an estimate of the noise ended. All but the first are answers that did not settle.
enum class NoiseStatus {
  kConverged,        // the support is the one that sigma was estimated on
  kCycle,            // supports come again; sigma is the largest among them
  kLimit,            // of iterations, epochs or time, or the observer said stop
  kTooManySelected,  // the support leaves no residual degrees of freedom; sigma is the one it was found with
  kNoNoise,          // least squares on the support leaves no residual; as before
};
std::string_view name(NoiseStatus status);
NoiseStatus parse_noise_status(std::string_view name);  // throws DataError

// What it means where it is not converged, in a sentence; empty where it is.
std::string_view explained(NoiseStatus status);

// The standard deviation of the noise, given or estimated.
struct Noise {
  double sigma = 0;
  Index iterations = 0;                    // of the estimate
  std::optional<NoiseStatus> status = {};  // none where sigma was given

  bool settled() const { return status.value_or(NoiseStatus::kConverged) == NoiseStatus::kConverged; }
};

// What sigma is multiplied with to get the multiplier of the weights: the root mean square of the columns'
// norms, constant columns left out. It is sqrt(n) for standardised columns, but for what unpenalised ones
// explain of them.
double noise_unit(const Design& design);

// Throws InvalidArgument unless sigma says something about these weights: bh and gaussian are made for a
// multiplier that is the level of the noise.
void validate_noise_weights(const RegressionOptions& options);

void validate_sigma(double sigma);  // throws InvalidArgument unless it is a finite number > 0

// The regression with the multiplier sigma * noise_unit. sigma: > 0.
Regression at_noise(const Regression& regression, double sigma);

struct NoiseFit {
  Noise noise;
  Regression regression;  // at the noise
  Fit fit;                // certified, as every fit is
};

// Bogdan et al. 2015, Algorithm 5: sigma from the least squares on the support, which is empty at first, then
// a fit with that sigma, and so on until the support stays as it is. The intercept and unpenalised columns
// take degrees of freedom, too. options.max_seconds is for all fits.
NoiseFit fit_estimating_noise(const Regression& regression, const FitOptions& options = {},
                              const Observer& observer = {}, Index max_iterations = 100);

}  // namespace tyto
