// What a cross-validation says: its choice, and what it compared.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/select/cv.h"

namespace tyto {

CvChoice choose(const std::vector<double>& error, const std::vector<double>& standard_error,
                ErrorMeasure measure) {
  const auto loss = [sign = larger_is_better(measure) ? -1.0 : 1.0](double e) {
    return std::isfinite(e) ? sign * e : std::numeric_limits<double>::infinity();
  };
  const auto best = std::ranges::min_element(error, {}, loss);
  if (best == error.end() || !std::isfinite(*best))
    throw InvalidArgument("error: want one that is finite at some strength; the predictions overflow at all");
  const double width = standard_error.at(static_cast<std::size_t>(best - error.begin()));
  const double bound = loss(*best) + (std::isfinite(width) ? width : 0);
  const auto one_se = std::ranges::find_if(error, [&](double e) { return loss(e) <= bound; });
  return {best - error.begin(), one_se - error.begin()};
}

std::vector<double> CvCurve::errors_of(const FoldScore& score) const {
  const auto place = std::ranges::find(by_gamma, gamma, &CvErrors::gamma) - by_gamma.begin();
  const auto steps = std::ssize(path.steps), begin = place * steps;
  return {score.errors.begin() + begin, score.errors.begin() + begin + steps};
}

std::vector<Comparison> comparisons(const CrossValidation& cv) {
  const auto best = [&](const std::vector<double>& error, const std::vector<double>& standard_error) {
    return error[static_cast<std::size_t>(choose(error, standard_error, cv.measure).best)];
  };
  std::vector<Comparison> all;
  const CvCurve& chosen = cv.chosen();
  if (cv.curves.size() > 1) {
    const bool by_q = cv.curves[0].q != cv.curves[1].q;
    Comparison shapes{by_q ? "q" : "slope", {}, {}, by_q ? chosen.q : chosen.slope};
    for (const CvCurve& curve : cv.curves) {
      shapes.values.push_back(by_q ? curve.q : curve.slope);
      shapes.errors.push_back(best(curve.error, curve.standard_error));
    }
    all.push_back(std::move(shapes));
  }
  if (chosen.by_gamma.size() > 1) {
    Comparison gammas{"gamma", {}, {}, chosen.gamma};
    for (const CvErrors& one : chosen.by_gamma) {
      gammas.values.push_back(one.gamma);
      gammas.errors.push_back(best(one.error, one.standard_error));
    }
    all.push_back(std::move(gammas));
  }
  return all;
}

bool CrossValidation::converged() const {
  const auto good = [](const FoldScore& score) {
    return std::ranges::all_of(score.statuses, [](Status status) { return status == Status::kConverged; });
  };
  return complete() && std::ranges::all_of(scores, good) &&
         std::ranges::all_of(curves, [](const CvCurve& curve) { return curve.path.converged(); });
}

double CrossValidation::worst_gap() const {
  double worst = 0;
  for (const FoldScore& score : scores)
    for (const double gap : score.relative_gaps) worst = std::max(worst, gap);
  return worst;
}

}  // namespace tyto
