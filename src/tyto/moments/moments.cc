#include "tyto/moments/moments.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/parallel.h"
#include "tyto/base/tuning.h"
#include "tyto/moments/row_chunks.h"

namespace tyto {
namespace {

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Takes the weighted mean off a column and returns it. The first entry goes first, so that a constant column
// becomes exactly 0; what rounding left of the mean goes last.
long double centre(Eigen::Ref<Vector> column, const Vector& weights, double total) {
  const auto mean = [&] { return weights.size() > 0 ? weights.dot(column) / total : column.mean(); };
  const double first = column[0];
  column.array() -= first;
  const double rest = mean();
  const double centre = first + rest;
  column.array() += first;
  column.array() -= centre;
  const double left = mean();
  column.array() -= left;
  return static_cast<long double>(centre) + left;
}

}  // namespace

void CoMoments::merge(const CoMoments& other) {
  if (other.rows == 0) return;
  if (rows == 0) {
    *this = other;
    return;
  }
  const double sum = weight + other.weight;
  const Means difference = other.mean - mean;
  const Vector scaled = std::sqrt(weight * (other.weight / sum)) * difference.cast<double>();
  for (Index j = 0; j < columns(); ++j)
    comoment.col(j) = (comoment.col(j) + other.comoment.col(j)) + scaled * scaled[j];
  mean += difference * (static_cast<long double>(other.weight) / sum);
  weight = sum;
  rows += other.rows;
}

Means take_off_means(Matrix& rows, const Vector& weights) {
  const double total = weights.size() > 0 ? weights.sum() : static_cast<double>(rows.rows());
  Means means(rows.cols());
  for (Index j = 0; j < rows.cols(); ++j) means[j] = centre(rows.col(j), weights, total);
  return means;
}

CoMoments moments_of(Matrix& rows, const Vector& weights) {
  CoMoments result;
  result.rows = rows.rows();
  if (result.rows == 0) return result;
  result.weight = weights.size() > 0 ? weights.sum() : static_cast<double>(rows.rows());
  result.mean = take_off_means(rows, weights);
  if (weights.size() > 0) rows.array().colwise() *= weights.array().sqrt();
  result.comoment.resize(rows.cols(), rows.cols());
  gram(rows, 0, result.comoment);
  return result;
}

void RowFingerprint::add(double response, double weight) {
  ++rows;
  sum += mixed(std::bit_cast<std::uint64_t>(response) ^ mixed(std::bit_cast<std::uint64_t>(weight)));
}

void RowFingerprint::merge(const RowFingerprint& other) {
  rows += other.rows;
  sum += other.sum;
}

CoMoments MomentSet::total() const {
  PairwiseSum<CoMoments> sum;
  for (const CoMoments& fold : folds) sum.add(fold);
  return sum.total();
}

void MomentSet::merge(const MomentSet& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  if (other.features() != features())
    throw InvalidArgument(
        fmt::format("moments: want {} features as in the first, got {}", features(), other.features()));
  if (other.names != names || other.response_name != response_name)
    throw InvalidArgument("moments: want the same columns in the same order, got others");
  if (other.folds.size() != folds.size())
    throw InvalidArgument(
        fmt::format("moments: want {} folds as in the first, got {}", folds.size(), other.folds.size()));
  for (std::size_t f = 0; f < folds.size(); ++f) folds[f].merge(other.folds[f]);
  fingerprint.merge(other.fingerprint);
}

Index chunk_rows(Index columns) {
  const Tuning::Moments tuning;
  const auto fitting = static_cast<std::uint64_t>(tuning.chunk_numbers / std::max<Index>(1, columns));
  const auto rows = static_cast<Index>(std::bit_floor(std::max<std::uint64_t>(1, fitting)));
  return std::clamp(rows, tuning.fewest_chunk_rows, tuning.most_chunk_rows);
}

Index fold_of_row(std::uint64_t row, std::uint64_t seed, Index folds) {
  return static_cast<Index>(mixed(row ^ mixed(seed)) % static_cast<std::uint64_t>(folds));
}

namespace {

void check(const Dataset& rows, const RowPlace& place) {
  check_rows(rows);
  const Index n = rows.design.rows();
  if (place.given != nullptr && std::ssize(*place.given) != n)
    throw InvalidArgument(fmt::format("folds: want {} numbers, got {}", n, place.given->size()));
  for (Index i = 0; place.given != nullptr && i < n; ++i) {
    const Index fold = (*place.given)[static_cast<std::size_t>(i)];
    if (fold < 0 || fold >= place.folds)
      throw InvalidArgument(fmt::format("folds: want numbers from 0 to {}, got {}", place.folds - 1, fold));
  }
}

// Some rows of a table.
struct Chunk {
  const Dataset& table;
  const RowPlace& place;
  Index begin, length;

