#pragma once

#include <string>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto {

// The response out of a file of its own: one column of text, .npy or .mtx, or a column of a table.
struct ResponseFile {
  std::string file, name;            // of the file; of the column, or empty
  Vector values;                     // NaN where missing
  std::vector<std::string> labels;   // where it is text: its words, which count as 0, 1, ...
  std::vector<Sample> samples = {};  // whose they are; empty where the file does not say
  std::vector<Index> lines = {};     // where they stand in the file
  bool has_families = false;
};

// `options`: response, target (the column), text_labels. With `samples`, a table says whose each row is: by
// columns IID, and FID where it has one, or in its first two columns, family and person, where it has no
// header. -9 is missing there. Throws DataError or InvalidArgument.
ResponseFile read_response_file(const ReadOptions& options, bool samples);

// Makes it the response of `data`, whose rows it has, those that were dropped included; or by samples, in any
// order.
void attach_response(const ResponseFile& file, const ReadOptions& options, Dataset& data);

// Rows without a response are refused, or left out, as options.missing says.
void settle_response(const ReadOptions& options, const std::string& file, Dataset& data);

// What PLINK takes for a missing phenotype becomes NaN: -9; and 0 where all others are 1, 2 or missing, and
// there is a 2.
void mark_missing_phenotypes(Vector& values);

}  // namespace tyto
