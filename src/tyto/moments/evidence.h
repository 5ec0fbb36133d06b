#pragma once

#include <vector>

#include "tyto/moments/moments.h"

// Evidence for models from the data itself: the sums over rows that their duality gaps depend on. Moments
// play no part in them.
namespace tyto {

// A model on the scale of the data.
struct LinearModel {
  std::vector<std::pair<Index, double>> coefficients;  // by column; those that are not 0
  double intercept = 0;
};

// What to sum: for each model k the residuals r = y - intercept - X b, computed as (y - centre) -
// (X - centre) b + constant.
struct EvidenceQuery {
  Vector centre = {};     // p + 1 numbers, near the means, or 0; taken off each entry of [X y]
  IndexSet free = {};     // unpenalised columns: their products with all others are summed
  IndexSet used = {};     // columns with a coefficient in some model
  Matrix betas = {};      // of these columns, one model a column
  Vector constants = {};  // centre_y - centre'b - intercept of each

  Index models() const { return constants.size(); }
};
EvidenceQuery make_query(const Means& centre, IndexSet free, const std::vector<LinearModel>& models);

// Sums over rows, each counted as often as it weighs, of products of x = X - centre, z = (1, free columns of
// x) and the residuals r.
struct EvidenceSums {
  RowFingerprint fingerprint = {};
  double weight = 0;
  Matrix zx = {}, zr = {}, xr = {};  // (1 + free) x p, (1 + free) x models, p x models
  Vector xx = {}, rr = {};           // of squares: p, models
  double yy = 0;                     // of y - centre

  void merge(const EvidenceSums& other);  // of the same query
};

class EvidenceSum {
 public:
  // As MomentSum::add. Throws InvalidArgument where the data does not have the columns of the query.
  void add(const Dataset& rows, const EvidenceQuery& query, int threads = 1);
  EvidenceSums total() const { return sum_.total(); }

 private:
  PairwiseSum<EvidenceSums> sum_;
};

}  // namespace tyto
