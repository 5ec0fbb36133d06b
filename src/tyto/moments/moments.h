#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tyto/base/types.h"
#include "tyto/data/dataset.h"
#include "tyto/math/linear_algebra.h"

// Sums over rows that squared error depends on, from which p + 2 rows are made that stand for all of them
// (MATH.md, section 15). Rows are read once, in chunks, and never kept.
namespace tyto {

// In extended precision: of a column whose mean is 1e7 standard deviations, a double holds the mean to 1e-9
// of one.
using Means = ExtendedVector;

// Of the columns of A = [X y], with row i counting w_i times: co-moments sum_i w_i (a_i - mean)(a_i - mean)'.
struct CoMoments {
  Index rows = 0;     // of positive weight
  double weight = 0;  // of all of them
  Means mean = {};
  Matrix comoment = {};

  Index columns() const { return mean.size(); }  // p + 1
  // Those of both sets of rows (Chan, Golub & LeVeque 1983). No large numbers are subtracted.
  void merge(const CoMoments& other);
};

// Takes the weighted mean off each column and returns it; a constant column becomes exactly 0.
Means take_off_means(Matrix& rows, const Vector& weights);

// Of the rows of a dense matrix, which is overwritten. `weights`: above 0, or empty where all are 1.
CoMoments moments_of(Matrix& rows, const Vector& weights);

// A sum over parts that come one after the other, added in pairs as the leaves of a binary tree are: its
// rounding error grows with the logarithm of their number, and its bits depend on the parts and their order
// alone. Keeps one partial sum for each level of the tree.
template <class Part>
class PairwiseSum {
 public:
  void add(Part part) {
    std::size_t level = 0;
    for (std::uint64_t bits = count_++; (bits & 1) != 0; bits >>= 1, ++level) {
      levels_[level].merge(part);
      part = std::move(levels_[level]);
    }
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level] = std::move(part);
  }
  // Of all parts so far; none: a part as it is made.
  Part total() const {
    Part result;
    bool first = true;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if ((count_ >> level & 1) == 0) continue;
      Part sum = levels_[level];
      if (!first) sum.merge(result);
      result = std::move(sum);
      first = false;
    }
    return result;
  }
  std::size_t levels() const { return levels_.size(); }

 private:
  std::uint64_t count_ = 0;
  std::vector<Part> levels_;  // level k holds the sum of 2^k parts where bit k of the count is set
};

// What identifies the response and the weights of rows, in any order: the same for two readings of one table.
struct RowFingerprint {
  Index rows = 0;
  std::uint64_t sum = 0;

  void add(double response, double weight);
  void merge(const RowFingerprint& other);
  bool operator==(const RowFingerprint&) const = default;
};

// Moments of a table, by fold where it has folds.
struct MomentSet {
  std::vector<CoMoments> folds = {};  // one where there are no folds
  std::vector<std::string> names = {};
  std::string response_name = {};
  RowFingerprint fingerprint = {};

  bool empty() const { return folds.empty(); }
  Index features() const { return folds.front().columns() - 1; }
  CoMoments total() const;
  // Throws InvalidArgument where the columns, their names or the number of folds differ.
  void merge(const MomentSet& other);
};

// Rows of a chunk for so many columns: a chunk is summed before anything is merged, and its number of rows is
// part of what fixes the bits.
Index chunk_rows(Index columns);

// The fold of a row, from its number and a seed: the same whoever reads it, however often.
Index fold_of_row(std::uint64_t row, std::uint64_t seed, Index folds);

// Which rows a chunk holds, among those of a table.
struct RowPlace {
  std::uint64_t first = 0;            // number of the first row
  Index folds = 1;                    // how many there are
  std::uint64_t seed = 1;             // of the folds
  const std::vector<Index>* given{};  // the folds themselves, 0, 1, ..., of these rows, in place of a draw
};

// Moments of a table whose rows come in several parts, each a multiple of chunk_rows() long but for the last.
// The offset, where there is one, is taken off the response. What is kept does not depend on `threads`.
class MomentSum {
 public:
  // Throws InvalidArgument for numbers that are not finite, and where there is no response.
  void add(const Dataset& rows, const RowPlace& place = {}, int threads = 1);
  MomentSet total() const { return sum_.total(); }
  std::size_t bytes() const;  // that are kept

 private:
  PairwiseSum<MomentSet> sum_;
  std::size_t bytes_of_one_ = 0;
};

// Rows begin, ..., begin + length - 1 of [X y], the offset taken off y.
Matrix packed_rows(const Dataset& rows, Index begin, Index length);

// What a model is fitted to instead of the data: rows of equal weight with these moments, less `origin` (see
// Dataset), k_f of them for each fold f, with k_f at most the rank of its co-moments and 1. `folds` gets the
// fold of each. Without centring, nothing is taken off.
Dataset equivalent_rows(const MomentSet& set, bool centred, std::vector<Index>& folds);

}  // namespace tyto
