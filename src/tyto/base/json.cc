#include "tyto/base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tyto/base/error.h"

namespace tyto {
namespace {

constexpr std::size_t kExcerpt = 40;  // bytes of a wrong value that a message shows

DataError wrong(const char* field, const char* want, const Json& got) {
  return DataError(std::string(field) + ": expected " + want + ", got " + got.dump().substr(0, kExcerpt));
}

double number(const Json& json, const char* field, const char* want) {
  if (!json.is_number() || !std::isfinite(json.get<double>())) throw wrong(field, want, json);
  return json.get<double>();
}

Index whole_number(const Json& json, const char* field, const char* want) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() > kMost))
    throw wrong(field, want, json);
  return json.get<Index>();
}

const Json& list_at(const Json& json, const char* field, const char* want) {
  const Json& list = json.at(field);
  if (!list.is_array()) throw wrong(field, want, list);
  return list;
}

}  // namespace

// The parser reads a text from front to back and ends at its first fault. Up to there brackets and strings
// are found here as it finds them.
void check_json_depth(std::string_view text, const std::string& name) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (in_string && c == '\\')
      ++k;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{'))
      ++depth;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
    if (depth > kJsonDepth)
      throw DataError(name + ": expected JSON, got it nested deeper than " + std::to_string(kJsonDepth) +
                      " levels");
  }
}

double number_at(const Json& json, const char* field) {
  return number(json.at(field), field, "a finite number");
}

double number_at(const Json& json, const char* field, double otherwise) {
  return json.contains(field) ? number_at(json, field) : otherwise;
}

std::vector<double> numbers_at(const Json& json, const char* field) {
  constexpr const char* kWant = "finite numbers";
  std::vector<double> values;
  for (const Json& value : list_at(json, field, kWant)) values.push_back(number(value, field, kWant));
  return values;
}

Index whole_number_at(const Json& json, const char* field) {
  return whole_number(json.at(field), field, "a whole number");
}

std::vector<Index> whole_numbers_at(const Json& json, const char* field) {
  constexpr const char* kWant = "whole numbers";
  std::vector<Index> values;
  if (!json.contains(field)) return values;
  for (const Json& value : list_at(json, field, kWant)) values.push_back(whole_number(value, field, kWant));
  return values;
}

std::vector<std::pair<Index, double>> entries_at(const Json& json, const char* field) {
  constexpr const char* kWant = "pairs of a column and a finite number";
  std::vector<std::pair<Index, double>> entries;
  for (const Json& pair : list_at(json, field, kWant)) {
    if (!pair.is_array() || pair.size() != 2) throw wrong(field, kWant, pair);
    entries.emplace_back(whole_number(pair[0], field, kWant), number(pair[1], field, kWant));
  }
  return entries;
}

std::string json_fault(const nlohmann::json::exception& error) {
  const std::string what = error.what();  // "[json.exception.out_of_range.403] key 'n' not found"
  const std::size_t end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

}  // namespace tyto
