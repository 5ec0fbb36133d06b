#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tyto/base/types.h"
#include "tyto/columns/columns.h"

namespace tyto {

// How the numbers of a dense column are stored. Products and sums are made in double, whatever it is.
//
// Genotypes are those of PLINK's .bed: two bits each, those of the first row lowest in the first byte. 00: 2
// copies of the first allele, 10: 1, 11: 0, 01: missing, which counts as the column's filling. What pads the
// last byte is no row.
enum class StoredType : std::uint8_t { kDouble, kFloat, kInt8, kUint8, kInt16, kGenotype };

struct StoredTypeRow {
  StoredType type;
  std::string_view name;
  Index bits;  // of a number
};
inline constexpr std::array<StoredTypeRow, 6> kStoredTypes{{{StoredType::kDouble, "double", 64},
                                                            {StoredType::kFloat, "float", 32},
                                                            {StoredType::kInt8, "int8", 8},
                                                            {StoredType::kUint8, "uint8", 8},
                                                            {StoredType::kInt16, "int16", 16},
                                                            {StoredType::kGenotype, "genotype", 2}}};
constexpr const StoredTypeRow& row_of(StoredType type) {
  return kStoredTypes[static_cast<std::size_t>(type)];
}
// For people.
constexpr std::string_view storage_in_words(StoredType type) {
  constexpr std::array<std::string_view, 6> kWords{"dense float64", "dense float32", "dense int8",
                                                   "dense uint8",   "dense int16",   "2-bit genotypes"};
  return kWords[static_cast<std::size_t>(type)];
}
constexpr Index column_bytes(StoredType type, Index rows) { return (rows * row_of(type).bits + 7) / 8; }

// The type that holds numbers of a C++ type as they are.
template <class Scalar>
inline constexpr StoredType kStoredAs = StoredType::kDouble;
template <>
inline constexpr StoredType kStoredAs<float> = StoredType::kFloat;
template <>
inline constexpr StoredType kStoredAs<std::int8_t> = StoredType::kInt8;
template <>
inline constexpr StoredType kStoredAs<std::uint8_t> = StoredType::kUint8;
template <>
inline constexpr StoredType kStoredAs<std::int16_t> = StoredType::kInt16;

// Columns in memory that belongs to somebody else. Each begins where a number of its type may stand.
struct StoredView {
  StoredType type;
  const std::byte* data;
  Index rows, cols;
  Index stride;                          // bytes from one column to the next
  std::span<const double> filling = {};  // genotypes: what a missing one counts as, column by column
};

// `owner` is kept as long as the columns live, and so must be the fillings; it may be null.
std::shared_ptr<const Columns> stored_columns(const StoredView& view, std::shared_ptr<const void> owner);

}  // namespace tyto
