#pragma once

#include <string>
#include <string_view>

namespace tyto {

// Whether text that begins like this has characters of two bytes, or of four: by its byte order mark, or by
// the zero bytes in characters of ASCII.
bool is_utf16(std::string_view beginning);
bool is_utf32(std::string_view beginning);

// UTF-16 as UTF-8, without a byte order mark. Throws DataError that names the file for what is no text.
std::string utf8_of_utf16(std::string_view bytes, std::string_view file);

}  // namespace tyto
