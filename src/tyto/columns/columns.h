#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tyto/base/types.h"

namespace tyto {

// How often rows count.
struct RowWeights {
  const Vector& weight;  // >= 0; empty: all rows count once
  double total;
  Index counted;  // rows of weight > 0
};

// Sums of weight (x - mean)^2 and of weight x^2 over a column. Deviations do not cancel. The mean of a
// constant column is that constant, free of rounding: centred, it is exactly 0. Not centred, the mean is 0.
struct Moments {
  double mean, deviation, squares;
};

// Rows begin .. begin + length - 1.
struct RowRange {
  Index begin, length;
};

// How entries of a column are changed when they are copied: x becomes (x - shift) * factor.
struct EntryMap {
  double shift = 0, factor = 1;
};

// Some stored entries of a column, for loops over all of them.
struct EntryChunk {
  static constexpr Index kSize = 128;
  std::array<Index, kSize> row;
  std::array<double, kSize> value;
};

// An n x p matrix by columns, as it is stored: one class for each way to store it. Every operation takes a
// list of columns, in any order, and maybe one more than once; 32 or more of them make the virtual call cost
// nothing. Nothing here starts threads, and several threads may call everything at once. What an operation
// computes for a column depends neither on the other columns of the list nor, but for sums of several
// columns, on their order.
class Columns {
 public:
  virtual ~Columns() = default;
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  // Zeros are not stored: time and memory go with the entries of a column, and not with its rows.
  bool is_sparse() const { return sparse_; }
  virtual Index entries() const = 0;  // that are stored
  virtual Index entries(std::span<const Index> columns) const = 0;

  // out[k] <- x_j'v for the k-th column j of the list.
  virtual void correlate(std::span<const Index> columns, const double* v, double* out) const = 0;
  // The same for several vectors, the columns of a matrix: out(k, c) <- x_j'v_c. `out` has its size already.
  virtual void correlate_all(std::span<const Index> columns, const Eigen::MatrixXd& v,
                             Eigen::MatrixXd& out) const;
  // eta <- eta + sum_k factors[k] x_j in some rows; eta has all rows.
  virtual void combine(std::span<const Index> columns, const double* factors, RowRange rows,
                       double* eta) const = 0;
  virtual void moments(std::span<const Index> columns, const RowWeights& rows, bool center,
                       Moments* out) const = 0;
  // The rows of each column, zeros included, one column after the other: changed by its map, and times the
  // row's root, if roots (of all rows) are given.
  virtual void copy_block(std::span<const Index> columns, RowRange rows, std::span<const EntryMap> maps,
                          const double* roots, double* out) const = 0;
  // A copy in memory of its own, in the same storage; null where there is no such copy. Rows increase.
  virtual std::shared_ptr<const Columns> copy_columns(std::span<const Index> columns) const;
  virtual std::shared_ptr<const Columns> copy_rows(std::span<const Index> columns,
                                                   std::span<const Index> rows) const;
  // The stored entries of a column from the first-th on, in order of rows, as many as the chunk takes;
  // returns how many. Fewer than it takes: these were the last.
  virtual Index read_entries(Index column, Index first, EntryChunk& chunk) const = 0;
  // f(row, value) for the stored entries of a column, in order of rows.
  template <class F>
  void for_each_entry(Index column, F f) const;

  // Columns are read from a disk: to read one again costs more than to copy it, and a long list is best told
  // of before.
  virtual bool is_slow() const { return false; }
  // The next calls read these columns, in about this order, for as long as the result lives: storage that is
  // slow reads them ahead. Changes no result. Throws DataError where the data is not what it was.
  virtual std::shared_ptr<const void> expect(std::span<const Index> columns) const;
  virtual std::uint64_t bytes_read() const { return 0; }  // from a disk, so far
  // How the numbers are stored, in words for people: "dense float32".
  virtual std::string storage() const { return sparse_ ? "sparse" : "dense"; }

 protected:
  Columns(Index rows, Index cols, bool sparse) : rows_(rows), cols_(cols), sparse_(sparse) {}

 private:
  Index rows_, cols_;
  bool sparse_;
};

template <class F>
void Columns::for_each_entry(Index column, F f) const {
  EntryChunk chunk;
  Index first = 0;
  for (;;) {
    const Index count = read_entries(column, first, chunk);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) f(chunk.row[k], chunk.value[k]);
    if (count < EntryChunk::kSize) return;
    first += count;
  }
}

}  // namespace tyto
