#include "tyto/verify/setting.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "tyto/base/error.h"

namespace tyto::verifying {

Real dot(const Reals& a, const Reals& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
}

namespace {

// How often each row counts, once if nobody says otherwise.
Reals row_weights(const Claim& claim, const Dataset& data) {
  if (!claim.weighted) return Reals(static_cast<std::size_t>(claim.n), 1);
  return {data.row_weights.begin(), data.row_weights.end()};
}

Real sum(const Reals& v) { return std::accumulate(v.begin(), v.end(), Real(0)); }

// One number for each row, with their sum and that of their magnitudes.
struct Rows {
  explicit Rows(Reals numbers) : values(std::move(numbers)) {
    for (const Real value : values) {
      total += value;
      magnitude += std::abs(value);
    }
  }
  Reals values;
  Real total = 0, magnitude = 0;
};

// The sum over the rows where column j has no entry: what the others leave of the total, or, where they are
// most of it and the difference would be rounding, row by row.
Real sum_elsewhere(const Design& design, Index j, const Rows& rows) {
  Real stored = 0, magnitude = 0;
  Index count = 0;
  design.for_each_entry(j, [&](Index i, double) {
    stored += rows.values[static_cast<std::size_t>(i)];
    magnitude += std::abs(rows.values[static_cast<std::size_t>(i)]);
    ++count;
  });
  if (count == std::ssize(rows.values)) return 0;
  if (2 * magnitude <= rows.magnitude) return rows.total - stored;
  Reals others = rows.values;
  design.for_each_entry(j, [&](Index i, double) { others[static_cast<std::size_t>(i)] = 0; });
  return sum(others);
}

// The one number that a column holds in rows that count; nothing where there are several. Its mean is that
// number, free of rounding: centred, the column is 0, however large it was.
std::optional<Real> only_value(const Design& design, Index j, const Reals& weights) {
  std::optional<Real> found;
  bool one = true;
  Index stored = 0;
  design.for_each_entry(j, [&](Index i, double x) {
    ++stored;
    if (weights[static_cast<std::size_t>(i)] == 0) return;
    one = one && (!found || *found == x);
    found = x;
  });
  return one && stored == std::ssize(weights) ? found : std::nullopt;
}

Column measure(const Design& design, Index j, const Claim& claim, const Rows& rows) {
  const Reals& weights = rows.values;
  const Real total = rows.total;
  Column column;
  Real first = 0;
  design.for_each_entry(j, [&](Index i, double x) { first += weights[static_cast<std::size_t>(i)] * x; });
  if (claim.centered) column.center = only_value(design, j, weights).value_or(first / total);
  Real squares = sum_elsewhere(design, j, rows) * column.center * column.center;
  design.for_each_entry(j, [&](Index i, double x) {
    squares += weights[static_cast<std::size_t>(i)] * (x - column.center) * (x - column.center);
  });
  const bool constant = std::sqrt(squares / total) <= 100 * kRealEpsilon * std::abs(column.center);
  if (claim.standardize && squares > 0 && !constant) column.scale = std::sqrt(squares / total);
  return column;
}

}  // namespace

void take_out(const std::vector<Reals>& directions, Reals& v) {
  for (int twice = 0; twice < 2; ++twice)
    for (const Reals& direction : directions) {
      const Real along = dot(direction, v) / dot(direction, direction);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * direction[i];
    }
}

Setting make_setting(const Claim& claim, const Dataset& data) {
  Setting setting{
      row_weights(claim, data), {}, {}, std::vector<bool>(static_cast<std::size_t>(claim.p), true), {}};
  for (const Real weight : setting.weights) {
    if (!(weight >= 0)) throw InvalidArgument("data: want observation weights >= 0, got one below");
    setting.roots.push_back(std::sqrt(weight));
  }
  const Rows rows(setting.weights);
  const auto expected = data.design.expect();
  for (Index j = 0; j < claim.p; ++j) setting.columns.push_back(measure(data.design, j, claim, rows));
  if (claim.centered) setting.directions.push_back(setting.roots);
  for (const Index u : claim.unpenalized) {
    setting.penalized[static_cast<std::size_t>(u)] = false;
    Reals column(setting.roots.size(), 0);
    data.design.for_each_entry(u, [&](Index i, double x) {
      column[static_cast<std::size_t>(i)] = setting.roots[static_cast<std::size_t>(i)] * x;
    });
    const Real before = dot(column, column);
    take_out(setting.directions, column);
    if (dot(column, column) > 1e-20L * before) setting.directions.push_back(std::move(column));
  }
  return setting;
}

Reals magnitudes(Reals v) {
  for (Real& x : v) x = std::abs(x);
  return v;
}

Real sorted_product(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  return dot(magnitudes, weights);
}

Real dual_norm(Reals magnitudes, const Reals& weights) {
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  Real top = 0, bottom = 0, norm = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    top += magnitudes[i];
    bottom += weights[i];
    norm = std::max(norm, top / bottom);
  }
  return norm;
}

