#pragma once

#include <string>
#include <vector>

#include "tyto/moments/evidence.h"
#include "tyto/moments/moments.h"

// What Newton's method and certificates need of the rows, for several models at once: values, gradients, and
// second derivatives of some columns.
namespace tyto {

struct GradientQuery {
  std::string loss = {};             // one of loss/rows.h
  std::vector<double> classes = {};  // the two responses that stand for 0 and 1, where they do
  Vector centre = {};                // taken off the columns; empty: nothing is
  Index features = 0;                // p
  // Models: linear predictors are constants + (X - centre) b.
  IndexSet used = {};  // columns with a coefficient in some model
  Matrix betas = {};   // of these, one model a column
  Vector constants = {};
  IndexSet working = {};           // columns whose second derivatives are summed,
  std::vector<Index> curved = {};  // at these models

  Index models() const { return constants.size(); }
};

// Sums over rows, each counted as often as it weighs; r is minus the first and h the second derivative of the
// loss by the linear predictor eta.
struct GradientSums {
  enum Total { kValue, kResidual, kCurvature, kRatio, kSquare, kFitted, kMagnitude, kTotals };

  RowFingerprint fingerprint = {};
  double weight = 0;
  Vector square = {};    // p: of (x - centre)^2, by which a second reading is recognised
  Matrix totals = {};    // kTotals x models: of the loss, r, h, r^2 / h, r^2, eta^2, and rounding errors of r
  Vector steepest = {};  // the largest h
  Vector farthest = {};  // the largest |r| / h
  Matrix residual = {};  // models x p: of (x - centre) r
  Matrix curvature = {};                // models x p: of (x - centre) h; empty where h is 1
  std::vector<CoMoments> working = {};  // of the working columns, less the centre, weighted by h

  void merge(const GradientSums& other);  // of the same query
};

class GradientSum {
 public:
  // As MomentSum::add. Throws InvalidArgument where the data does not have the columns of the query.
  void add(const Dataset& rows, const GradientQuery& query, int threads = 1);
  GradientSums total() const { return sum_.total(); }

 private:
  PairwiseSum<GradientSums> sum_;
};

}  // namespace tyto
