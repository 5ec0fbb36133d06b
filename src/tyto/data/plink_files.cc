#include "tyto/data/plink_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "tyto/data/csv_records.h"
#include "tyto/data/lines.h"
#include "tyto/data/response.h"
#include "tyto/data/source.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr std::size_t kFields = 6;
using SixFields = std::array<std::string_view, kFields>;

// f(lines, fields) for each line that is not blank.
template <class F>
void for_each_line(const std::string& file, std::string_view wanted, F f) {
  const Source source(file);
  Lines lines(source);
  for (std::string_view line; lines.next(line);) {
    std::string_view rest = trimmed(line);
    if (rest.empty()) continue;
    SixFields fields;
    for (std::string_view& field : fields) field = take_word(rest);
    if (fields.back().empty() || !trimmed(rest).empty())
      lines.fail(fmt::format("expected {}, got {}", wanted, in_quotes(line)));
    f(lines, fields);
  }
}

struct Variant {
  std::string_view chromosome, id, position;
  std::array<std::string_view, 2> alleles;  // .bed counts the first

  std::string place() const {
    const auto [first, second] = std::minmax(alleles[0], alleles[1]);
    return fmt::format("{}:{}:{}:{}", chromosome, position, first, second);
  }
};

template <class F>
void for_each_variant(const std::string& file, F f) {
  for_each_line(file, "chromosome, id, centimorgans, position and two alleles",
                [&](const Lines& lines, const SixFields& fields) {
                  f(lines, Variant{fields[0], fields[1], fields[3], {fields[4], fields[5]}});
                });
}

std::string counted(std::string_view variant, std::string_view allele) {
  return valid_utf8(fmt::format("{}_{}", variant, allele));
}

// The ids that stand more than once.
std::unordered_set<std::string> doubled_ids(const std::string& file) {
  std::vector<std::string> ids;
  for_each_variant(file, [&](const Lines&, const Variant& variant) { ids.emplace_back(variant.id); });
  std::ranges::sort(ids);
  std::unordered_set<std::string> doubled{"."};
  for (std::size_t k = 1; k < ids.size(); ++k)
    if (ids[k] == ids[k - 1]) doubled.insert(ids[k]);
  return doubled;
}

void check_each_once(const std::string& file, const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t j) -> const std::string& { return names[j]; });
  for (std::size_t k = 1; k < order.size(); ++k)
    if (names[order[k]] == names[order[k - 1]])
      fail(
          file, 0,
          fmt::format("expected each variant once, got {} as variants {} and {}; plink2 --rm-dup force-first "
                      "leaves one of them",
                      in_quotes(names[order[k]]), order[k - 1] + 1, order[k] + 1));
}

}  // namespace

PlinkSamples read_fam(const std::string& file) {
  PlinkSamples result;
  std::vector<double> phenotype;
  std::unordered_map<std::string, Index> line_of;
  for_each_line(
      file, "family, person, father, mother, sex and phenotype",
      [&](const Lines& lines, const SixFields& fields) {
        const auto [place, added] =
            line_of.emplace(fmt::format("{} {}", fields[0], fields[1]), lines.number());
        if (!added)
          lines.fail(fmt::format("expected each sample once, got {} as in line {}", in_quotes(place->first),
                                 place->second));
        double value = std::numeric_limits<double>::quiet_NaN();
        const bool there = !is_missing(fields[5]);
        if (there && (!is_number(fields[5], value) || std::isinf(value)) && result.not_number.empty())
          result.not_number = fmt::format("{}:{}: expected a number as phenotype, got {}", printable(file),
                                          lines.number(), in_quotes(fields[5]));
        result.samples.push_back({std::string(fields[0]), std::string(fields[1])});
        phenotype.push_back(value);
      });
  if (phenotype.empty()) fail(file, 0, "expected a line for each sample, got none");
  result.phenotype = Eigen::Map<const Vector>(phenotype.data(), std::ssize(phenotype));
  mark_missing_phenotypes(result.phenotype);
  return result;
}

std::vector<std::string> read_bim(const std::string& file) {
  const std::unordered_set<std::string> doubled = doubled_ids(file);
  std::vector<std::string> names;
  for_each_variant(file, [&](const Lines&, const Variant& variant) {
    const bool by_place = doubled.contains(std::string(variant.id));
    names.push_back(counted(by_place ? variant.place() : std::string(variant.id), variant.alleles[0]));
  });
  if (names.empty()) fail(file, 0, "expected a line for each variant, got none");
  check_each_once(file, names);
  return names;
}

FoundVariants find_variants(const std::string& file, const std::vector<std::string>& names) {
  FoundVariants found;
  found.places.assign(names.size(), {-1, false});
  std::unordered_map<std::string, std::size_t> number;
  std::unordered_map<std::string, std::string>
      alleles_of;  // of a variant that is there with others, in words
  for (std::size_t k = 0; k < names.size(); ++k) {
    number.emplace(names[k], k);
    alleles_of.emplace(names[k].substr(0, names[k].rfind('_')), "");
  }
  for_each_variant(file, [&](const Lines& lines, const Variant& variant) {
    const Index column = found.all++;
    for (const std::string& name : {std::string(variant.id), variant.place()}) {
      if (const auto known = alleles_of.find(name); known != alleles_of.end())
        known->second = fmt::format("{} and {}", variant.alleles[0], variant.alleles[1]);
      for (const bool swapped : {false, true}) {
        const auto wanted = number.find(counted(name, variant.alleles[swapped ? 1 : 0]));
        if (wanted == number.end()) continue;
        FoundVariant& place = found.places[wanted->second];
        if (place.column >= 0)
          lines.fail(fmt::format("expected the variant {} once, got it again", in_quotes(wanted->first)));
        place = {column, swapped};
      }
    }
  });
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (found.places[k].column >= 0) continue;
    const std::string& alleles = alleles_of[names[k].substr(0, names[k].rfind('_'))];
    fail(file, 0,
         fmt::format("expected the variant {}, which the model uses, got {}", in_quotes(names[k]),
                     alleles.empty() ? "none of that name" : "it with the alleles " + printable(alleles)));
  }
  return found;
}

}  // namespace tyto
