#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/data/formats.h"

namespace tyto {

// How a delimited file is laid out, and what becomes of each of its fields.
struct CsvLayout {
  static constexpr Index kSkipped = -1, kResponse = -2;

  char delimiter = ',';
  bool has_header = false;
  bool has_row_names = false;       // a first column without a name; columns are counted after it
  std::vector<std::string> header;  // of the columns, where there is one
  std::vector<Index> role;  // by field, row names included: the feature's number, kSkipped or kResponse
  Index features = 0;
  bool response_by_name = false;      // nobody said which column it is: its name did
  std::vector<std::string> warnings;  // about guesses that may be wrong
  Index weights = kSkipped;  // the field of the weights of the rows, whose role is that of a last feature

  Index fields() const { return std::ssize(role); }
  Index columns() const { return fields() - has_row_names; }
  std::string describe(Index field) const;  // "column 'age'", or "column 3" without a header
};

// From the beginning of the file alone.
CsvLayout csv_layout(const Source& source, const ReadOptions& options);

// Throws DataError unless the file begins as `first` does, whose layout it has to share. `asked`: what the
// caller says of headers.
void check_same_layout(const CsvLayout& layout, const Source& first, const Source& source, Header asked);

}  // namespace tyto
