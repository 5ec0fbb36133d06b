#include "tyto/base/version.h"

namespace tyto {

const char* version() { return TYTO_VERSION; }

}  // namespace tyto
