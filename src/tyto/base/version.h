#pragma once

#include "tyto/version.h"  // IWYU pragma: export
