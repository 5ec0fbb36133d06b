#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyto {

// The one of `known` that `word` was probably meant to be: by letters that are wrong, missing, in excess or
// swapped, whatever their case; else the only one that begins with it. Nothing where none is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'word'?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// "what 'word'; known: a, b, c; did you mean 'b'?", for the messages of tables.
std::string unknown_word(std::string_view what, std::string_view word, const std::vector<std::string>& known);

}  // namespace tyto
