#include "tyto/verify/relaxed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tyto/base/error.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Real norm(const Reals& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), Real(0))); }

bool is_mixture(double value, double penalized, double relaxed, double gamma) {
  const Real want = (1 - Real(gamma)) * relaxed + Real(gamma) * penalized;
  return std::abs(value - want) <= 1e-12L * (std::abs(Real(relaxed)) + std::abs(Real(penalized)));
}

std::string mixture_fault(const RelaxedClaim& claim) {
  bool holds = is_mixture(claim.intercept, claim.penalized_intercept, claim.relaxed_intercept, claim.gamma);
  for (std::size_t k = 0; k < claim.columns.size(); ++k)
    holds &= is_mixture(claim.coefficients[k], claim.penalized[k], claim.relaxed[k], claim.gamma);
  return holds ? ""
               : "the coefficients are not the mixture of penalized and relaxed ones that gamma asks for";
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

using Clusters = std::map<Index, std::vector<std::size_t>>;  // places in the claim

// Members of a cluster have one magnitude before and after, and the same signs relative to each other.
std::string pattern_fault(const RelaxedClaim& claim, const Clusters& clusters, const Reals& scales) {
  const auto differ = [](Real a, Real b) {
    return !(std::abs(a - b) <= 1e-6L * std::max(std::abs(a), std::abs(b)));
  };
  for (const auto& [number, members] : clusters) {
    const std::size_t first = members.front();
    for (const std::size_t k : members) {
      const auto of = [&](const std::vector<double>& values, std::size_t i) {
        return values[i] * sign(claim.penalized[i]) * scales[at(claim.columns[i])];
      };
      if (claim.penalized[k] == 0 || differ(of(claim.penalized, k), of(claim.penalized, first)) ||
          differ(of(claim.relaxed, k), of(claim.relaxed, first)))
        return "the relaxed coefficients do not have the clusters of the penalized ones";
    }
  }
  return "";
}

}  // namespace

RelaxedClaim read_relaxed(const nlohmann::json& model) {
  RelaxedClaim claim;
  claim.gamma = model.at("gamma"), claim.intercept = model.at("intercept");
  claim.penalized_intercept = model.at("penalized_intercept");
  claim.relaxed_intercept = model.at("relaxed_intercept");
  claim.fits_intercept = model.at("fit_intercept");
  claim.clusters = model.at("cluster_of").get<std::vector<Index>>();
  claim.penalized = model.at("penalized").get<std::vector<double>>();
  claim.relaxed = model.at("relaxed").get<std::vector<double>>();
  for (const auto& [column, value] : model.at("coefficients").get<std::vector<std::pair<Index, double>>>())
    claim.columns.push_back(column), claim.coefficients.push_back(value);
  for (const std::size_t size : {claim.clusters.size(), claim.penalized.size(), claim.relaxed.size()})
    if (size != claim.columns.size())
      throw DataError("expected one cluster, one penalized and one relaxed number for each coefficient");
  return claim;
}

RelaxedFinding check_relaxed(const RelaxedClaim& claim, const Dataset& data, const Reals& centers,
                             const Reals& scales) {
  Clusters clusters;
  for (std::size_t k = 0; k < claim.columns.size(); ++k) clusters[claim.clusters[k]].push_back(k);
  RelaxedFinding result;
  result.reason = mixture_fault(claim);
  if (result.reason.empty()) result.reason = pattern_fault(claim, clusters, scales);
  if (!result.reason.empty()) return result;

  const auto n = static_cast<Real>(data.response.size());
  const Reals y(data.response.begin(), data.response.end());
  const Real mean = claim.fits_intercept ? std::accumulate(y.begin(), y.end(), Real(0)) / n : 0;
  Reals residual = y, centred = y;
  for (std::size_t i = 0; i < y.size(); ++i) residual[i] -= claim.relaxed_intercept, centred[i] -= mean;
  Real spread = std::abs(Real(claim.relaxed_intercept)) * std::sqrt(n);  // what Xb is made of
  Reals raw_norms;
  for (std::size_t k = 0; k < claim.columns.size(); ++k) {
    const Real b = claim.relaxed[k];
    Real squares = 0;
    data.design.for_each_entry(claim.columns[k],
                               [&](Index i, double x) { residual[at(i)] -= b * x, squares += Real(x) * x; });
    raw_norms.push_back(std::sqrt(squares));
    spread += std::abs(b) * raw_norms.back();
  }
  // The errors of coefficients that are stored in double precision, and of sums that were made in it.
  const Real rounding = 64 * std::numeric_limits<double>::epsilon() * (norm(y) + spread);
  const auto equation = [&](Real product, Real length, Real magnitude) {
    const Real most = length * norm(centred);
    if (most > 0) result.error = std::max(result.error, static_cast<double>(std::abs(product) / most));
    if (!(std::abs(product) <= 1e-10L * most + rounding * magnitude))
      result.reason = "the relaxed coefficients do not solve the normal equations of their pattern";
  };
  const Real all = std::accumulate(residual.begin(), residual.end(), Real(0));
  if (claim.fits_intercept) equation(all, std::sqrt(n), std::sqrt(n));
  for (const auto& [number, members] : clusters) {
    Reals z(y.size(), Real(0));
    Real magnitude = 0;
    for (const std::size_t k : members) {
      const Index column = claim.columns[k];
      const Real factor = sign(claim.penalized[k]) / scales[at(column)];
      for (Real& entry : z) entry -= factor * centers[at(column)];
      data.design.for_each_entry(column, [&](Index i, double x) { z[at(i)] += factor * x; });
      magnitude += raw_norms[k] / scales[at(column)];
    }
    equation(std::inner_product(z.begin(), z.end(), residual.begin(), Real(0)), norm(z), magnitude);
  }
  return result;
}

}  // namespace tyto
