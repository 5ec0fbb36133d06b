// The certificate of the multinomial loss (MATH.md, section 14), in extended precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tyto/verify/setting.h"

namespace tyto::verifying {
namespace {

using Table = std::vector<Reals>;  // of each class, of each row

struct Terms {
  const Setting& setting;
  Table mu, residual;  // the probabilities, and y - mu
  Table dual;          // y - mu, but orthogonal to the directions: the dual point is s dual
  Real ridge_square, norm, product;
};

// Of one row: the probabilities in place of the linear predictors, and minus the logarithm of that of class
// y.
Real to_probabilities(Table& eta, std::size_t i, std::size_t y) {
  Real most = eta[0][i];
  for (const Reals& of_class : eta) most = std::max(most, of_class[i]);
  const Real below = most - eta[y][i];
  Real others = 0;
  for (std::size_t c = 0; c < eta.size(); ++c) {
    eta[c][i] = std::exp(eta[c][i] - most);
    if (c != y) others += eta[c][i];
  }
  const Real sum = others + eta[y][i];
  for (Reals& of_class : eta) of_class[i] /= sum;
  return below == 0 ? std::log1p(others) : std::log(sum) + below;
}

// Takes what is not orthogonal to the directions out of the residual of each class, along the curvature
// diag(mu) - mu mu' of the rows. What all classes have in common is 0 by itself: the last class is left out.
void make_orthogonal(const Setting& setting, const Table& mu, Table& residual) {
  const std::size_t count = setting.directions.size();
  const std::size_t free = residual.size() - 1;
  std::vector<Reals> a(count * free, Reals(count * free));
  Reals b(count * free);
  const auto curvature = [&](std::size_t c, std::size_t e, std::size_t i) {
    return (c == e ? mu[c][i] : 0) - mu[c][i] * mu[e][i];
  };
  for (std::size_t k = 0; k < b.size(); ++k) {
    const Reals& own = setting.directions[k % count];
    b[k] = dot(own, residual[k / count]);
    for (std::size_t l = 0; l < b.size(); ++l)
      for (std::size_t i = 0; i < own.size(); ++i)
        a[k][l] += own[i] * curvature(k / count, l / count, i) * setting.directions[l % count][i];
  }
  const Reals shift = solved(std::move(a), std::move(b));
  for (std::size_t c = 0; c < residual.size(); ++c)
    for (std::size_t l = 0; l < shift.size(); ++l)
      for (std::size_t i = 0; i < residual[c].size(); ++i)
        residual[c][i] -= shift[l] * curvature(c, l / count, i) * setting.directions[l % count][i];
}

Real gap_at(const Terms& of, Real scale) {
  Real gap = (1 - scale) * (1 - scale) * of.ridge_square / 2 + of.norm - scale * of.product;
  for (std::size_t c = 0; c < of.mu.size(); ++c)
    for (std::size_t i = 0; i < of.mu[c].size(); ++i)
      if (of.setting.weights[i] > 0)
        gap += of.setting.weights[i] *
               relative_entropy(of.mu[c][i] + of.residual[c][i] - scale * of.dual[c][i], of.mu[c][i]);
  return gap;
}

void append(Reals& all, const Reals& some) { all.insert(all.end(), some.begin(), some.end()); }

// Sets the dual point from its rows times the roots of their weights; what the columns are correlated to it.
Reals set_dual(Terms& of, const Table& dual, const Dataset& data) {
  Reals pulls;
  for (std::size_t c = 0; c < dual.size(); ++c) {
    for (std::size_t i = 0; i < dual[c].size(); ++i)
      if (of.setting.roots[i] > 0) of.dual[c][i] = dual[c][i] / of.setting.roots[i];
    append(pulls, correlations(of.setting, data, dual[c]));
  }
  return pulls;
}

}  // namespace

Bounds multinomial_bounds(const Claim& claim, const Setting& setting, const Dataset& data) {
  const Reals y = encoded(claim, data);
  const auto classes = static_cast<std::size_t>(claim.predictors());
  Terms of{setting, {}, Table(classes, Reals(y.size())), Table(classes, Reals(y.size())), 0, 0, 0};
  Table betas;
  Reals all;
  Real spread = 0;
  bool allowed = true;
  for (std::size_t c = 0; c < classes; ++c) {
    Fitted model = fitted(claim, setting, data, claim.constants[c], static_cast<Index>(c));
    spread += model.spread;
    allowed = allowed && model.allowed;
    append(all, model.beta);
    betas.push_back(std::move(model.beta));
    of.mu.push_back(std::move(model.predictor));
  }
  Real predictors = 0;
  Real value = 0;
  Real squares = 0;
  Table residual = of.residual;  // times the roots of the row weights
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto own = static_cast<std::size_t>(y[i]);
    for (std::size_t c = 0; c < classes; ++c) predictors += setting.weights[i] * of.mu[c][i] * of.mu[c][i];
    value += setting.weights[i] * to_probabilities(of.mu, i, own);
    for (std::size_t c = 0; c < classes; ++c) {
      if (c == own) continue;
      of.residual[c][i] = -of.mu[c][i];
      of.residual[own][i] += of.mu[c][i];
    }
    for (std::size_t c = 0; c < classes; ++c) residual[c][i] = setting.roots[i] * of.residual[c][i];
    squares += setting.weights[i];
  }
  Real residual_squares = 0;
  for (const Reals& of_class : residual) residual_squares += dot(of_class, of_class);
  make_orthogonal(setting, of.mu, residual);
  const Reals pulls = set_dual(of, residual, data);
  of.ridge_square = claim.ridge * dot(all, all);
  of.norm = sorted_product(magnitudes(all), claim.weights);
  for (std::size_t k = 0; k < all.size(); ++k) of.product += all[k] * (pulls[k] - claim.ridge * all[k]);
  const Real primal = value + of.ridge_square / 2 + of.norm;
  const Real rounding = 4 * std::numeric_limits<double>::epsilon() * (std::sqrt(predictors) + spread);
  const Real noise = rounding * (std::sqrt(residual_squares) + rounding / 2);
  const Real bound = dual_norm(counted(claim, pulls, all), claim.weights);
  const Real gap = least_gap([&](Real scale) { return gap_at(of, scale); },
                             bound > 0 ? 1 / bound : std::numeric_limits<Real>::infinity());
  return {squares, primal, primal - gap, noise + 1e-12L * primal, allowed};
}

}  // namespace tyto::verifying
