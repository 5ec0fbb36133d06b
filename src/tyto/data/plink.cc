// Genotypes of PLINK 1: x.bed, two bits each, with x.bim, whose lines are its columns, and x.fam, whose lines
// are its rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>

#include "tyto/base/error.h"
#include "tyto/columns/column_file.h"
#include "tyto/data/formats.h"
#include "tyto/data/lines.h"
#include "tyto/data/plink_files.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr std::string_view kMagic("\x6c\x1b\x01", 3);  // the last: variant by variant
constexpr std::uint64_t kLowBits = 0x5555555555555555;

// Missing genotypes, and copies of the first allele in the others.
struct Counts {
  Index missing = 0, copies = 0;

  void add(std::uint64_t word, std::uint64_t rows) {  // rows: the low bits of the pairs that are rows
    const std::uint64_t low = word & rows, high = (word >> 1) & rows;
    missing += std::popcount(low & ~high);
    copies += 2 * std::popcount(rows & ~low & ~high) + std::popcount(high & ~low);
  }
};

Counts count(const char* column, Index rows) {
  constexpr Index kPairs = 32;  // in a word
  Counts counts;
  for (Index i = 0; i < rows; i += kPairs) {
    const Index length = std::min(kPairs, rows - i);
    std::uint64_t word = 0;
    std::memcpy(&word, column + i / 4, static_cast<std::size_t>(column_bytes(StoredType::kGenotype, length)));
    counts.add(word, length == kPairs ? kLowBits : kLowBits & ((std::uint64_t{1} << (2 * length)) - 1));
  }
  return counts;
}

std::string beside(const std::string& bed, std::string_view extension) {
  if (!lower_case(bed).ends_with(".bed"))
    fail(bed, 0, "expected a name that ends with .bed, beside .bim and .fam of the same name");
  return bed.substr(0, bed.size() - 3) + std::string(extension);
}

// The magic number, the order of the genotypes, and the size.
void check_file(const Source& source, Index rows, Index cols) {
  const std::string& name = source.name();
  const std::string start = source.beginning(kMagic.size());
  if (!source.is_plain()) fail(name, 0, "expected a file that is not compressed, got another");
  if (start == std::string_view("\x6c\x1b\0", 3))
    fail(name, 0, "expected genotypes variant by variant, got them sample by sample: plink --make-bed");
  if (start != kMagic)
    fail(name, 0, "expected a .bed of PLINK, which begins with the bytes 6c 1b 01, got others");
  const Index stride = column_bytes(StoredType::kGenotype, rows);
  Index bytes = 0;
  const bool overflow = __builtin_mul_overflow(stride, cols, &bytes);
  const std::size_t size = source.size() - kMagic.size();
  if (overflow || static_cast<std::size_t>(bytes) != size)
    fail(name, 0,
         fmt::format("expected {} bytes of genotypes for {} in .fam and {} in .bim, got {}",
                     overflow ? "very many" : std::to_string(bytes), count_of(rows, "sample"),
                     count_of(cols, "variant"), size));
}

// What missing genotypes become: NaN where they are kept, or what the caller says, or else the mean of the
// column over all samples that have one. Reads the file once.
void find_means(const Source& source, const ReadOptions& options, Dataset& data) {
  const Index rows = std::ssize(data.samples), stride = column_bytes(StoredType::kGenotype, rows);
  std::unordered_map<Index, double> given;
  for (const Filling& one : options.fill) given.emplace(one.column, one.value);
  Stream stream = source.open();
  std::vector<char> column(static_cast<std::size_t>(stride));
  Index empty = 0;
  if (!stream.read(column.data(), kMagic.size())) fail(source.name(), 0, kFileChanged);
  for (Index j = 0; j < std::ssize(data.names); ++j) {
    if (!stream.read(column.data(), column.size())) fail(source.name(), 0, kFileChanged);
    const Counts counts = count(column.data(), rows);
    const Index there = rows - counts.missing;
    empty += there == 0;
    data.filled += counts.missing;
    double mean = there == 0 ? 0 : static_cast<double>(counts.copies) / static_cast<double>(there);
    if (!options.fill.empty()) mean = given.contains(j) ? given[j] : 0;
    if (options.missing == Missing::kKeep) mean = std::numeric_limits<double>::quiet_NaN();
    data.means.push_back(mean);
  }
  if (empty > 0)
    data.warnings.push_back(fmt::format("{}: {} without any genotype, which count as 0", source.name(),
                                        count_of(empty, "variant")));
}

// Some columns in memory, and what missing genotypes are there.
struct SomeColumns {
  std::vector<std::byte> bytes;
  std::vector<double> filling;
};

