#include <cmath>

#include "tyto/moments/bytes.h"
#include "tyto/moments/packing.h"

namespace tyto {

using bytes::Reader;
using bytes::Writer;

namespace {

constexpr std::string_view kColumns = "tytoCOL1";
constexpr std::string_view kQuery = "tytoGRQ1";
constexpr std::string_view kSums = "tytoGRS1";

Vector as_vector(const std::vector<double>& numbers) {
  return Vector::Map(numbers.data(), std::ssize(numbers));
}

std::vector<double> as_numbers(const Vector& v) { return {v.begin(), v.end()}; }

bool inside(const IndexSet& columns, Index p) { return columns.empty() || columns.back() < p; }

}  // namespace

std::string pack(const ColumnSet& set) {
  Writer out(kColumns);
  out.put(set.moments.rows);
  out.put(set.moments.weight);
  out.put(set.moments.mean);
  out.put(set.moments.square);
  out.put(set.moments.product);
  out.put(as_vector(set.responses));
  out.put(Index{set.sparse});
  out.put(set.names);
  out.put(set.response_name);
  out.put(set.fingerprint);
  return std::move(out).finish();
}

ColumnSet unpack_columns(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kColumns, name);
  ColumnSet set;
  set.moments.rows = in.size();
  set.moments.weight = in.number();
  set.moments.mean = in.means();
  set.moments.square = in.vector();
  set.moments.product = in.vector();
  set.responses = as_numbers(in.vector());
  set.sparse = in.size() != 0;
  set.names = in.texts();
  set.response_name = in.text();
  set.fingerprint = in.fingerprint();
  in.end();
  if (set.empty()) return set;
  const Index p = set.features();
  if (set.moments.mean.size() != p + 1 || set.moments.square.size() != p + 1 ||
      (!set.names.empty() && std::ssize(set.names) != p))
    in.fail("expected sizes that agree, got others");
  return set;
}

std::string pack(const GradientQuery& query) {
  Writer out(kQuery);
  out.put(query.loss);
  out.put(as_vector(query.classes));
  out.put(query.centre);
  out.put(query.features);
  out.put(query.used);
  out.put(query.betas);
  out.put(query.constants);
  out.put(query.working);
  out.put(query.curved);
  return std::move(out).finish();
}

GradientQuery unpack_gradient_query(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kQuery, name);
  GradientQuery query;
  query.loss = in.text();
  query.classes = as_numbers(in.vector());
  query.centre = in.vector();
  query.features = in.size();
  query.used = in.numbers();
  query.betas = in.matrix();
  query.constants = in.vector();
  query.working = in.numbers();
  query.curved = in.numbers();
  in.end();
  if (!inside(query.used, query.features) || !inside(query.working, query.features) ||
      !inside(query.curved, query.models()) || query.betas.rows() != std::ssize(query.used) ||
      query.betas.cols() != query.models())
    in.fail("expected sizes that agree, got others");
  return query;
}

std::string pack(const GradientSums& sums) {
  Writer out(kSums);
  out.put(sums.fingerprint);
  out.put(sums.weight);
  out.put(sums.square);
  out.put(sums.totals);
  out.put(sums.steepest);
  out.put(sums.farthest);
  out.put(sums.residual);
  out.put(sums.curvature);
  out.put(std::ssize(sums.working));
  for (const CoMoments& one : sums.working) {
    out.put(one.rows);
    out.put(one.weight);
    out.put(one.mean);
    out.put_symmetric(one.comoment);
  }
  return std::move(out).finish();
}

GradientSums unpack_gradients(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kSums, name);
  GradientSums sums;
  sums.fingerprint = in.fingerprint();
  sums.weight = in.number();
  sums.square = in.vector();
  sums.totals = in.matrix();
  sums.steepest = in.vector();
  sums.farthest = in.vector();
  sums.residual = in.matrix();
  sums.curvature = in.matrix();
  sums.working.resize(static_cast<std::size_t>(in.count()));
  for (CoMoments& one : sums.working) {
    one.rows = in.size();
    one.weight = in.number();
    one.mean = in.means();
    one.comoment = in.symmetric();
  }
  in.end();
  return sums;
}

}  // namespace tyto
