#include "tyto/moments/columns_alone.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/moments/row_chunks.h"

namespace tyto {
namespace {

constexpr std::size_t kKeptResponses = 3;

void keep_responses(std::vector<double>& all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > kKeptResponses) all.erase(all.begin() + 2, all.end() - 1);
}

void sum_dense(const RowChunk& chunk, const IndexSet& counted, ColumnMoments& sums) {
  const Matrix all = packed_rows(chunk.table, chunk.begin, chunk.length);
  Matrix a = all(counted, Eigen::all);
  Vector weights(std::ssize(counted));
  for (Index k = 0; k < weights.size(); ++k) weights[k] = chunk.weight(counted[static_cast<std::size_t>(k)]);
  sums.mean = take_off_means(a, weights);
  sums.square = (a.array().square().colwise() * weights.array()).colwise().sum();
  const Vector y = weights.cwiseProduct(a.col(chunk.columns()));
  transpose_product(a.leftCols(chunk.columns()), y, sums.product);
}

// Of the zeros as well, which are not stored.
void sum_sparse(const RowChunk& chunk, const IndexSet& counted, ColumnMoments& sums) {
  const Index p = chunk.columns();
  Vector total = Vector::Zero(p + 1);
  sums.square = Vector::Zero(p + 1);
  sums.product = Vector::Zero(p);
  for (const Index i : counted) total[p] += chunk.weight(i) * chunk.response(i);
  const double mean_y = total[p] / sums.weight;
  for (const Index i : counted) {
    const double v = chunk.weight(i);
    const double y = chunk.response(i) - mean_y;
    sums.square[p] += v * y * y;
    chunk.sparse->for_each(chunk.begin + i, [&](Index j, double x) {
      total[j] += v * x;
      sums.square[j] += v * x * x;
      sums.product[j] += v * x * y;
    });
  }
  sums.mean = (total / sums.weight).cast<long double>();
  sums.square.head(p).array() -= total.head(p).array().square() / sums.weight;
  sums.square = sums.square.cwiseMax(0);
}

ColumnSet summed_alone(const RowChunk& chunk) {
  const Dataset& table = chunk.table;
  const Index p = chunk.columns();
  ColumnSet result{{}, {}, chunk.sparse != nullptr, table.names, table.response_name, {}};
  ColumnMoments& sums = result.moments;
  IndexSet counted;
  for (Index i = 0; i < chunk.length; ++i) {
    result.fingerprint.add(chunk.response(i), chunk.weight(i));
    if (!(chunk.weight(i) > 0)) continue;
    counted.push_back(i);
    sums.weight += chunk.weight(i);
    result.responses.push_back(chunk.response(i));
  }
  keep_responses(result.responses);
  sums.rows = std::ssize(counted);
  sums.mean = Means::Zero(p + 1);
  sums.square = Vector::Zero(p + 1);
  sums.product = Vector::Zero(p);
  if (counted.empty()) return result;
  if (chunk.sparse != nullptr)
    sum_sparse(chunk, counted, sums);
  else
    sum_dense(chunk, counted, sums);
  for (Index j = 0; j <= p; ++j)
    if (!std::isfinite(static_cast<double>(sums.mean[j])) || !std::isfinite(sums.square[j]))
      throw InvalidArgument(column_in_words(table, j) +
                            ": want finite numbers whose squares can be added, got others");
  return result;
}

}  // namespace

void ColumnMoments::merge(const ColumnMoments& other) {
  if (other.rows == 0) return;
  if (rows == 0) {
    *this = other;
    return;
  }
  const double sum = weight + other.weight;
  const Means difference = other.mean - mean;
  const Vector apart = std::sqrt(weight * (other.weight / sum)) * difference.cast<double>();
  const Index p = product.size();
  square += other.square + apart.cwiseAbs2();
  product += other.product + apart[p] * apart.head(p);
  mean += difference * (static_cast<long double>(other.weight) / sum);
  weight = sum;
  rows += other.rows;
}

void ColumnSet::merge(const ColumnSet& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  if (other.features() != features())
    throw InvalidArgument(
        fmt::format("data: want {} features as in the first rows, got {}", features(), other.features()));
  if (other.names != names || other.response_name != response_name)
    throw InvalidArgument("data: want the same columns in the same order, got others");
  moments.merge(other.moments);
  responses.insert(responses.end(), other.responses.begin(), other.responses.end());
  keep_responses(responses);
  sparse = sparse && other.sparse;
  fingerprint.merge(other.fingerprint);
}

void ColumnSum::add(const Dataset& rows, int threads) {
  check_rows(rows);
  if (rows.offset.size() > 0)
    throw InvalidArgument("offset: want none where rows are read in passes with gradients, got one");
  add_chunks(rows, threads, sum_, summed_alone);
}

}  // namespace tyto
