#pragma once

#include "tyto/base/types.h"

namespace tyto {

// An Index as a subscript of a standard container.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace tyto
