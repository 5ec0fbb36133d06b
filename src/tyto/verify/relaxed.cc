#include "tyto/verify/relaxed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tyto/base/error.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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

// y - Xb with the relaxed coefficients, and what its rounding errors are proportional to.
struct Residual {
  Reals entries;
  Real spread;
  Reals column_norms;
};

Residual relaxed_residual(const RelaxedClaim& claim, const Dataset& data, const Reals& weights) {
  Residual result{{data.response.begin(), data.response.end()}, 0, {}};
  for (Real& entry : result.entries) entry -= claim.relaxed_intercept;
  const Real total = std::accumulate(weights.begin(), weights.end(), Real(0));
  result.spread = std::abs(Real(claim.relaxed_intercept)) * std::sqrt(total);
  for (std::size_t k = 0; k < claim.columns.size(); ++k) {
    const Real b = claim.relaxed[k];
    Real squares = 0;
    data.design.for_each_entry(claim.columns[k], [&](Index i, double x) {
      result.entries[at(i)] -= b * x;
      squares += weights[at(i)] * x * x;
    });
    result.column_norms.push_back(std::sqrt(squares));
    result.spread += std::abs(b) * result.column_norms.back();
  }
  return result;
}

// The normal equations, one for each free direction and one for each cluster.
class Equations {
 public:
  Equations(const RelaxedClaim& claim, const Dataset& data, const RelaxedSetting& setting)
      : claim_(claim),
        data_(data),
        setting_(setting),
        residual_(relaxed_residual(claim, data, setting.row_weights)) {
    const Reals y(data.response.begin(), data.response.end()), ones(y.size(), Real(1));
    const Real total = product(ones, ones), mean = claim.fits_intercept ? product(ones, y) / total : 0;
    Reals centred = y;
    for (Real& entry : centred) entry -= mean;
    length_ = std::sqrt(product(centred, centred));
    // The errors of coefficients that are stored in double precision, and of sums that were made in it.
    rounding_ = 64 * std::numeric_limits<double>::epsilon() * (std::sqrt(product(y, y)) + residual_.spread);
  }

  void check_intercept() {
    const Reals ones(residual_.entries.size(), Real(1));
    check(ones, 0, std::sqrt(product(ones, ones)));
  }

  // The signed sum of these columns, standardised.
  void check_cluster(const std::vector<std::size_t>& members, bool penalized) {
    Reals z(residual_.entries.size(), Real(0));
    Real magnitude = 0, pull = 0;
    for (const std::size_t k : members) {
      const std::size_t column = at(claim_.columns[k]);
      const Real factor = (penalized ? sign(claim_.penalized[k]) : 1) / setting_.scales[column];
      for (Real& entry : z) entry -= factor * setting_.centers[column];
      data_.design.for_each_entry(claim_.columns[k], [&](Index i, double x) { z[at(i)] += factor * x; });
      magnitude += residual_.column_norms[k] / setting_.scales[column];
      if (penalized)
        pull += setting_.ridge * sign(claim_.penalized[k]) * claim_.relaxed[k] * setting_.scales[column];
    }
    check(z, pull, magnitude);
  }

  double error() const { return static_cast<double>(error_); }
  bool hold() const { return hold_; }

 private:
  Real product(const Reals& a, const Reals& b) const {
    Real sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += setting_.row_weights[i] * a[i] * b[i];
    return sum;
  }

  void check(const Reals& z, Real pull, Real magnitude) {
    const Real off = std::abs(product(z, residual_.entries) - pull),
               most = std::sqrt(product(z, z)) * length_ + std::abs(pull);
    if (most > 0) error_ = std::max(error_, off / most);
    hold_ = hold_ && off <= 1e-10L * most + rounding_ * magnitude;
  }

  const RelaxedClaim& claim_;
  const Dataset& data_;
  const RelaxedSetting& setting_;
  Residual residual_;
  Real length_ = 0, rounding_ = 0, error_ = 0;
  bool hold_ = true;
};

}  // namespace

RelaxedClaim read_relaxed(const Json& model) {
  RelaxedClaim claim;
  claim.gamma = number_at(model, "gamma");
  if (!(claim.gamma >= 0 && claim.gamma <= 1)) throw DataError("expected gamma in [0, 1]");
  claim.intercept = number_at(model, "intercept");
  claim.penalized_intercept = number_at(model, "penalized_intercept");
  claim.relaxed_intercept = number_at(model, "relaxed_intercept");
  claim.fits_intercept = model.at("fit_intercept").get<bool>();
  claim.clusters = whole_numbers_at(model, "cluster_of");
  claim.penalized = numbers_at(model, "penalized");
  claim.relaxed = numbers_at(model, "relaxed");
  for (const auto& [column, value] : entries_at(model, "coefficients")) {
    claim.columns.push_back(column);
    claim.coefficients.push_back(value);
  }
  for (const std::size_t size : {claim.clusters.size(), claim.penalized.size(), claim.relaxed.size()})
    if (size != claim.columns.size())
      throw DataError("expected one cluster, one penalized and one relaxed number for each coefficient");
  return claim;
}

RelaxedFinding check_relaxed(const RelaxedClaim& claim, const Dataset& data, const RelaxedSetting& setting) {
  Clusters clusters;
  std::vector<std::size_t> free;
  for (std::size_t k = 0; k < claim.columns.size(); ++k)
    if (std::ranges::find(setting.unpenalized, claim.columns[k]) != setting.unpenalized.end())
      free.push_back(k);
    else
      clusters[claim.clusters[k]].push_back(k);
  RelaxedFinding result;
  result.reason = mixture_fault(claim);
  if (result.reason.empty()) result.reason = pattern_fault(claim, clusters, setting.scales);
  if (!result.reason.empty()) return result;
  Equations equations(claim, data, setting);
  if (claim.fits_intercept) equations.check_intercept();
  for (const std::size_t k : free) equations.check_cluster({k}, false);
  for (const auto& [number, members] : clusters) equations.check_cluster(members, true);
  result.error = equations.error();
  if (!equations.hold())
    result.reason = "the relaxed coefficients do not solve the normal equations of their pattern";
  return result;
}

}  // namespace tyto
