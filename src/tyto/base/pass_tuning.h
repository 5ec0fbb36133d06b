#pragma once

#include "tyto/base/types.h"

namespace tyto {

// Thresholds of passes that return gradients (MATH.md, section 15): as in tuning.h, none touches a result
// beyond the tolerance.
struct PassTuning {
  Index sparse_chunk_rows = 16384;  // of sparse data, that are summed before anything is merged
  Index most_columns = 5000;        // whose products are all kept; beyond, squared error has gradients
  Index all_columns = 1000;         // of other losses: with fewer, all are in the working set
  Index first_window = 16;          // strengths that are looked at together at first; then twice as many
  Index gradient_numbers = Index{1} << 24;  // that a pass returns, at most: columns times models
  Index curvatures = 5;  // second derivatives of a pass, at most; between them: interpolated
  Index curvature_numbers = Index{1} << 24;  // that these have together, at most
  double reach = 0.85;  // of a strength: what a column has to do to enter the working set
  Index most_passes = 400;
  double shrink = 0.25;  // of a step that did not lower the objective
};

}  // namespace tyto
