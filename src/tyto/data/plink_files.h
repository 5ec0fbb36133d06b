#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto {

// What a .fam file says: its lines are the rows.
struct PlinkSamples {
  std::vector<Sample> samples;
  Vector phenotype;        // of its sixth column, NaN where missing
  std::string not_number;  // where that column holds something else, for a message; empty where it does not
};
PlinkSamples read_fam(const std::string& file);  // throws DataError

// The names of the variants of a .bim file, whose lines are the columns: id_A, where A is the first allele,
// which .bed counts. A variant whose id is "." or stands twice is called chromosome:position:B:C_A, where B
// and C are its alleles in alphabetical order, so that it has the same name whichever is counted. Throws
// DataError, also where a name stands twice.
std::vector<std::string> read_bim(const std::string& file);

// Where some variants stand in a .bim file.
struct FoundVariant {
  Index column;
  bool swapped;  // the other allele is counted there
};
struct FoundVariants {
  Index all = 0;                     // variants of the file
  std::vector<FoundVariant> places;  // of the names, in their order
};
// Of names as read_bim gives them. Throws DataError where one is not there, stands there twice or has other
// alleles there.
FoundVariants find_variants(const std::string& file, const std::vector<std::string>& names);

}  // namespace tyto
