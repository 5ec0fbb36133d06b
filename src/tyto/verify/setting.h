#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/verify/claim.h"

// What a claim makes of the data, by plain loops in extended precision.
namespace tyto::verifying {

using Real = long double;  // 64 bits or more of mantissa where the system has them, else those of double
inline constexpr Real kRealEpsilon = std::numeric_limits<Real>::epsilon();
using Reals = std::vector<Real>;

Real dot(const Reals& a, const Reals& b);

// Mean and scale of the columns by the definitions of MATH.md, section 1, and directions, orthogonal, that
// span the intercept and the unpenalised columns. Rows, here and in the directions, are those of the data
// times the roots of their weights.
struct Column {
  Real center = 0, scale = 1;
};
struct Setting {
  Reals weights, roots;  // of the rows
  std::vector<Column> columns;
  std::vector<bool> penalized;
  std::vector<Reals> directions;
};
Setting make_setting(const Claim& claim, const Dataset& data);

// Twice, since once is not enough where v is nearly spanned by them.
void take_out(const std::vector<Reals>& directions, Reals& v);
Reals magnitudes(Reals v);
Real sorted_product(Reals magnitudes, const Reals& weights);
Real dual_norm(Reals magnitudes, const Reals& weights);
// x_j'r for every penalised column, r orthogonal to the directions.
Reals correlations(const Setting& setting, const Dataset& data, const Reals& residual);
// The same less the ridge, as they count in the dual norm.
Reals counted(const Claim& claim, Reals pulls, const Reals& beta);

// The linear predictor that the coefficients give, those of one class where there are several, and what else
// follows from them alone.
struct Fitted {
  Reals predictor;      // without an offset
  Reals beta;           // of the penalised columns, on the scale of the problem
  Real spread = 0;      // sum_j |b_j| ||x_j||, uncentred
  bool allowed = true;  // no coefficient is negative that may not be
};
Fitted fitted(const Claim& claim, const Setting& setting, const Dataset& data, Real constant,
              Index of_class = 0);

struct Bounds {
  Real response;  // sum of squares, as the rows are weighted
  Real primal, dual;
  Real noise;    // what the numbers that a solver states in double precision may be off by
  bool allowed;  // no coefficient is negative that may not be
};
Bounds loss_bounds(const Claim& claim, const Setting& setting, const Dataset& data);  // not squared error
Bounds cox_bounds(const Claim& claim, const Setting& setting, const Dataset& data);   // of that loss
Bounds multinomial_bounds(const Claim& claim, const Setting& setting, const Dataset& data);

// The response as the loss takes it: the place of each row's class among those of the claim.
Reals encoded(const Claim& claim, const Dataset& data);
Real relative_entropy(Real x, Real z);  // x log(x / z) - x + z
// Solves A x = b of a few rows by elimination with pivots; a pivot that is all rounding gives 0.
Reals solved(std::vector<Reals> a, Reals b);
// The least gap over scales of the dual point from 0 to `most`: it is convex.
Real least_gap(const std::function<Real(Real)>& gap, Real most);

}  // namespace tyto::verifying
