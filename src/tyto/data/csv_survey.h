#pragma once

#include "tyto/data/csv_layout.h"
#include "tyto/data/formats.h"

namespace tyto {

// The words of the columns that are to become 0 and 1, where the layout lacks them. Throws DataError for a
// column of too many.
void find_words(const Sources& sources, CsvLayout& layout);

// Some column has a cell that is no number. Throws DataError that names all such columns, says what they seem
// to hold, and which options would help.
[[noreturn]] void refuse_text(const Sources& sources, const CsvLayout& layout);

// Columns that are called like row numbers and are row numbers: a warning each.
void warn_of_row_numbers(const CsvLayout& layout, const Dataset& data, std::vector<std::string>& warnings);

}  // namespace tyto
