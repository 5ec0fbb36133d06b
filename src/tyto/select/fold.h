#pragma once

#include "tyto/select/cv.h"
#include "tyto/select/fold_products.h"

namespace tyto {

// What every fold needs and none changes.
struct CvTask {
  const Design& raw;
  const Vector& response;
  const RegressionOptions& regression;
  const CvOptions& cv;
  const FitOptions& fit;
  Vector weights;              // of the rows
  double variance;             // of the response
  ErrorMeasure measure;        // not kAuto
  std::vector<double> gammas;  // that are asked for; 1 where nothing is relaxed
  const CvHooks& hooks;
};

// One fold along the grid of a curve. Its scores are complete unless the observer or the clock ended it.
FoldScore run_fold(const CvTask& task, const CvCurve& curve, const FoldProducts& products, const Split& rows,
                   const FitOptions& options, const PathObserver& observer);

}  // namespace tyto
