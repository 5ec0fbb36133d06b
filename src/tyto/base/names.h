#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyto {

inline std::string joined(const std::vector<std::string>& names) {  // "a, b, c"
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The words for the values of an enum, in one table.
template <class Value, std::size_t count>
class Names {
 public:
  constexpr explicit Names(const std::pair<std::string_view, Value> (&rows)[count])
      : rows_(std::to_array(rows)) {}

  constexpr std::string_view name(Value value) const {
    for (const auto& row : rows_)
      if (row.second == value) return row.first;
    return "";
  }
  constexpr std::optional<Value> find(std::string_view name) const {
    for (const auto& row : rows_)
      if (row.first == name) return row.second;
    return {};
  }
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& row : rows_) names.emplace_back(row.first);
    return names;
  }

 private:
  std::array<std::pair<std::string_view, Value>, count> rows_;
};

}  // namespace tyto
