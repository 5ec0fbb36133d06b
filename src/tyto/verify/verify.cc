#include "tyto/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

using Real = long double;
using Reals = std::vector<Real>;

// The model's own words.
struct Claim {
  Index n, p;
  bool intercept, standardize, converged;
  double constant, primal, gap, tolerance;
  std::vector<std::pair<Index, double>> coefficients;
  std::vector<std::string> names;
  Reals weights;
};

Claim read_claim(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path + ": cannot open this model");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  try {
    const auto json = nlohmann::json::parse(text);
    Claim claim{json.at("n"),
                json.at("p"),
                json.at("fit_intercept"),
                json.at("standardize"),
                json.at("status") == "converged",
                json.at("intercept"),
                json.at("primal"),
                json.at("gap"),
                json.at("tolerance"),
                json.at("coefficients"),
                json.at("names"),
                {}};
    const double alpha = json.at("alpha");
    std::vector<double> shape;
    if (json.contains("weight_values")) {
      shape = json["weight_values"].get<std::vector<double>>();
    } else {
      const Vector made =
          make_weights(json.at("weights").get<std::string>(), {claim.n, claim.p, json.at("q")});
      shape.assign(made.begin(), made.end());
    }
    if (std::ssize(shape) != claim.p)
      throw DataError(path + ": expected p weights, got " + std::to_string(shape.size()));
    for (const double w : shape) claim.weights.push_back(Real(alpha) * w);
    for (const auto& [column, value] : claim.coefficients)
      if (column < 0 || column >= claim.p) throw DataError(path + ": expected columns 0 to p - 1");
    return claim;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(path + ": expected a tyto model: " + error.what());
  }
}

void check_shape(const Claim& claim, const Dataset& data) {
  const auto wrong = [](const char* what, Index want, Index got) {
    return InvalidArgument("data: want " + std::to_string(want) + " " + what + ", as in the model, got " +
                           std::to_string(got));
  };
  if (data.design.rows() != claim.n) throw wrong("rows", claim.n, data.design.rows());
  if (data.design.cols() != claim.p) throw wrong("feature columns", claim.p, data.design.cols());
  if (data.response.size() != claim.n)
    throw InvalidArgument("data: want a response to verify against, got none");
  if (data.names.empty() || claim.names.size() != claim.coefficients.size()) return;
  for (std::size_t k = 0; k < claim.names.size(); ++k)
    if (const auto& name = data.names[static_cast<std::size_t>(claim.coefficients[k].first)];
        name != claim.names[k])
      throw InvalidArgument("data: want column '" + claim.names[k] + "' at place " +
                            std::to_string(claim.coefficients[k].first) + ", got '" + name + "'");
}

// Mean and scale of a column by the definitions of MATH.md, section 1.
struct Column {
  Real center = 0, scale = 1;
};
Column measure(const Design& design, Index j, const Claim& claim) {
  const auto n = static_cast<Real>(design.rows());
  Column column;
  Real sum = 0;
  Index stored = 0;
  design.for_each_entry(j, [&](Index, double x) { sum += x, ++stored; });
  if (claim.intercept) column.center = sum / n;
  Real squares = static_cast<Real>(design.rows() - stored) * column.center * column.center;
  design.for_each_entry(j, [&](Index, double x) { squares += (x - column.center) * (x - column.center); });
  const bool constant = std::sqrt(squares / n) <= 1e-17L * std::abs(column.center);
  if (claim.standardize && squares > 0 && !constant) column.scale = std::sqrt(squares / n);
  return column;
}

Real sorted_product(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real sum = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) sum += magnitudes[i] * weights[i];
  return sum;
}

Real dual_norm(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real top = 0, bottom = 0, norm = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    top += magnitudes[i], bottom += weights[i];
    norm = std::max(norm, top / bottom);
  }
  return norm;
}

}  // namespace

Verification verify(const std::string& model_path, const Dataset& data) {
  const Claim claim = read_claim(model_path);
  check_shape(claim, data);
  const auto n = static_cast<std::size_t>(claim.n), p = static_cast<std::size_t>(claim.p);

  Reals residual(n), y(n), beta(p, 0), correlation(p);
  Real mean = 0;
  for (std::size_t i = 0; i < n; ++i)
    mean += Real(data.response[static_cast<Index>(i)]) / static_cast<Real>(n);
  for (std::size_t i = 0; i < n; ++i) {
    residual[i] = Real(data.response[static_cast<Index>(i)]) - claim.constant;
    y[i] = Real(data.response[static_cast<Index>(i)]) - (claim.intercept ? mean : 0);
  }
  for (const auto& [column, value] : claim.coefficients) {
    data.design.for_each_entry(
        column, [&](Index i, double x) { residual[static_cast<std::size_t>(i)] -= Real(value) * x; });
    beta[static_cast<std::size_t>(column)] =
        std::abs(Real(value) * measure(data.design, column, claim).scale);
  }
  Real rr = 0, sum = 0;
  for (const Real r : residual) rr += r * r, sum += r;
  const Real primal = rr / 2 + sorted_product(beta, claim.weights);

  // theta = s r, with r centred where there is an intercept.
  Real ry = 0, theta2 = 0, yy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (claim.intercept) residual[i] -= sum / static_cast<Real>(n);
    ry += residual[i] * y[i], theta2 += residual[i] * residual[i], yy += y[i] * y[i];
  }
  for (std::size_t j = 0; j < p; ++j) {
    const Column column = measure(data.design, static_cast<Index>(j), claim);
    Real product = 0;
    data.design.for_each_entry(static_cast<Index>(j), [&](Index i, double x) {
      product += (x - column.center) * residual[static_cast<std::size_t>(i)];
    });
    if (data.design
            .is_sparse()) {  // entries that are not stored: their residuals sum to minus that of the others
      Real stored = 0, all = 0;
      data.design.for_each_entry(static_cast<Index>(j),
                                 [&](Index i, double) { stored += residual[static_cast<std::size_t>(i)]; });
      for (const Real r : residual) all += r;
      product -= column.center * (all - stored);
    }
    correlation[j] = std::abs(product / column.scale);
  }
  const Real bound = dual_norm(correlation, claim.weights);
  Real s = theta2 > 0 ? ry / theta2 : 0;
  if (bound * std::abs(s) > 1) s = std::copysign(1 / bound, s);
  const Real dual = s * ry - s * s * theta2 / 2;

  Verification result{static_cast<double>(primal),
                      static_cast<double>(dual),
                      static_cast<double>(primal - dual),
                      claim.primal,
                      claim.gap,
                      claim.tolerance,
                      true,
                      ""};
  const double slack = 1e-12 * (result.primal + static_cast<double>(yy));
  const auto fails = [&](const std::string& why) { result.holds = false, result.reason = why; };
  if (!(std::abs(result.primal - claim.primal) <= 1e-9 * result.primal + slack))
    fails("the primal value is not the one that the model states");
  else if (!(result.gap <= std::max(claim.gap, 0.0) * (1 + 1e-6) + slack))
    fails("the gap is larger than the one that the model states");
  else if (claim.converged && !(result.gap <= claim.tolerance * result.primal + slack))
    fails("the gap is larger than the tolerance that the model states");
  return result;
}

}  // namespace tyto
