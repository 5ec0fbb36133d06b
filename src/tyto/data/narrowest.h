#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "tyto/columns/stored_type.h"

namespace tyto {

// Which types hold the numbers that were seen exactly. NaN stands for what is missing.
class Narrowest {
 public:
  void see(std::span<const double> values);
  void merge(const Narrowest& other);
  StoredType type() const;
  bool has_missing() const { return missing_; }

 private:
  bool genotypes_ = true, whole_ = true, floats_ = true, missing_ = false;
  double least_ = 0, most_ = 0;
};

// Writes numbers as rows first .. of a column that is stored so, into memory that is 0 before; what is
// missing as `filling`, but for genotypes, which have a sign for it.
void store(StoredType type, std::span<const double> values, double filling, Index first, std::byte* column);

}  // namespace tyto
