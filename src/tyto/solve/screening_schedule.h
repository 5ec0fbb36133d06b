#pragma once

#include <cmath>
#include <optional>

#include "tyto/problem/gradient_bounds/drift.h"
#include "tyto/problem/screening.h"
#include "tyto/solve/active_problem.h"

namespace tyto {

// When a fit tries to screen, and by which ball. A rule that is not safe has one try, at the start, and what
// it drops has to be checked at the end.
struct ScreeningSchedule {
  const ScreeningRule& rule;
  const Tuning& tuning;
  BestSphere best{tuning.screening};
  bool guesses = !rule.safe;  // columns may have been dropped wrongly

  // The columns that are left after a try, if there is one and it drops any. `correlation` is X'r, or bounds
  // of it. `few_epochs`: the solver takes bounds, and needs few epochs. Columns that are dropped there have
  // to be read once more at the end: there is no try in the first epochs, nor where X is small; many columns
  // have to go; and the ball is that of the last certificate.
  std::optional<IndexSet> survivors(const ActiveProblem& active, const Certificate& c,
                                    const Vector& correlation, Index epoch, bool few_epochs) {
    const Problem& problem = active.problem;
    const Index p = problem.design.cols();
    const Index most = few_epochs ? share_of(tuning.screening.lazy_share, p) : p - 1;
    if (!rule.safe) {
      if (!guesses || epoch > 0) return std::nullopt;
      IndexSet alive = strong_survivors(problem, correlation);
      return std::ssize(alive) > most ? std::nullopt : std::optional(std::move(alive));
    }
    if (!rule.screens) return std::nullopt;
    if (!few_epochs) {
      if (!best.update(c, correlation, problem.design.rows())) return std::nullopt;
      return few_survivors(rule, problem, best.sphere(), most, tuning.screening);
    }
    if (epoch < tuning.screening.lazy_epochs || in_cache(problem.design, tuning.reading)) return std::nullopt;
    const Sphere sphere = sphere_of(c, correlation, problem.design.rows());
    if (!std::isfinite(sphere.radius)) return std::nullopt;
    return few_survivors(rule, problem, sphere, most, tuning.screening);
  }
  // All columns are back.
  void stop_guessing() {
    guesses = false;
    best = BestSphere(tuning.screening);
  }
};

}  // namespace tyto