// 2 - x: the pairs 00 and 11 change places.
void swap_alleles(std::span<std::byte> column) {
  for (std::byte& four : column) {
    const auto bits = std::to_integer<unsigned>(four);
    const unsigned alike = ~(bits ^ (bits >> 1)) & 0x55U;
    four = static_cast<std::byte>(bits ^ (alike * 3));
  }
}

// For a model, only the columns that it uses, with the alleles that it counts.
void read_used(const Source& source, const ReadOptions& options, Dataset& data) {
  data.names = options.used;
  std::ranges::sort(data.names);
  data.names.erase(std::ranges::unique(data.names).begin(), data.names.end());
  const FoundVariants found = find_variants(beside(source.name(), "bim"), data.names);
  const Index rows = std::ssize(data.samples), cols = std::ssize(data.names);
  check_file(source, rows, found.all);
  std::unordered_map<std::string_view, double> given;
  for (const Filling& one : options.fill) given.emplace(one.name, one.value);
  const auto stride = static_cast<std::size_t>(column_bytes(StoredType::kGenotype, rows));
  auto owner = std::make_shared<SomeColumns>();
  owner->bytes.resize(stride * data.names.size());
  std::ifstream file(source.name(), std::ios::binary);
  for (std::size_t k = 0; k < data.names.size(); ++k) {
    const std::span<std::byte> column(owner->bytes.data() + k * stride, stride);
    const auto place = kMagic.size() + static_cast<std::size_t>(found.places[k].column) * stride;
    file.seekg(static_cast<std::streamoff>(place));
    if (!file.read(reinterpret_cast<char*>(column.data()), static_cast<std::streamsize>(stride)))
      fail(source.name(), 0, kFileChanged);
    if (found.places[k].swapped) swap_alleles(column);
    const Index missing = count(reinterpret_cast<const char*>(column.data()), rows).missing;
    data.filled += missing;
    const auto mean = given.find(data.names[k]);
    if (missing > 0 && mean == given.end())
      fail(source.name(), 0,
           fmt::format("{} of the variant {}, and the model does not say what they become",
                       count_of(missing, "missing genotype"), in_quotes(data.names[k])));
    owner->filling.push_back(mean == given.end() ? 0 : mean->second);
  }
  data.means = owner->filling;
  data.design = Design(stored_columns(
      {StoredType::kGenotype, owner->bytes.data(), rows, cols, static_cast<Index>(stride), owner->filling},
      owner));
}

void read_all(const Source& source, const ReadOptions& options, Dataset& data) {
  data.names = read_bim(beside(source.name(), "bim"));
  const Index rows = std::ssize(data.samples), cols = std::ssize(data.names);
  check_file(source, rows, cols);
  find_means(source, options, data);
  data.design = Design(open_columns({source.name(), StoredType::kGenotype, rows, cols, kMagic.size(),
                                     column_bytes(StoredType::kGenotype, rows), data.means},
                                    options.memory));
  if (options.missing == Missing::kKeep) {  // nothing was filled
    data.means.clear();
    data.filled = 0;
  }
}

// The phenotype of the .fam file, unless it comes from elsewhere. New data may be without.
void take_phenotype(const std::string& file, PlinkSamples& fam, const ReadOptions& options, Dataset& data) {
  constexpr std::string_view kName = "phenotype";
  if (options.response) return;
  if (options.target && !options.target_from_model)
    throw InvalidArgument("target: want --response FILE, of which it is a column, got " +
                          in_quotes(*options.target) + " alone");
  const bool usable = fam.not_number.empty() && !fam.phenotype.hasNaN();
  if (options.target_optional && (!usable || (options.target && *options.target != kName))) return;
  if (!fam.not_number.empty()) throw DataError(fam.not_number + "; --response FILE gives another phenotype");
  if (fam.phenotype.array().isNaN().all())
    fail(file, 0, "expected phenotypes in column 6, got none but missing ones (-9); give --response FILE");
  data.response = std::move(fam.phenotype);
  data.response_name = kName;
}

}  // namespace

bool looks_like_plink(std::string_view beginning) { return beginning.starts_with(kMagic); }

Dataset read_plink(const Sources& sources, const ReadOptions& options) {
  refuse_drop(options, "bed");
  if (sources.size() > 1)
    fail(sources[1].name(), 0, "expected one .bed file, got several; plink --merge-list makes one of them");
  const std::string fam_file = beside(sources[0].name(), "fam");
  PlinkSamples fam = read_fam(fam_file);
  Dataset data;
  take_phenotype(fam_file, fam, options, data);
  data.samples = std::move(fam.samples);
  options.used.empty() ? read_all(sources[0], options, data) : read_used(sources[0], options, data);
  return data;
}

}  // namespace tyto
