#pragma once

#include "tyto/error.h"  // IWYU pragma: export
