#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/nearest.h"
#include "tyto/data/dataset.h"
#include "tyto/data/text.h"

// What bindings say about files and columns.
namespace tyto::binding {

inline constexpr Names kHeaderWords({std::pair<std::string_view, Header>{"auto", Header::kAuto},
                                     {"yes", Header::kYes},
                                     {"no", Header::kNo}});
inline constexpr Names kDecimalWords({std::pair<std::string_view, Decimal>{"auto", Decimal::kAuto},
                                      {".", Decimal::kPoint},
                                      {",", Decimal::kComma}});

// The value of a word; throws InvalidArgument for another one.
template <class Value, std::size_t count>
Value parsed(const Names<Value, count>& names, const char* option, const std::string& word) {
  if (const auto found = names.find(word)) return *found;
  throw InvalidArgument(std::string(option) + ": want " + joined(names.all()) + ", got " + in_quotes(word) +
                        did_you_mean(word, names.all()));
}

// Numbers of columns from 0; throws InvalidArgument for others.
inline void check_columns(const Design& design, std::span<const Index> columns) {
  for (const Index j : columns)
    if (j < 0 || j >= design.cols())
      throw InvalidArgument("columns: want numbers from 0 to " + std::to_string(design.cols() - 1) +
                            ", got " + std::to_string(j));
}

}  // namespace tyto::binding