  double weight(Index i) const { return table.row_weights.size() > 0 ? table.row_weights[begin + i] : 1; }
  Index fold(Index i) const {
    if (place.given != nullptr) return (*place.given)[static_cast<std::size_t>(begin + i)];
    if (place.folds == 1) return 0;
    return fold_of_row(place.first + static_cast<std::uint64_t>(begin + i), place.seed, place.folds);
  }
};

// The rows of each fold that count.
std::vector<std::vector<Index>> rows_by_fold(const Chunk& chunk) {
  std::vector<std::vector<Index>> result(static_cast<std::size_t>(chunk.place.folds));
  for (Index i = 0; i < chunk.length; ++i)
    if (chunk.weight(i) > 0) result[static_cast<std::size_t>(chunk.fold(i))].push_back(i);
  return result;
}

void check_finite(const CoMoments& found, const Dataset& rows) {
  for (Index j = 0; j < found.columns(); ++j)
    if (!std::isfinite(static_cast<double>(found.mean[j])) || !std::isfinite(found.comoment(j, j)))
      throw InvalidArgument(column_in_words(rows, j) +
                            ": want finite numbers whose squares can be added, got others");
}

MomentSet summed(const Chunk& chunk) {
  const Dataset& table = chunk.table;
  MomentSet result{{}, table.names, table.response_name, {}};
  const Index columns = table.design.cols() + 1;
  Matrix all = packed_rows(table, chunk.begin, chunk.length);
  for (Index i = 0; i < chunk.length; ++i)
    result.fingerprint.add(table.response[chunk.begin + i], chunk.weight(i));
  for (const std::vector<Index>& some : rows_by_fold(chunk)) {
    Vector weights;
    if (table.row_weights.size() > 0) weights = table.row_weights.segment(chunk.begin, chunk.length)(some);
    Matrix chosen;
    if (std::ssize(some) < chunk.length) chosen = all(some, Eigen::all);
    CoMoments found = moments_of(std::ssize(some) < chunk.length ? chosen : all, weights);
    if (found.rows == 0) found = {0, 0, Means::Zero(columns), Matrix::Zero(columns, columns)};
    check_finite(found, table);
    result.folds.push_back(std::move(found));
  }
  return result;
}

}  // namespace

Matrix packed_rows(const Dataset& rows, Index begin, Index length) {
  const Index p = rows.design.cols();
  Matrix result(length, p + 1);
  IndexSet columns(static_cast<std::size_t>(p));
  std::iota(columns.begin(), columns.end(), Index{0});
  rows.design.pack(columns, begin, length, result.data());
  result.col(p) = rows.response.segment(begin, length);
  if (rows.offset.size() > 0) result.col(p) -= rows.offset.segment(begin, length);
  return result;
}

void MomentSum::add(const Dataset& rows, const RowPlace& place, int threads) {
  check(rows, place);
  const Index n = rows.design.rows();
  const Index columns = rows.design.cols() + 1;
  const Index step = chunk_rows(columns);
  const Index count = (n + step - 1) / step;
  const auto at_once = static_cast<Index>(std::max(1, threads));
  bytes_of_one_ = static_cast<std::size_t>(place.folds * columns * (columns + 4)) * sizeof(double);
  for (Index first = 0; first < count; first += at_once) {
    std::vector<MomentSet> found(static_cast<std::size_t>(std::min(at_once, count - first)));
    parallel_for(std::ssize(found), threads, [&](Index k) {
      const Index begin = (first + k) * step;
      found[static_cast<std::size_t>(k)] = summed(Chunk{rows, place, begin, std::min(step, n - begin)});
    });
    for (MomentSet& one : found) sum_.add(std::move(one));
  }
}

std::size_t MomentSum::bytes() const { return (sum_.levels() + 1) * bytes_of_one_; }

}  // namespace tyto
