#pragma once

// All that programs of this tree use: benchmarks, for instance. What is installed is in include/tyto.
#include "tyto/base/error.h"         // IWYU pragma: export
#include "tyto/base/types.h"         // IWYU pragma: export
#include "tyto/base/version.h"       // IWYU pragma: export
#include "tyto/base/work.h"          // IWYU pragma: export
#include "tyto/columns/dense.h"      // IWYU pragma: export
#include "tyto/columns/sparse.h"     // IWYU pragma: export
#include "tyto/data/atomic_file.h"   // IWYU pragma: export
#include "tyto/data/dataset.h"       // IWYU pragma: export
#include "tyto/data/simulate.h"      // IWYU pragma: export
#include "tyto/data/write.h"         // IWYU pragma: export
#include "tyto/design/design.h"      // IWYU pragma: export
#include "tyto/math/sorted_l1.h"     // IWYU pragma: export
#include "tyto/math/weights.h"       // IWYU pragma: export
#include "tyto/problem/problem.h"    // IWYU pragma: export
#include "tyto/problem/screening.h"  // IWYU pragma: export
#include "tyto/select/criteria.h"    // IWYU pragma: export
#include "tyto/select/cv.h"          // IWYU pragma: export
#include "tyto/select/cv_state.h"    // IWYU pragma: export
#include "tyto/select/estimate.h"    // IWYU pragma: export
#include "tyto/select/folds.h"       // IWYU pragma: export
#include "tyto/select/model.h"       // IWYU pragma: export
#include "tyto/select/noise.h"       // IWYU pragma: export
#include "tyto/select/options.h"     // IWYU pragma: export
#include "tyto/select/path.h"        // IWYU pragma: export
#include "tyto/select/regression.h"  // IWYU pragma: export
#include "tyto/select/relax.h"       // IWYU pragma: export
#include "tyto/solve/fit.h"          // IWYU pragma: export
#include "tyto/verify/verify.h"      // IWYU pragma: export
