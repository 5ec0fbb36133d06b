#pragma once

namespace tyto {

const char* version();  // "0.1.0"

}  // namespace tyto
