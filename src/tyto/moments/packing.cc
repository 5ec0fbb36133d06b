#include "tyto/moments/packing.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "tyto/moments/bytes.h"

namespace tyto {

using bytes::Reader;
using bytes::Writer;

namespace {

constexpr std::string_view kMoments = "tytoMOM1";
constexpr std::string_view kQuery = "tytoQRY1";
constexpr std::string_view kSums = "tytoSUM1";
void check(const Reader& reader, const MomentSet& set) {
  if (set.empty()) return;  // of a partition without rows
  const Index columns = set.folds.front().columns();
  if (columns < 2) reader.fail("expected moments of at least one feature and a response, got none");
  if (!set.names.empty() && std::ssize(set.names) != columns - 1)
    reader.fail(fmt::format("expected {} names, got {}", columns - 1, set.names.size()));
  for (const CoMoments& fold : set.folds) {
    if (fold.columns() != columns || fold.comoment.cols() != columns)
      reader.fail("expected folds of the same columns, got others");
    if (!(fold.weight >= 0 && std::isfinite(fold.weight)) || (fold.rows > 0) != (fold.weight > 0))
      reader.fail(fmt::format("expected a finite weight >= 0, got {}", fold.weight));
    if (!fold.comoment.allFinite() || !fold.mean.cast<double>().allFinite() ||
        !(fold.comoment.diagonal().array() >= 0).all())
      reader.fail("expected finite moments, got others");
  }
}

}  // namespace

std::string pack(const MomentSet& set) {
  Writer out(kMoments);
  out.put(std::uint64_t{set.folds.size()});
  for (const CoMoments& fold : set.folds) {
    out.put(fold.rows);
    out.put(fold.weight);
    out.put(fold.mean);
    out.put_symmetric(fold.comoment);
  }
  out.put(std::uint64_t{set.names.size()});
  for (const std::string& name : set.names) out.put(name);
  out.put(set.response_name);
  out.put(set.fingerprint);
  return std::move(out).finish();
}

MomentSet unpack_moments(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kMoments, name);
  MomentSet set;
  const Index folds = in.count();
  for (Index f = 0; f < folds; ++f) {
    CoMoments& fold = set.folds.emplace_back();
    fold.rows = in.size();
    fold.weight = in.number();
    fold.mean = in.means();
    fold.comoment = in.symmetric();
  }
  const Index names = in.count();
  for (Index k = 0; k < names; ++k) set.names.push_back(in.text());
  set.response_name = in.text();
  set.fingerprint = in.fingerprint();
  in.end();
  check(in, set);
  return set;
}

std::string pack(const EvidenceQuery& query) {
  Writer out(kQuery);
  out.put(query.centre);
  out.put(query.free);
  out.put(query.used);
  out.put(query.betas);
  out.put(query.constants);
  return std::move(out).finish();
}

EvidenceQuery unpack_query(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kQuery, name);
  EvidenceQuery query;
  query.centre = in.vector();
  query.free = in.numbers();
  query.used = in.numbers();
  query.betas = in.matrix();
  query.constants = in.vector();
  in.end();
  const Index p = query.centre.size() - 1;
  const auto inside = [&](const IndexSet& columns) { return columns.empty() || columns.back() < p; };
  if (!inside(query.free) || !inside(query.used) || query.betas.rows() != std::ssize(query.used) ||
      query.betas.cols() != query.constants.size())
    in.fail("expected sizes that agree, got others");
  return query;
}

std::string pack(const EvidenceSums& sums) {
  Writer out(kSums);
  out.put(sums.fingerprint);
  out.put(sums.weight);
  for (const Matrix* m : {&sums.zx, &sums.zr, &sums.xr}) out.put(*m);
  out.put(sums.xx);
  out.put(sums.rr);
  out.put(sums.yy);
  return std::move(out).finish();
}

EvidenceSums unpack_sums(std::string_view bytes, const std::string& name) {
  Reader in(bytes, kSums, name);
  EvidenceSums sums;
  sums.fingerprint = in.fingerprint();
  sums.weight = in.number();
  for (Matrix* m : {&sums.zx, &sums.zr, &sums.xr}) *m = in.matrix();
  sums.xx = in.vector();
  sums.rr = in.vector();
  sums.yy = in.number();
  in.end();
  return sums;
}

bool is_packed_moments(std::string_view beginning) { return beginning.starts_with(kMoments); }

}  // namespace tyto
