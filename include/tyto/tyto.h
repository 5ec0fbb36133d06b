#pragma once

// OWL regression with safe screening and certificates: all public headers. See docs/cpp.md.
#include "tyto/error.h"       // IWYU pragma: export
#include "tyto/features.h"    // IWYU pragma: export
#include "tyto/model.h"       // IWYU pragma: export
#include "tyto/options.h"     // IWYU pragma: export
#include "tyto/regression.h"  // IWYU pragma: export
#include "tyto/version.h"     // IWYU pragma: export