Reals correlations(const Setting& setting, const Dataset& data, const Reals& residual) {
  Reals weighted = residual;
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= setting.roots[i];
  const Rows rows(std::move(weighted));
  Reals result;
  const auto expected = data.design.expect();
  for (Index j = 0; j < data.design.cols(); ++j) {
    if (!setting.penalized[static_cast<std::size_t>(j)]) continue;
    const Column& column = setting.columns[static_cast<std::size_t>(j)];
    Real product = 0;
    data.design.for_each_entry(j, [&](Index i, double x) {
      product += (x - column.center) * rows.values[static_cast<std::size_t>(i)];
    });
    // Entries that are not stored are zeros, centred like the others.
    if (column.center != 0) product -= column.center * sum_elsewhere(data.design, j, rows);
    result.push_back(product / column.scale);
  }
  return result;
}

Reals counted(const Claim& claim, Reals pulls, const Reals& beta) {
  for (std::size_t k = 0; k < pulls.size(); ++k) {
    pulls[k] -= claim.ridge * beta[k];
    pulls[k] = claim.nonnegative ? std::max<Real>(pulls[k], 0) : std::abs(pulls[k]);
  }
  return pulls;
}

Fitted fitted(const Claim& claim, const Setting& setting, const Dataset& data, Real constant,
              Index of_class) {
  Fitted result{Reals(static_cast<std::size_t>(claim.n), constant), {}};
  Reals beta(static_cast<std::size_t>(claim.p), 0);
  for (std::size_t k = 0; k < claim.coefficients.size(); ++k) {
    if (claim.class_of[k] != of_class) continue;
    const auto [column, coefficient] = claim.coefficients[k];
    const Real value = coefficient;
    Real squares = 0;
    data.design.for_each_entry(column, [&](Index i, double x) {
      squares += setting.weights[static_cast<std::size_t>(i)] * x * x;
      result.predictor[static_cast<std::size_t>(i)] += value * x;
    });
    result.spread += std::abs(value) * std::sqrt(squares);
    const auto j = static_cast<std::size_t>(column);
    beta[j] = value * setting.columns[j].scale;
    result.allowed = result.allowed && !(claim.nonnegative && setting.penalized[j] && value < 0);
  }
  for (std::size_t j = 0; j < beta.size(); ++j)
    if (setting.penalized[j]) result.beta.push_back(beta[j]);
  return result;
}

Reals solved(std::vector<Reals> a, Reals b) {
  const std::size_t n = b.size();
  Real rounding = 0;
  for (const Reals& row : a)
    for (const Real entry : row) rounding = std::max(rounding, 100 * kRealEpsilon * std::abs(entry));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[best][k])) best = i;
    std::swap(a[k], a[best]);
    std::swap(b[k], b[best]);
    if (std::abs(a[k][k]) <= rounding) a[k][k] = 0;
    if (a[k][k] == 0) continue;
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  Reals x(n, 0);
  for (std::size_t k = n; k-- > 0;) {
    Real rest = b[k];
    for (std::size_t j = k + 1; j < n; ++j) rest -= a[k][j] * x[j];
    x[k] = a[k][k] != 0 ? rest / a[k][k] : 0;
  }
  return x;
}

Real least_gap(const std::function<Real(Real)>& gap, Real most) {
  Real low = 0;
  Real high = std::min<Real>(most, 2);
  Real best = std::min(gap(low), gap(high));
  for (int step = 0; step < 300 && high - low > 10 * kRealEpsilon * high; ++step) {
    const Real left = low + (high - low) * 0.382L;
    const Real right = high - (high - low) * 0.382L;
    const Real at_left = gap(left);
    const Real at_right = gap(right);
    best = std::min({best, at_left, at_right});
    if (at_left < at_right || !std::isfinite(static_cast<double>(at_right)))
      high = right;
    else
      low = left;
  }
  if (most >= 1) best = std::min(best, gap(1));
  return best;
}

}  // namespace tyto::verifying
