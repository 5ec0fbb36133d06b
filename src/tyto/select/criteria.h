#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/select/path.h"

namespace tyto {

enum class Criterion { kAic, kBic, kCp };
std::string_view name(Criterion criterion);
Criterion parse_criterion(std::string_view name);
std::vector<std::string> criterion_names();

// Of one strength; the smaller, the better (MATH.md, section 11).
struct Criteria {
  // Degrees of freedom: clusters (fewer with a ridge), unpenalised columns, and the intercept where there is
  // one.
  double freedom = 0;
  double aic = 0, bic = 0;
  std::optional<double> cp = {};  // where the variance of the noise is known
};

// The strength that a criterion chooses.
struct CriterionChoice {
  static constexpr double kNearSaturation = 0.8;  // degrees of freedom as a share of the rows

  Criterion criterion;
  Index step;
  double freedom, value;
  double rows;  // n, or the sum of their weights

  // The model all but repeats the data: neither AIC nor BIC is meant for that.
  bool near_saturation() const { return freedom >= kNearSaturation * rows; }
};

// Of each step of a path that was fitted to n rows (or the sum of their weights) and p columns. Cp needs the
// standard deviation of the noise: sigma, or else, where p < n, that of the residuals of the weakest penalty
// with freedom < n.
std::vector<Criteria> criteria(const Path& path, const Problem& problem, std::optional<double> sigma = {},
                               const Work& work = Work());

// What log(n) of BIC counts: rows, or the sum of their weights; for the loss cox those with an event.
double observations(const Problem& problem);

bool cp_needs_sigma(const Problem& problem);  // p >= n

// The least value among strengths that leave residual degrees of freedom; of several, the strongest penalty;
// where none does, the first strength.
// Throws InvalidArgument where the criterion cannot be had.
CriterionChoice choose(const std::vector<Criteria>& criteria, Criterion criterion, double n);

}  // namespace tyto
