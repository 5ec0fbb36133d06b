#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tyto/base/json.h"
#include "tyto/select/options.h"

// Options as JSON, by the names of their table.
namespace tyto {

template <class Value>
Json option_json(const Value& value) {
  if constexpr (std::is_enum_v<Value>)
    return name(value);
  else if constexpr (std::is_same_v<Value, Vector>)
    return std::vector<double>(value.begin(), value.end());
  else
    return value;
}
template <class Value>
Json option_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// Those of a part that model files keep.
template <class Part>
void write_options(const Part& part, Json& json) {
  for_each_option_of<Part>([&](const Option& option, auto field) {
    if (*option.model.name != 0) json[option.model.name] = option_json(part.*field);
  });
}

// Of the types that model files keep. They throw DataError, or the exceptions of the library for JSON.
void read_option(const Json& json, const char* field, bool& value);
void read_option(const Json& json, const char* field, double& value);
void read_option(const Json& json, const char* field, std::string& value);
void read_option(const Json& json, const char* field, IndexSet& value);

template <class Part>
void read_options(const Json& json, Part& part) {
  for_each_option_of<Part>([&](const Option& option, auto field) {
    const ModelField& kept = option.model;
    if (*kept.name == 0 || (!kept.required && !json.contains(kept.name))) return;
    if constexpr (requires { read_option(json, kept.name, part.*field); })
      read_option(json, kept.name, part.*field);
    else
      throw std::logic_error(option.name + ": models cannot keep options of its type");
  });
}

}  // namespace tyto
