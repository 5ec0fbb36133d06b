#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/data/formats.h"

namespace tyto {

// How a delimited file is laid out, and what becomes of each of its fields.
struct CsvLayout {
  struct Words {  // a column that becomes several
    Index field;
    OneHot what;
  };

  static constexpr Index kSkipped = -1, kResponse = -2;

  char delimiter = ',';
  bool has_header = false;
  bool has_row_names = false;       // a first column without a name; columns are counted after it
  std::vector<std::string> header;  // of the columns, where there is one
  std::vector<Index> role;  // by field, row names included: the feature's number, kSkipped or kResponse
  Index features = 0;
  bool decimal_comma = false;
  std::vector<Words> one_hot;         // their roles are those of their first features
  bool response_by_name = false;      // nobody said which column it is: its name did
  std::vector<std::string> warnings;  // about guesses that may be wrong
  // The fields of the weights of the rows, of the offset and of events, whose roles are those of last
  // features.
  Index weights = kSkipped, offset = kSkipped, event = kSkipped;

  Index fields() const { return std::ssize(role); }
  Index columns() const { return fields() - has_row_names; }
  std::string describe(Index field) const;  // "column 'age'", or "column 3" without a header
  std::string name(Index field) const;  // as options take it: its name, or its number where that is no name
  const OneHot* words_of(Index field) const;  // null where it is a column of numbers
};

// From the beginning of the file alone: one_hot may lack its words.
CsvLayout csv_layout(const Source& source, const ReadOptions& options);
// Numbers the features once all words are known.
void make_room_for_words(CsvLayout& layout);

// Throws DataError unless the file begins as `first` does, whose layout it has to share. `asked`: what the
// caller says of headers.
void check_same_layout(const CsvLayout& layout, const Source& first, const Source& source, Header asked);

}  // namespace tyto
