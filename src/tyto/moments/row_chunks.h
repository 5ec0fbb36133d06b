#pragma once

#include <algorithm>
#include <vector>

#include "tyto/base/parallel.h"
#include "tyto/base/pass_tuning.h"
#include "tyto/moments/moments.h"

// Chunks of rows, of dense and of sparse data, for passes that do not keep rows.
namespace tyto {

// Entries of a sparse table row by row.
struct SparseRows {
  std::vector<std::size_t> start;  // one more than rows
  std::vector<Index> column;       // increasing within a row
  std::vector<double> value;

  explicit SparseRows(const Design& design);
  template <class F>
  void for_each(Index row, F f) const {
    const auto i = static_cast<std::size_t>(row);
    for (std::size_t at = start[i]; at < start[i + 1]; ++at) f(column[at], value[at]);
  }
};

struct RowChunk {
  const Dataset& table;
  const SparseRows* sparse;  // null where the data is dense
  Index begin, length;

  Index columns() const { return table.design.cols(); }
  double weight(Index i) const { return table.row_weights.size() > 0 ? table.row_weights[begin + i] : 1; }
  double response(Index i) const { return table.response[begin + i]; }
};

// sum <- sum with f(chunk) of each chunk of the table, in order; the same for any number of threads.
template <class Part, class F>
void add_chunks(const Dataset& table, int threads, PairwiseSum<Part>& sum, F f) {
  const bool sparse = table.design.is_sparse();
  const SparseRows rows(sparse ? table.design : Design());
  const Index n = table.design.rows();
  const Index step = sparse ? PassTuning().sparse_chunk_rows : chunk_rows(table.design.cols() + 1);
  const Index count = (n + step - 1) / step;
  const auto at_once = static_cast<Index>(std::max(1, threads));
  for (Index first = 0; first < count; first += at_once) {
    std::vector<Part> found(static_cast<std::size_t>(std::min(at_once, count - first)));
    parallel_for(std::ssize(found), threads, [&](Index k) {
      const Index begin = (first + k) * step;
      const RowChunk chunk{table, sparse ? &rows : nullptr, begin, std::min(step, n - begin)};
      found[static_cast<std::size_t>(k)] = f(chunk);
    });
    for (Part& one : found) sum.add(std::move(one));
  }
}

// Throws InvalidArgument unless response and weights are as many as rows, and weights finite and >= 0.
void check_rows(const Dataset& rows);
std::string column_in_words(const Dataset& rows, Index column);  // p: the response

}  // namespace tyto
