#include "tyto/moments/row_chunks.h"

#include <fmt/core.h>

#include <cmath>

#include "tyto/base/error.h"

namespace tyto {

SparseRows::SparseRows(const Design& design) : start(static_cast<std::size_t>(design.rows()) + 1, 0) {
  for (Index j = 0; j < design.cols(); ++j)
    design.for_each_entry(j, [&](Index row, double) { ++start[static_cast<std::size_t>(row) + 1]; });
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  column.resize(start.back());
  value.resize(start.back());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (Index j = 0; j < design.cols(); ++j)
    design.for_each_entry(j, [&](Index row, double x) {
      const std::size_t place = next[static_cast<std::size_t>(row)]++;
      column[place] = j;
      value[place] = x;
    });
}

void check_rows(const Dataset& rows) {
  const Index n = rows.design.rows();
  if (rows.response.size() != n)
    throw InvalidArgument(fmt::format("response: want {} numbers, got {}", n, rows.response.size()));
  if (rows.row_weights.size() > 0 && rows.row_weights.size() != n)
    throw InvalidArgument(
        fmt::format("observation-weights: want {} numbers, got {}", n, rows.row_weights.size()));
  for (const double weight : rows.row_weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InvalidArgument(fmt::format("observation-weights: want finite numbers >= 0, got {}", weight));
}

std::string column_in_words(const Dataset& rows, Index column) {
  if (column == rows.design.cols()) return "response";
  if (rows.names.empty()) return fmt::format("column {}", column);
  return fmt::format("column '{}'", rows.names[static_cast<std::size_t>(column)]);
}

}  // namespace tyto
