#pragma once

namespace tyto {

const char* version();

}  // namespace tyto
