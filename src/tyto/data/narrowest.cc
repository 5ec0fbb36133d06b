#include "tyto/data/narrowest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace tyto {
namespace {

template <class Number>
void store_as(std::span<const double> values, double filling, std::byte* to) {
  for (const double value : values) {
    const auto number = static_cast<Number>(std::isnan(value) ? filling : value);
    std::memcpy(to, &number, sizeof number);
    to += sizeof number;
  }
}

// Two bits each: 2, missing, 1, 0 (stored_type.h).
void store_genotypes(std::span<const double> values, Index first, std::byte* column) {
  constexpr std::array<unsigned, 3> kBits{3, 2, 0};
  constexpr unsigned kMissing = 1;
  for (const double value : values) {
    const unsigned bits = std::isnan(value) ? kMissing : kBits[static_cast<std::size_t>(value)];
    column[first / 4] |= static_cast<std::byte>(bits << 2 * (first % 4));
    ++first;
  }
}

}  // namespace

void Narrowest::see(std::span<const double> values) {
  for (const double value : values) {
    if (std::isnan(value)) {
      missing_ = true;
      continue;
    }
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    genotypes_ = genotypes_ && (value == 0 || value == 1 || value == 2);
    whole_ = whole_ && value == std::nearbyint(value);
    floats_ = floats_ && static_cast<double>(static_cast<float>(value)) == value;
  }
}

void Narrowest::merge(const Narrowest& other) {
  genotypes_ = genotypes_ && other.genotypes_;
  whole_ = whole_ && other.whole_;
  floats_ = floats_ && other.floats_;
  missing_ = missing_ || other.missing_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

// Where something is missing and not a genotype, it becomes a mean, which few types hold.
StoredType Narrowest::type() const {
  const auto within = [this]<class Number>(Number) {
    return least_ >= static_cast<double>(std::numeric_limits<Number>::min()) &&
           most_ <= static_cast<double>(std::numeric_limits<Number>::max());
  };
  if (genotypes_) return StoredType::kGenotype;
  if (missing_) return StoredType::kDouble;
  if (whole_ && within(std::int8_t())) return StoredType::kInt8;
  if (whole_ && within(std::uint8_t())) return StoredType::kUint8;
  if (whole_ && within(std::int16_t())) return StoredType::kInt16;
  return floats_ ? StoredType::kFloat : StoredType::kDouble;
}

void store(StoredType type, std::span<const double> values, double filling, Index first, std::byte* column) {
  std::byte* to = column + first * (row_of(type).bits / 8);
  switch (type) {
    case StoredType::kGenotype:
      return store_genotypes(values, first, column);
    case StoredType::kInt8:
      return store_as<std::int8_t>(values, filling, to);
    case StoredType::kUint8:
      return store_as<std::uint8_t>(values, filling, to);
    case StoredType::kInt16:
      return store_as<std::int16_t>(values, filling, to);
    case StoredType::kFloat:
      return store_as<float>(values, filling, to);
    case StoredType::kDouble:
      return store_as<double>(values, filling, to);
  }
}

}  // namespace tyto
