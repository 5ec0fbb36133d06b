#pragma once

#include "tyto/base/json.h"

// Models as JSON, with the names of docs/cli.md: the model file and the result of a fit are one document, and
// those of a path hold an array of what differs from strength to strength.
namespace tyto {

inline constexpr const char* kModelFormat = "tyto-model-1";
inline constexpr const char* kFitFormat = "tyto-fit-1";
inline constexpr const char* kPathModelFormat = "tyto-path-model-1";
inline constexpr const char* kPathFormat = "tyto-path-1";
inline constexpr const char* kCvModelFormat = "tyto-cv-model-1";
inline constexpr const char* kCvFormat = "tyto-cv-1";

}  // namespace tyto
