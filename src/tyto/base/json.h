#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/base/types.h"

// JSON from files, which may hold anything. All readers of the project take it from here.
namespace tyto {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonDepth = 64;  // levels; what Tyto writes has fewer than 10

// Throws DataError where `text` is nested deeper than that: copies and comparisons of such values would need
// as much stack. `name` stands for the text in the message.
void check_json_depth(std::string_view text, const std::string& name);

// `is_discarded()` where the text is no JSON.
template <class Value = Json>
Value parse_json(std::string_view text, const std::string& name) {
  check_json_depth(text, name);
  return Value::parse(text, nullptr, false);
}

// Fields of an object. They throw DataError "field: expected ..., got ..." or, where a field is not there,
// the exceptions of the library, which converts truth values and fractions without a word.
double number_at(const Json& json, const char* field);
double number_at(const Json& json, const char* field, double otherwise);  // where it is not there
std::vector<double> numbers_at(const Json& json, const char* field);
Index whole_number_at(const Json& json, const char* field);
std::vector<Index> whole_numbers_at(const Json& json, const char* field);  // none where it is not there
// A list of pairs of a whole number and a number.
std::vector<std::pair<Index, double>> entries_at(const Json& json, const char* field);

// What the library says, without its codes.
std::string json_fault(const nlohmann::json::exception& error);

}  // namespace tyto
